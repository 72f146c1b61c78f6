public import KafkaModel
public import NewsModel
public import PublishEngine

/// A fault in a life, with its time.
public struct Fault: Sendable, Hashable {
    /// Time since the start of the life.
    public var at: Duration
    public var lasts: Duration
    public var kind: Kind

    public enum Kind: Sendable, Hashable {
        /// The hub or its network treats `share` percent of the requests this way.
        case hub(HubFailure, share: Int)
        /// No request is accepted for more than a minute.
        case badMinute(isUnreachable: Bool)
        /// Answers and handshakes take this much longer.
        case slowHub(Duration)
        /// All connections to the hub are affected.
        case connections(ConnectionFault)
        /// No packet arrives between the process and the hub.
        case silentNetwork(process: Int)
        /// The hub rejects `share` percent of a lane's events as invalid.
        case poison(lane: LaneID, share: Int)
        /// `kill -9`; `lasts` is the time until the restart.
        case crash(process: Int)
        /// An orderly shutdown followed by a start.
        case drain(process: Int)
        /// A rebalance: all members release their partitions, which are assigned again.
        case rebalance(lane: LaneID)
        /// The broker drops a member, which notices it after `lasts`.
        case expel(process: Int, lane: LaneID)
        /// Nobody reads the process's log, so that writes to it block.
        case blockedLog(process: Int)
        /// SIGSTOP, and SIGCONT after `lasts`.
        case freeze(process: Int)
        /// The process's wall clock is wrong from the start until this ends.
        case wrongClock(process: Int, by: Duration)
        /// The process's wall clock is set wrong until this ends.
        case clockStep(process: Int, by: Duration)
        /// Nothing is appended to the results topic.
        case stalledResults
        /// Commits fail; if `applied`, only their answers do.
        case failingCommits(lane: LaneID, applied: Bool)
        /// Commits of one partition are refused.
        case refusedCommits(TopicPartition)
        case slowLedger(lane: LaneID)
        case pausedLane(lane: LaneID)
        /// An operator releases the lane when this begins and ends, in all processes where a flood has stopped it.
        case releasedLane(lane: LaneID, FloodRelease)
        /// The topic is deleted, and recreated with this number of partitions after `lasts`.
        case recreated(topic: String, partitions: Int)
        /// The partition loses this number of its newest records; their offsets are used again.
        case cutBack(TopicPartition, records: Int)
        /// Topics are widened to this number of partitions, one after the other within `lasts`.
        case grown([String], to: Int)
        /// The partition has no leader, so it can be neither read nor written.
        case unavailable(TopicPartition)
        /// Retention removes `share` percent of the results, the oldest first.
        case retention(share: Int)
        /// Retention removes `share` percent of a source topic's records, the oldest first, read or not.
        case sourceRetention(topic: String, share: Int)
        /// The group's offsets for the results topic expire.
        case forgottenOffsets(lane: LaneID)
        /// The broker refuses writes to the topic.
        case refusedTopic(String)
        /// The broker accepts records only up to this size on the topic.
        case smallRecords(String, bytes: Int)
        /// The control topic can be neither read nor written.
        case controlAway
        /// Every read of the control topic takes this much longer.
        case slowControl(Duration)
        /// The control topic is compacted.
        case compactedControl
        /// An administrator removes the records of the control topic.
        case truncatedControl
        /// An invalid record or an unknown order is written to the control topic.
        case garbledControl
        /// The held topic is compacted as far as its lag allows.
        case compactedHeld
        /// An administrator removes the records of the held topic.
        case truncatedHeld
        /// The held topic is deleted with its records, and recreated when this ends.
        case recreatedHeld
        /// An open transaction on the control topic hides all later records.
        case openTransaction
        /// Tombstones and rewrites on the held topic take this much longer.
        case slowHeld(Duration)
    }

    public var end: Duration { at + lasts }
}

