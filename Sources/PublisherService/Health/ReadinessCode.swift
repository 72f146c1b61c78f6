import NewsModel
import PublishEngine

/// The codes of the reasons in `/readyz`, with the words of the dashboard for each.
public enum ReadinessCode: String, CaseIterable, Sendable {
    case hubKeyRefused = "hub-key-refused"
    case hubRightMissing = "hub-right-missing"
    case hubMissing = "hub-hub-missing"
    case hubCertificate = "hub-certificate"
    case hubOutage = "hub-outage"
    case hubFailing = "hub-failing"
    case hubPause = "hub-pause"
    case flood
    case ledger
    case stopped
    case heldTopic = "held-topic"
    case heldTopicAway = "held-topic-away"
    case heldNotRead = "held-not-read"
    case heldNotReturned = "held-not-returned"
    case kafka
    case kafkaToken = "kafka-token"
    case kafkaQuota = "kafka-quota"
    case missingTopic = "missing-topic"
    case notAssigned = "not-assigned"
    case partitionCounts = "partition-counts"
    case unequalTopics = "unequal-topics"
    case openTransaction = "open-transaction"
    case unreadRemoved = "unread-removed"
    case oldOnArrival = "old-on-arrival"
    case embargo
    case newIncarnation = "new-incarnation"
    case deadLetters = "dead-letters"
    case results
    case commit
    case recordsRefused = "records-refused"
    case control
    case standstill
    case ordersUnknown = "orders-unknown"
    case controlUnreadable = "control-unreadable"
    case controlGarbage = "control-garbage"
    case controlMissing = "control-missing"
    case controlTransaction = "control-transaction"
    case controlStale = "control-stale"
    case controlNotWritten = "control-not-written"
    case auditNotWritten = "audit-not-written"
    case auditMissing = "audit-missing"
    case tooManyOrders = "too-many-orders"
    case environment
    case clock
    case schema
    case time
    case settings
    case unstored
    case shuttingDown = "shutting-down"

    /// The part of the dashboard's map that a reason belongs to.
    public enum Station: String, Sendable {
        case topics, lane, hub, outcomes, process
    }

    /// The words of the dashboard. `LANE` in a headline stands for the lane's name.
    public struct Words: Sendable {
        public var station: Station
        public var badge: String
        public var headline: String
    }

