public import KafkaModel
public import NewsModel

/// A record of the control topic: its key says what it is about, its value is the latest word on that.
///
/// The state of the topic is that of the last record of each key, and of these alone: compaction must not change it.
public enum ControlRecord: Sendable, Hashable {
    case stands(Order)
    /// A tombstone: the order of this scope was lifted, or has lapsed.
    case lifted(ControlScope)
    case beat(Beat)
    /// A tombstone: the process has ended.
    case ended(replica: String)
    /// Which environment the hub serves; written once.
    case environment(HubEnvironment)
    /// A tombstone: whoever starts next says anew.
    case noEnvironment

    /// A process that follows the control topic says that it lives.
    public struct Beat: Sendable, Hashable {
        /// Names the process, from its start to its end.
        public var replica: String
        /// By the clock of the process, for people: it is compared with no other clock.
        public var at: Instant
        /// The time of the log, see `LifeSigns`; `nil` on a first beat, which is written before anything was read.
        public var logTime: Duration?
        /// The process obeys all orders up to this offset of the topic; `nil` while it does not know.
        public var appliedTo: Int64?

        public init(replica: String, at: Instant, logTime: Duration? = nil, appliedTo: Int64? = nil) {
            self.replica = replica
            self.at = at
            self.logTime = logTime
            self.appliedTo = appliedTo
        }

        /// How often a process writes one.
        public static let interval = Duration.seconds(10)
        /// A process counts as living until the time of the log has moved on so far without it.
        public static let countsFor = Duration.seconds(30)

        var json: [UInt8] {
            JSONWriter.object { json in
                json.field("at", at)
                json.field("logTime", milliseconds: logTime)
                json.field("appliedTo", appliedTo)
            }
        }
    }

    package static let beatPrefix = "beat/"
    package static let environmentKey = "environment/hub"

    public var key: String {
        switch self {
        case .stands(let order): order.scope.key
        case .lifted(let scope): scope.key
        case .beat(let beat): Self.beatPrefix + beat.replica
        case .ended(let replica): Self.beatPrefix + replica
        case .environment, .noEnvironment: Self.environmentKey
        }
    }

    /// JSON; `nil` for a tombstone.
    public var value: [UInt8]? {
        switch self {
        case .stands(let order): order.json
        case .beat(let beat): beat.json
        case .environment(let environment): environment.json
        case .lifted, .ended, .noEnvironment: nil
        }
    }

    /// The record for the control topic. It should have one partition; where a broker made it with more, those who write the
    /// same key must write to the same one, which the key's hash decides.
    public func record(on topic: String) -> ProducedRecord {
        ProducedRecord(topic: topic, key: Array(key.utf8), value: value)
    }
}

/// The environment that a hub serves, as a configuration or the control topic has it.
public struct HubEnvironment: Sendable, Hashable, CustomStringConvertible {
    /// E.g. `production`.
    public var name: String
    public var host: String
    public var hub: String

    public init(name: String, host: String, hub: String) {
        self.name = name
        self.host = host
        self.hub = hub
    }

    public var description: String { "\(name) (hub \(hub) at \(host))" }

    var json: [UInt8] {
        JSONWriter.object { json in
            json.field("environment", name)
            json.field("host", host)
            json.field("hub", hub)
        }
    }
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