extension Fault.Kind {
    /// Returns the only lane that it affects; `nil` if it affects more.
    func lane(in setting: Setting) -> LaneID? {
        switch self {
        case .poison(let lane, _), .rebalance(let lane), .expel(_, let lane), .failingCommits(let lane, _),
            .slowLedger(let lane), .pausedLane(let lane), .releasedLane(let lane, _), .forgottenOffsets(let lane):
            lane
        case .recreated(let topic, let count):
            count <= setting.partitions[setting.results] ?? 0 ? setting.lane(of: topic) : nil
        case .cutBack(let partition, _): setting.lane(of: partition.topic)
        case .sourceRetention(let topic, _): setting.lane(of: topic)
        case .refusedCommits(let partition), .unavailable(let partition): lane(of: partition, in: setting)
        case .grown(let topics, _): topics.lazy.compactMap { setting.lane(of: $0) }.first
        case .hub, .badMinute, .slowHub, .connections, .silentNetwork, .crash, .drain, .freeze, .wrongClock, .clockStep,
            .stalledResults, .retention, .refusedTopic, .smallRecords, .controlAway, .slowControl, .compactedControl,
            .truncatedControl, .garbledControl, .compactedHeld, .truncatedHeld, .recreatedHeld, .openTransaction,
            .slowHeld, .blockedLog:
            nil
        }
    }

    /// Returns a partition's lane. A results partition belongs to a lane if no other lane is long enough to use it.
    private func lane(of partition: TopicPartition, in setting: Setting) -> LaneID? {
        if let lane = setting.lane(of: partition.topic) { return lane }
        guard partition.topic == setting.results else { return nil }
        let users = setting.lanes.laneIDs.filter { lane in
            setting.lanes[lane].topics.contains { setting.partitions[$0] ?? 0 > Int(partition.partition) }
        }
        return users.count == 1 ? users.first : nil
    }
}

/// A fault of the hub or the network that affects one request.
public enum HubFailure: Sendable, Hashable {
    /// Accepted, but no answer arrives.
    case replyLost
    case resetBefore
    /// Accepted; then the connection is reset.
    case resetAfter
    /// Not accepted; no answer arrives.
    case hang
    /// The hub closes the connection before it reads the request.
    case connectionLost
    case throttled(retryAfter: Int?)
    /// 403 with Retry-After, as in older API versions.
    case quota(retryAfter: Int)
    case busy(retryAfter: Int?)
    /// 500, 502 or 504, although half of the requests were accepted.
    case serverError(Int)
    /// Tokens minted before the fault began are refused.
    case tokenExpired
    case keyRefused
    case rightMissing
    case hubMissing
    case unreachable
    case certificate
    /// HTTP/2: the hub refuses the stream without processing it.
    case refusedStream
    /// HTTP/2: 421. The hub does not process the request on this connection.
    case misdirected

    /// True if no request succeeds for a reason unrelated to its event. The stream must stop without losing an event.
    var concernsEveryone: Bool {
        switch self {
        case .keyRefused, .rightMissing, .hubMissing, .unreachable, .certificate: true
        default: false
        }
    }
}

/// A fault that the hub causes on its connections.
public enum ConnectionFault: Sendable, Hashable {
    case reset
    /// GOAWAY: the hub answers what it has read, and reads no more. `isCalm` if it asks for fewer requests.
    case goAway(isCalm: Bool)
    /// The limit of streams changes while this lasts.
    case fewStreams(Int)
    /// Flow control has no room while this lasts.
    case closedWindows
    /// The hub chooses HTTP/2 for new connections, and then does not speak it.
    case brokenHTTP2
    /// The hub chooses HTTP/1.1 for new connections.
    case onlyHTTP1
}

extension Fault: CustomStringConvertible {
    public var description: String { "at \(at.short) for \(lasts.short): \(kind)" }
}

extension Duration {
    /// The duration in seconds, to the millisecond.
    var short: String {
        let milliseconds = nanoseconds / 1_000_000
        let rest = String(abs(milliseconds % 1000))
        return "\(milliseconds / 1000).\(String(repeating: "0", count: max(0, 3 - rest.count)))\(rest) s"
    }
}