    public var words: Words {
        func words(_ station: Station, _ badge: String, _ headline: String) -> Words {
            Words(station: station, badge: badge, headline: headline)
        }
        return switch self {
        case .hubKeyRefused: words(.hub, "Key refused", "The hub refuses the key")
        case .hubRightMissing: words(.hub, "Not allowed", "The key has no right to send")
        case .hubMissing: words(.hub, "Not found", "There is no such hub")
        case .hubCertificate: words(.hub, "Not trusted", "The hub’s certificate cannot be trusted")
        case .hubOutage: words(.hub, "No answer", "The hub is down or cannot be reached")
        case .hubFailing: words(.hub, "Failing", "The hub accepts nothing")
        case .hubPause: words(.hub, "Asked to wait", "The hub asked us to wait")
        case .flood: words(.lane, "Stopped", "Lane LANE is stopped: most of its events failed")
        case .ledger: words(.lane, "Restoring", "Lane LANE cannot read back its results yet")
        case .stopped: words(.lane, "Stopped", "Lane LANE is stopped by editors")
        case .heldTopic: words(.lane, "Not stored", "The broker does not store events for the held topic")
        case .heldTopicAway: words(.lane, "Not back", "The held topic cannot be read")
        case .heldNotRead: words(.lane, "Not back", "The held topic has not been read to its end")
        case .heldNotReturned: words(.lane, "Not back", "Held events cannot return to their lanes")
        case .kafka: words(.topics, "No broker", "The brokers do not answer")
        case .kafkaQuota: words(.topics, "Slowed down", "The brokers delay reading, because of a quota")
        case .kafkaToken: words(.topics, "No login", "There is no token to log in to the brokers")
        case .missingTopic: words(.topics, "Missing", "A topic is missing or may not be read")
        case .notAssigned: words(.topics, "Joining", "Lane LANE has no partitions yet")
        case .partitionCounts: words(.topics, "Unknown", "The number of partitions is not known yet")
        case .unequalTopics: words(.topics, "Unequal", "The topics of lane LANE differ in length")
        case .openTransaction: words(.topics, "Hidden", "An open transaction hides news of lane LANE")
        case .unreadRemoved: words(.topics, "Lost", "News was removed before lane LANE read it")
        case .oldOnArrival: words(.topics, "Too old", "News of lane LANE is too old when it arrives")
        case .embargo: words(.lane, "Blocked", "Events under embargo block lane LANE")
        case .newIncarnation: words(.topics, "New topic", "A topic of lane LANE was created again and is not read yet")
        case .deadLetters: words(.outcomes, "Not stored", "The broker does not store dead letters")
        case .results: words(.outcomes, "Not stored", "The broker does not store results")
        case .commit: words(.outcomes, "No commits", "The broker refuses commits")
        case .recordsRefused: words(.outcomes, "Refused", "A topic does not take our records")
        case .control: words(.process, "No orders", "The orders of editors are not known")
        case .standstill: words(.process, "Waking up", "The process stood still and asks what has changed")
        case .ordersUnknown: words(.process, "No orders", "The orders of editors are not known")
        case .controlUnreadable: words(.process, "No orders", "The control topic cannot be read")
        case .controlGarbage: words(.process, "Not read", "Records on the control topic are not understood")
        case .controlMissing: words(.process, "No orders", "The control topic is gone")
        case .controlTransaction: words(.process, "Hidden", "An open transaction hides the orders of editors")
        case .controlStale: words(.process, "Old orders", "The orders of editors may be old")
        case .controlNotWritten: words(.process, "Not heard", "The control topic does not take our records")
        case .auditNotWritten: words(.process, "Not heard", "The audit topic does not take our records")
        case .auditMissing: words(.process, "Not written", "The audit topic is missing: no order can be given")
        case .tooManyOrders: words(.process, "Too many", "More orders are in force than a process keeps")
        case .environment: words(.process, "Elsewhere", "The hub belongs to another environment")
        case .clock: words(.process, "Wrong clock", "The clocks of this machine and of the others differ")
        case .schema: words(.lane, "No schema", "Lane LANE waits for the schema registry")
        case .time: words(.hub, "No time", "The hub has not told its time, so some events of lane LANE wait")
        case .settings: words(.process, "Settings", "The settings do not allow a start")
        case .unstored: words(.outcomes, "Not stored", "Results could not be stored before the end")
        case .shuttingDown: words(.process, "Ending", "Shutting down")
        }
    }

    /// True if the reason endangers a guarantee while news is still sent.
    public var letsNewsPass: Bool {
        switch self {
        case .commit, .unequalTopics, .recordsRefused, .deadLetters, .controlMissing, .controlGarbage,
            .controlNotWritten,
            .auditNotWritten, .auditMissing, .tooManyOrders, .heldTopic, .heldTopicAway, .heldNotRead, .heldNotReturned,
            .clock, .time, .unreadRemoved, .oldOnArrival:
            true
        default: false
        }
    }
}

extension ReadinessCode {
    init(_ halt: Halt.Reason) {
        self =
            switch halt {
            case .keyRefused: .hubKeyRefused
            case .rightMissing: .hubRightMissing
            case .hubMissing: .hubMissing
            case .certificate: .hubCertificate
            case .outage: .hubOutage
            case .flood: .flood
            }
    }
}

extension ReadinessReason {
    init(_ code: ReadinessCode, _ detail: String, remedy: String, lane: String? = nil) {
        self.init(code: code.rawValue, detail: detail, remedy: remedy, lane: lane)
    }
}
