import ByteText
import ControlIO
package import EditorialControl
import KafkaModel
import Logging
import NewsModel

// Reports about the control topic in the log and on `/readyz`.

extension Logger {
    func log(_ note: ControlNote, topics: ControlTopics) {
        switch note {
        // The warnings about topics already mention the missing topic.
        case .obstacle(.missing): debug("control topic missing", metadata: ["topic": "\(topics.control)"])
        case .obstacle(.unreadable(let failure)):
            warning("the control topic cannot be read; it is tried again", metadata: ["failure": "\(failure)"])
        case .garbage(let fault, let offset):
            warning(
                "a record on the control topic is not understood",
                metadata: ["topic": "\(topics.control)", "offset": "\(offset)", "reason": "\(fault.rawValue)"])
        case .garbageFound(let count):
            warning(
                "records on the control topic are not understood",
                metadata: ["topic": "\(topics.control)", "records": "\(count)"])
        case .refused(let count):
            error("too many standing orders: some are not obeyed", metadata: ["refused": "\(count)"])
        case .unordered(let count):
            warning(
                "too many recalls by events stand: further ones end what this process alone has of their stories",
                metadata: ["recalls": "\(count)"])
        case .writtenAgain(let scope):
            notice(
                "an order was gone from the control topic without a record of its end; it is put back. If it had been lifted, lift it again",
                metadata: ["scope": "\(scope.key)"])
        case .beatNotSeen:
            warning(
                "this process cannot be seen by those who give orders: its beat does not come back",
                metadata: [
                    "topic": "\(topics.control)",
                    "remedy": "grant this user WRITE on the topic; if it has that, look at the brokers",
                ])
        case .ordersMissing:
            error(
                "the control topic has lost orders that other processes obeyed; news is sent without them",
                metadata: ["topic": "\(topics.control)", "remedy": "see newswire control; give the orders again"])
        case .stale(let silence):
            error("nothing comes from the control topic", metadata: ["seconds": "\(silence.components.seconds)"])
        case .heardAgain: notice("the control topic is heard again")
        case .clockStepped: break
        case .notWritten(let isAudit, let failure):
            error(
                "a record could not be written",
                metadata: ["topic": "\(isAudit ? topics.audit : topics.control)", "failure": "\(failure)"])
        case .writesAgain: notice("editorial topics can be written again")
        }
    }
}

extension ControlStatus {
    /// The reasons of the control topic for not being ready.
    func notReady(_ topics: ControlTopics) -> [ReadinessReason] {
        let reasons = alarms.map { $0.notReady(topics) }
        guard !isKnown, !alarms.contains(where: \.holdsAll) else { return reasons }
        return reasons + [
            .init(
                .ordersUnknown,
                "editors' orders on \(topics.control) are not read yet: nothing is sent",
                remedy: "wait a moment; should it last, check the brokers and this machine's way to them")
        ]
    }
}

extension ControlStatus.Alarm {
    /// True if the alarm alone explains why no news is sent.
    fileprivate var holdsAll: Bool {
        switch self {
        case .unreadable, .neverThere, .stale, .elsewhere, .unknownOrders, .ordersMissing: true
        case .heldUp(_, let stops): stops
        case .gone, .refused, .unordered, .garbage, .notWritten, .notAudited, .auditGone: false
        }
    }

