public import KafkaModel
public import NewsModel

/// How a process stands with the control topic, for people and metrics.
public struct ControlStatus: Sendable, Hashable {
    /// Orders are known: what may be sent is sent.
    public var isKnown: Bool
    /// They were known once since the start.
    public var wasKnown: Bool
    public var link: Link
    public var standing: StandingOrders
    /// Processes with a recent beat, this one included.
    public var processes: Int
    /// Since something last came from the topic.
    public var silence: Duration
    public var counts: Counts
    public var alarms: [Alarm]

    /// A recall by an event is going to stand on the topic: it is reported only then.
    public var keepsRecalls: Bool { link != .missing || alarms.contains(.neverThere) }

    public enum Link: String, Sendable, Hashable, CaseIterable {
        case starting, missing, unreadable, reading, following
    }

    public struct Counts: Sendable, Hashable {
        /// Records without a meaning that stand or stood on the topic.
        public var unreadable: UInt64 = 0
        /// Recalls by events that reach this process only, as there are too many.
        public var unordered: UInt64 = 0
        /// Lines that the audit topic did not take.
        public var unaudited: UInt64 = 0
    }

    /// Something that keeps a promise from being kept.
    public enum Alarm: Sendable, Hashable {
        case unreadable(KafkaFailure)
        /// It has not been there since the start, and nothing is sent without it.
        case neverThere
        /// It was there, and is not any more.
        case gone
        case stale(Duration, stops: Bool)
        /// For so long, an open transaction has hidden records, orders perhaps. `stops`: nothing is sent before it has ended.
        case heldUp(Duration, stops: Bool)
        /// So many orders have no room, and are not obeyed.
        case refused(Int)
        /// So many records on the topic are not understood: one of them may be an order.
        case garbage(Int)
        case notWritten(KafkaFailure)
        case notAudited(KafkaFailure)
        /// The audit topic was there, and is not any more.
        case auditGone
        case elsewhere(ours: HubEnvironment?, theirs: HubEnvironment)
    }
}

extension ControlDesk {
    public func status(at now: Moment) -> ControlStatus {
        ControlStatus(
            isKnown: isKnown, wasKnown: hasSent, link: link, standing: standing, processes: beats.living,
            silence: silence.duration(now), counts: counts, alarms: alarms(now))
    }

    /// A transaction on the control topic that is open for longer is an alarm, because orders may wait behind it.
    private static let normalTransaction = Duration.seconds(5)

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
        if isElsewhere, let environment { alarms.append(.elsewhere(ours: settings.environment, theirs: environment)) }
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
        if unreadable.count > 0 { alarms.append(.garbage(unreadable.count)) }
        if let failure = writes.controlFailure { alarms.append(.notWritten(failure)) }
        switch auditTopic {
        case .refused(let failure)?: alarms.append(.notAudited(failure))
        case .missing? where hadAudit: alarms.append(.auditGone)
        default: if let failure = writes.auditFailure { alarms.append(.notAudited(failure)) }
        }
        return alarms
    }
}

/// A line for the log.
public enum ControlNote: Sendable, Hashable {
    case obstacle(ControlDesk.Obstacle)
    case garbage(ControlRecord.Fault, offset: Int64)
    case garbageFound(UInt64)
    case refused(Int)
    /// So many recalls by events reach one shard alone, as too many stand.
    case unordered(UInt64)
    /// The topic was deleted; an order that stood on it is put back.
    case writtenAgain(ControlScope)
    case beatNotSeen
    case stale(Duration)
    case heardAgain
    case clockStepped(Duration)
    case notWritten(isAudit: Bool, KafkaFailure)
    case writesAgain
}
