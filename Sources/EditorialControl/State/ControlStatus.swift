public import KafkaModel
public import NewsModel

/// A process's view of the control topic, for people and metrics.
public struct ControlStatus: Sendable, Hashable {
    /// True if the orders in force are known and the process may send.
    public var isKnown: Bool
    /// True if the orders were known at some time since the start.
    public var wasKnown: Bool
    public var link: Link
    public var standing: StandingOrders
    /// Processes with a recent beat, this one included.
    public var processes: Int
    /// Time since anything arrived from the topic.
    public var silence: Duration
    public var counts: Counts
    public var alarms: [Alarm]

    /// True if recalls by events are written to the topic. Such a recall is reported only after that.
    public var keepsRecalls: Bool { link != .missing || alarms.contains(.neverThere) }

    public enum Link: String, Sendable, Hashable, CaseIterable {
        case starting, missing, unreadable, reading, following
    }

    public struct Counts: Sendable, Hashable {
        /// Invalid records on the topic, at present or earlier.
        public var unreadable: UInt64 = 0
        /// Recalls by events that were too many for the topic and reach only this process.
        public var unordered: UInt64 = 0
        /// Lines that could not be written to the audit topic.
        public var unaudited: UInt64 = 0
    }

    /// A condition that breaks a promise.
    public enum Alarm: Sendable, Hashable {
        case unreadable(KafkaFailure)
        /// The topic has been missing since the start, and nothing is sent without it.
        case neverThere
        /// The topic existed and is now missing.
        case gone
        case stale(Duration, stops: Bool)
        /// An open transaction has hidden records, possibly orders, for this long. `stops`: nothing is sent before it ends.
        case heldUp(Duration, stops: Bool)
        /// This many orders have no room and are not obeyed.
        case refused(Int)
        /// This many recalls by events had no room since the start, the last of them recently. Other processes do not obey them.
        case unordered(UInt64)
        /// This many records on the topic are invalid. One of them may be an order.
        case garbage(Int)
        /// The keys of orders of a kind that this version does not know. One may be a stop, so nothing is sent.
        case unknownOrders([String])
        /// The topic has lost records, perhaps orders that running processes obey. Nothing is sent until they have had time to write
        /// them again.
        case ordersMissing
        case notWritten(KafkaFailure)
        case notAudited(KafkaFailure)
        /// The audit topic existed and is now missing.
        case auditGone
        case elsewhere(ours: HubEnvironment?, theirs: HubEnvironment)
    }
}

extension ControlState {
    public func status(at now: Moment) -> ControlStatus {
        ControlStatus(
            isKnown: isKnown, wasKnown: hasSent, link: link, standing: standing, processes: beats.living,
            silence: silence.duration(now), counts: counts, alarms: alarms(now))
    }

    /// A longer open transaction on the control topic raises an alarm, because orders may wait behind it.
    private static let normalTransaction = Duration.seconds(5)

    /// Period during which a recall by an event without room is an alarm. A person must see it, but the recalls of an archive may
    /// leave no room for a week.
    private static let showsUnordered = Duration.seconds(600)

    private var link: ControlStatus.Link {
        switch phase {
        case .waiting(nil): .starting
        case .waiting(.missing): .missing
        case .waiting(.unreadable): .unreadable
        case .reading: .reading
        case .following: .following
        }
    }

    private func alarms(_ now: Moment) -> [ControlStatus.Alarm] {
        var alarms: [ControlStatus.Alarm] = []
        if let contradiction { alarms.append(.elsewhere(ours: settings.environment, theirs: contradiction)) }
        switch phase {
        case .waiting(.unreadable(let failure)) where !hasKnown || silence.isStale: alarms.append(.unreadable(failure))
        case .waiting(.missing) where hasRead: alarms.append(.gone)
        case .waiting(.missing) where !hasKnown: alarms.append(.neverThere)
        default: break
        }
        if let heldUpSince {
            let duration = max(.zero, now.steady - heldUpSince)
            if !isKnown || duration >= Self.normalTransaction { alarms.append(.heldUp(duration, stops: !isKnown)) }
        }
        if silence.isStale { alarms.append(.stale(silence.duration(now), stops: settings.onStale == .stop)) }
        if waiting.count > 0 { alarms.append(.refused(waiting.count)) }
        if let unorderedAt, !isMissing, now.steady - unorderedAt <= Self.showsUnordered {
            alarms.append(.unordered(counts.unordered))
        }
        if unreadable.count > 0 { alarms.append(.garbage(unreadable.count)) }
        if unreadable.hasUnknownOrders { alarms.append(.unknownOrders(unreadable.unknownOrders)) }
        if !hasKnown, hasRead, isHeard, mayLackOrders(now) { alarms.append(.ordersMissing) }
        if let failure = writes.controlFailure { alarms.append(.notWritten(failure)) }
        switch auditTopic {
        case .refused(let failure)?: alarms.append(.notAudited(failure))
        case .missing? where hadAudit || hasControl: alarms.append(.auditGone)
        default: if let failure = writes.auditFailure { alarms.append(.notAudited(failure)) }
        }
        return alarms
    }
}

extension ControlState {
    /// True while the control topic can be read. Orders can be given then, but not without the audit topic.
    private var hasControl: Bool { if case .following = phase { true } else { false } }
}

/// A line for the log.
public enum ControlNote: Sendable, Hashable {
    case obstacle(ControlState.Obstacle)
    case garbage(ControlRecord.Fault, offset: Int64)
    case garbageFound(UInt64)
    case refused(Int)
    /// This many recalls by events reach a single shard, because too many orders are in force.
    case unordered(UInt64)
    /// An order lost with the deleted topic, or replaced there by an invalid record or an earlier order's tombstone, is written
    /// again.
    case writtenAgain(ControlScope)
    case beatNotSeen
    /// Other processes have not written the missing orders again in time, or have ended. News is sent without them.
    case ordersMissing
    case stale(Duration)
    case heardAgain
    case clockStepped(Duration)
    case notWritten(isAudit: Bool, KafkaFailure)
    case writesAgain
}