    fileprivate func notReady(_ topics: ControlTopics) -> ReadinessReason {
        switch self {
        case .unreadable(let failure):
            .init(
                .controlUnreadable,
                "the control topic \(topics.control) cannot be read: \(failure.detail)",
                remedy: failure.remedy.isEmpty ? "look at the brokers, and grant this user READ on it" : failure.remedy)
        case .neverThere:
            .init(
                .ordersUnknown,
                "the control topic \(topics.control) \(TopicRules.isMissing): which orders stand cannot be known, and "
                    + "control.onStale is stop, so nothing is sent",
                remedy: TopicRules.missingRemedy)
        case .gone:
            .init(
                .controlMissing,
                "the control topic \(topics.control) does not exist any more; its orders stay in force here",
                remedy: "run newswire topics --create; processes put the orders back")
        case .stale(let silence, let stops):
            .init(
                .controlStale,
                "nothing has come from the control topic \(topics.control) for \(silence.components.seconds) s: "
                    + (stops ? "nothing is sent" : "news is sent by the last orders known"),
                remedy: "look at the brokers; this user needs READ and WRITE on it")
        case .heldUp(let duration, let stops):
            .init(
                .controlTransaction,
                "a transaction on the control topic \(topics.control) has been open for \(duration.components.seconds) s and hides "
                    + "every order behind it: " + (stops ? "nothing is sent" : "news is sent by the last orders known"),
                remedy:
                    "its producer must commit or abort it; kafka-transactions.sh find-hanging finds one that nobody ends, and "
                    + "abort ends it. Newswire itself uses no transactions")
        case .refused(let count):
            .init(
                .tooManyOrders,
                "\(counted(count, "order")) more than the \(StandingOrders.capacity) that may stand: they are not obeyed",
                remedy: "lift what is no longer needed; see newswire control")
        case .unordered(let count):
            .init(
                .tooManyOrders,
                "\(counted(Int(clamping: count), "recall")) by events had no room since the start: only the process that read "
                    + "such an event obeys it, until a restart",
                remedy:
                    "lift what is no longer needed, or let it lapse; see newswire control. newswire recall takes back a "
                    + "story of which more may come")
        case .garbage(let count):
            .init(
                .controlGarbage,
                "\(counted(count, "record")) on the control topic \(topics.control) \(count == 1 ? "is" : "are") not "
                    + "understood: should one be an order, it is not obeyed",
                remedy:
                    "give the order again with newswire recall or stop; a tombstone of the same key removes the record")
        case .unknownOrders(let keys):
            .init(
                .ordersUnknown, UnknownOrders.sentence(keys, on: topics.control), remedy: UnknownOrders.remedy)
        case .ordersMissing:
            .init(
                .ordersUnknown,
                "records were removed from the control topic \(topics.control), and running processes may obey orders that it does "
                    + "not have: nothing is sent until they have had time to write them again, at most a minute",
                remedy: "wait; let nothing remove records from it: its cleanup.policy must be compact")
        case .notWritten(let failure):
            .init(
                .controlNotWritten,
                "the control topic \(topics.control) takes no record of ours, so a recall by an event reaches no "
                    + "other process: \(failure.detail)", remedy: failure.writeRemedy)
        case .notAudited(let failure):
            .init(
                .auditNotWritten,
                "the audit topic \(topics.audit) takes no record of ours, so the sender of an order cannot see that "
                    + "we obey: \(failure.detail)", remedy: failure.writeRemedy)
        case .auditGone:
            .init(
                .auditMissing,
                "the audit topic \(topics.audit) \(TopicRules.isMissing), so no order can be given",
                remedy: TopicRules.missingRemedy)
        case .elsewhere(let ours, let theirs):
            .init(
                .environment, HubEnvironment.disagreement(ours, theirs, on: topics.control),
                remedy: HubEnvironment.remedy(topics.control))
        }
    }
}

/// Sentences about orders of a kind that this version does not know.
package enum UnknownOrders {
    /// - Parameter keys: their keys, of which the first ones are named.
    package static func sentence(_ keys: [String], on topic: String) -> String {
        let more = keys.count > 3 ? " and \(keys.count - 3) more" : ""
        return
            "\(counted(keys.count, "order")) on the control topic \(topic) \(keys.count == 1 ? "is" : "are") of a kind that "
            + "this version does not know, with the key \(keys.prefix(3).joined(separator: ", "))\(more): nothing is sent, because "
            + "it may be a stop"
    }

    package static let remedy =
        "update all processes; or lift the order with the version that gave it. This version cannot lift it: without the other "
        + "one, write a tombstone (a record with the same key and no value) to partition 0 of the topic"
}

extension KafkaFailure {
    /// The remedy for a topic that refuses this process's records.
    fileprivate var writeRemedy: String {
        if code.hasSuffix("AUTHORIZATION_FAILED") { return "grant this user DESCRIBE and WRITE on it" }
        return remedy.isEmpty ? "look at the brokers" : remedyClause
    }
}

extension HubEnvironment {
    /// A sentence about two contradicting statements of the environment.
    package static func disagreement(_ ours: HubEnvironment?, _ theirs: HubEnvironment, on topic: String) -> String {
        let ours = ours?.isImplied == true ? nil : ours
        let said = ours.map { "say \($0)" } ?? "name no environment"
        return "the settings \(said), but the control topic \(topic) says \(theirs)"
    }

    package static func remedy(_ topic: String) -> String {
        "correct environment or hub in the settings; if the hub has really changed, delete the record \"environment/hub\", or "
            + "\"environment/hub/\" and the group, on \(topic) by a tombstone"
    }
}
