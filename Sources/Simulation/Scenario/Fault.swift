public import NewsModel
public import PublishEngine

/// Something that goes wrong in a life, and when.
public struct Fault: Sendable, Hashable {
    /// Since the life's beginning.
    public var at: Duration
    public var lasts: Duration
    public var kind: Kind

    public init(at: Duration, lasts: Duration, kind: Kind) {
        self.at = at
        self.lasts = lasts
        self.kind = kind
    }

    public enum Kind: Sendable, Hashable {
        /// The hub, or the way there, treats `share` percent of the requests so.
        case hub(HubTrouble, share: Int)
        /// No request is accepted for more than a minute.
        case badMinute(isUnreachable: Bool)
        /// Answers take that much longer.
        case slowHub(Duration)
        /// The hub refuses `share` percent of a lane's events for their own fault.
        case poison(lane: Int, share: Int)
        /// `kill -9`; `lasts` is how long the process is away.
        case crash(process: Int)
        /// An orderly shutdown, then a start.
        case drain(process: Int)
        /// A member joins or leaves: everyone gives everything up and shares anew.
        case rebalance(lane: Int)
        /// The broker drops a member, which notices after `lasts`.
        case expel(process: Int, lane: Int)
        /// SIGSTOP, then SIGCONT.
        case freeze(process: Int)
        /// The process's clock on the wall is wrong from its start, and set right when this ends.
        case wrongClock(process: Int, by: Duration)
        /// The process's clock on the wall is set wrong, and right again when this ends.
        case clockStep(process: Int, by: Duration)
        /// Nothing is appended to the results topic.
        case stalledResults
        /// Commits fail; when `applied`, only their answers do.
        case failingCommits(lane: Int, applied: Bool)
        /// Commits for one partition are refused.
        case refusedCommits(TopicPartition)
        case slowLedger(lane: Int)
        case pausedLane(lane: Int)
        /// At its beginning and at its end an operator releases the lane, wherever a flood has stopped it.
        case releasedLane(lane: Int, FloodRelease)
        /// The topic is deleted; after `lasts` it is made again with so many partitions.
        case recreated(topic: String, partitions: Int)
        /// The partition loses so many of its newest records; others come to stand there.
        case cutBack(TopicPartition, records: Int)
        /// Topics are widened to so many partitions, one after the other within `lasts`.
        case grown([String], to: Int)
        /// The partition has no leader: it gives nothing and takes nothing.
        case unavailable(TopicPartition)
        /// The oldest results go, `share` percent of them.
        case retention(share: Int)
        /// The groups' offsets for the results topic expire.
        case forgottenOffsets(lane: Int)
        /// The broker refuses what is written to the topic.
        case refusedTopic(String)
        /// The broker takes only records up to so many bytes on the topic.
        case smallRecords(String, bytes: Int)
        /// The control topic gives nothing and takes nothing.
        case controlAway
        /// Every reading of the control topic takes that much longer.
        case slowControl(Duration)
        /// The control topic is compacted.
        case compactedControl
        /// Something stands on the control topic that is no order, or none that is known.
        case garbledControl
        /// The held topic is compacted, as far as its lag allows.
        case compactedHeld
        /// The held topic is deleted with all that stands there; when this ends, it is there again.
        case recreatedHeld
        /// A transaction that somebody left open on the control topic hides all that comes to stand behind it.
        case openTransaction
        /// What a process erases or writes again on the held topic takes that much longer to come to stand.
        case slowHeld(Duration)
    }

    public var end: Duration { at + lasts }
}

extension Fault.Kind {
    /// The one lane it can hold back; `nil` when it concerns more than one.
    func lane(in setting: Setting) -> Int? {
        switch self {
        case .poison(let lane, _), .rebalance(let lane), .expel(_, let lane), .failingCommits(let lane, _),
            .slowLedger(let lane), .pausedLane(let lane), .releasedLane(let lane, _), .forgottenOffsets(let lane):
            lane
        case .recreated(let topic, let count):
            count <= setting.partitions[setting.results] ?? 0 ? setting.lane(of: topic) : nil
        case .cutBack(let partition, _): setting.lane(of: partition.topic)
        case .refusedCommits(let partition), .unavailable(let partition): lane(of: partition, in: setting)
        case .grown(let topics, _): topics.lazy.compactMap { setting.lane(of: $0) }.first
        case .hub, .badMinute, .slowHub, .crash, .drain, .freeze, .wrongClock, .clockStep, .stalledResults, .retention,
            .refusedTopic, .smallRecords, .controlAway, .slowControl, .compactedControl, .garbledControl,
            .compactedHeld, .recreatedHeld, .openTransaction, .slowHeld:
            nil
        }
    }

    /// A results partition belongs to a lane when no other lane is long enough to use it.
    private func lane(of partition: TopicPartition, in setting: Setting) -> Int? {
        if let lane = setting.lane(of: partition.topic) { return lane }
        guard partition.topic == setting.results else { return nil }
        let users = setting.lanes.indices.filter { lane in
            setting.lanes[lane].topics.contains { setting.partitions[$0] ?? 0 > Int(partition.partition) }
        }
        return users.count == 1 ? users.first : nil
    }
}

/// A misbehaviour of the hub or the network towards one request.
public enum HubTrouble: Sendable, Hashable {
    /// Accepted; no answer ever comes.
    case replyLost
    case resetBefore
    /// Accepted, then the connection is reset.
    case resetAfter
    /// Not accepted; no answer ever comes.
    case hang
    /// An idle connection was closed before a byte was written.
    case connectionLost
    case throttled(retryAfter: Int?)
    /// 403 with Retry-After, as older API versions say it.
    case quota(retryAfter: Int)
    case busy(retryAfter: Int?)
    /// 500, 502 or 504; every second one was accepted all the same.
    case serverError(Int)
    /// Tokens minted before the trouble began are refused.
    case tokenExpired
    case keyRefused
    case rightMissing
    case hubMissing
    case unreachable
    case certificate

    /// No request passes, for a reason that is no event's fault: the stream must stop, and lose nothing.
    var concernsEveryone: Bool {
        switch self {
        case .keyRefused, .rightMissing, .hubMissing, .unreachable, .certificate: true
        default: false
        }
    }
}

extension Fault: CustomStringConvertible {
    public var description: String { "at \(at.short) for \(lasts.short): \(kind)" }
}

extension Duration {
    /// In seconds, to the millisecond.
    var short: String {
        let milliseconds = nanoseconds / 1_000_000
        let rest = String(abs(milliseconds % 1000))
        return "\(milliseconds / 1000).\(String(repeating: "0", count: max(0, 3 - rest.count)))\(rest) s"
    }
}
