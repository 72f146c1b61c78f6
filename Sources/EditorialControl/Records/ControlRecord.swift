public import KafkaModel
public import NewsModel

/// A record of the control topic. Its key names the subject, and its value is the latest state of it.
///
/// The state of the topic depends only on the last record of each key, so that compaction does not change it.
public enum ControlRecord: Sendable, Hashable {
    case stands(Order)
    /// A tombstone: the order of this scope was lifted. Older versions also write it when an order has lapsed.
    case lifted(ControlScope)
    /// A tombstone that names the order that has lapsed, and its end. It ends no other order of the scope, nor the same one with a
    /// later end: a renewal may have been stored just before it. Older versions read it as `lifted`.
    case lapsed(ControlScope, order: String, until: Instant? = nil)
    case beat(Beat)
    /// A tombstone: the process has ended.
    case ended(replica: String)
    /// The environment that a group's hub serves; written once for each group.
    ///
    /// - isFirst: the group is the first one that wrote to the topic. Each further group has a record of its own.
    case environment(HubEnvironment, isFirst: Bool = true)
    /// A tombstone: the next process of the group that starts writes its environment. `nil` stands for the first group.
    case noEnvironment(group: String? = nil)
    /// The content of a held topic; `nil` for the record of an older version, which did not name the topic.
    case heldTotals(HeldTotals, topic: String? = nil)
    /// A command that waits for approval, or that has just been approved. Older versions count it as an invalid record.
    case proposed(Proposal, Proposal.Approval? = nil)
    /// A tombstone: the proposal of this id was carried out, rejected, or has lapsed.
    case proposalEnded(id: String)

    /// A sign of life from a process that follows the control topic.
    public struct Beat: Sendable, Hashable {
        /// Identifies the process, from its start to its end.
        public var replica: String
        /// Time by the process's clock, for people. It is never compared with another clock.
        public var at: Instant
        /// The time of the log (see `LifeSigns`); `nil` on a first beat, which is written before anything was read.
        public var logTime: Duration?
        /// The process obeys all orders up to this offset of the topic; `nil` while this is unknown.
        public var appliedTo: Int64?
        /// The number of orders that the process obeys; `nil` if it does not say so.
        public var orders: Int?
        /// The process's description, for people; `nil` from an older version.
        public var process: ProcessDescription?

        public init(
            replica: String, at: Instant, logTime: Duration? = nil, appliedTo: Int64? = nil, orders: Int? = nil,
            process: ProcessDescription? = nil
        ) {
            self.process = process
            self.replica = replica
            self.at = at
            self.logTime = logTime
            self.appliedTo = appliedTo
            self.orders = orders
        }

        /// Interval at which a process writes beats.
        public static let interval = Duration.seconds(10)
        /// In this time, every running process writes a beat.
        public static let writtenWithin = interval + .seconds(5)
        /// A process counts as living until the time of the log has advanced this far past its last beat.
        public static let countsFor = Duration.seconds(30)

        var json: [UInt8] {
            JSONWriter.object { json in
                json.field("at", at)
                json.field("logTime", milliseconds: logTime)
                json.field("appliedTo", appliedTo)
                json.field("orders", orders)
                process?.write(into: &json)
            }
        }
    }

    /// The version of a process, its number of event loops, and its consumer group and hub.
    public struct ProcessDescription: Sendable, Hashable {
        public var version: String
        public var shards: Int?
        public var group: String?
        public var hub: String?

        public init(version: String, shards: Int?, group: String?, hub: String?) {
            (self.version, self.shards, self.group, self.hub) = (version, shards, group, hub)
        }

        package func write(into json: inout JSONWriter) {
            json.field("version", version)
            json.field("shards", shards)
            json.field("group", group)
            json.field("hub", hub)
        }
    }

    package static let beatPrefix = "beat/"
    package static let environmentKey = "environment/hub"
    static let environmentPrefix = environmentKey + "/"
    static let heldTotalsKey = "held/totals"
    static let heldTotalsPrefix = heldTotalsKey + "/"
    static let proposalPrefix = "proposal/"

    public var key: String {
        switch self {
        case .stands(let order): order.scope.key
        case .lifted(let scope), .lapsed(let scope, _, _): scope.key
        case .beat(let beat): Self.beatPrefix + beat.replica
        case .ended(let replica): Self.beatPrefix + replica
        case .environment(let environment, let isFirst):
            isFirst ? Self.environmentKey : Self.environmentPrefix + (environment.group ?? "")
        case .noEnvironment(let group): group.map { Self.environmentPrefix + $0 } ?? Self.environmentKey
        case .heldTotals(_, let topic): topic.map { Self.heldTotalsPrefix + $0 } ?? Self.heldTotalsKey
        case .proposed(let proposal, _): Self.proposalPrefix + proposal.id
        case .proposalEnded(let id): Self.proposalPrefix + id
        }
    }

    /// JSON; `nil` for a tombstone.
    public var value: [UInt8]? {
        switch self {
        case .stands(let order): order.json
        case .beat(let beat): beat.json
        case .environment(let environment, _): environment.json
        case .heldTotals(let totals, _): totals.json
        case .proposed(let proposal, let approval): proposal.encode(approval)
        case .lifted, .lapsed, .ended, .noEnvironment, .proposalEnded: nil
        }
    }

    /// Names the lapsed order on a tombstone.
    static let lapsedHeader = "nw-lapsed"
    /// The end of the lapsed order.
    static let lapsedUntilHeader = "nw-lapsed-until"

    private var headers: [RecordHeader] {
        guard case .lapsed(_, let order, let until) = self else { return [] }
        let name = RecordHeader(Self.lapsedHeader, order)
        return until.map { [name, RecordHeader(Self.lapsedUntilHeader, $0.description)] } ?? [name]
    }

    /// Makes the record for the control topic. The topic must have one partition. If it was widened, every writer still uses the first
    /// one, because running processes notice another partition late and read it in no common order with the first.
    public func record(on topic: String) -> ProducedRecord {
        ProducedRecord(topic: topic, partition: Self.partition, key: Array(key.utf8), value: value, headers: headers)
    }

    /// The partition for all records of the control topic and all lines of the audit topic.
    public static let partition: Int32 = 0
}

extension Order {
    /// The value of its record.
    var json: [UInt8] {
        JSONWriter.object { json in
            json.field("id", id)
            json.field("do", scope.verb)
            json.field("at", at)
            json.field("by", by)
            json.field("reason", reason)
            json.field("until", until)
            json.field("replacement", replacement)
        }
    }
}

extension ControlScope {
    /// The value of `do`.
    package var verb: String {
        switch self {
        case .recall: "recall"
        case .stop: "stop"
        }
    }
}
