import ByteText
import ControlIO
package import EditorialControl
import KafkaIO
import KafkaModel
import NewsModel
import NewswireSettings
import PublisherService

/// Orders and audit lines as tables for people.
package enum ControlTable {
    /// - Parameters:
    ///   - unconfirmed: the processes that have not confirmed an order.
    ///   - mayHaveLapsed: true for an order that has lapsed by a clock that no process supports.
    package static func orders(
        _ orders: [Order], hasColours: Bool, unconfirmed: (Order) -> [ControlRecord.Beat] = { _ in [] },
        mayHaveLapsed: (Order) -> Bool = { _ in false }
    ) -> String {
        var table = TextTable(
            [
                .left("order", max: 60), "since (UTC)", "ends", .left("by", max: 32), .left("reason", max: 80),
                .left("not confirmed by", max: 60),
            ], hasColours: hasColours)
        for order in orders {
            let missing = unconfirmed(order).map(\.replica).joined(separator: ", ")
            table.add([
                .init(order.scope.phrase, colour: .red), .init(order.at.short),
                .init((order.until?.short ?? "when resumed") + (mayHaveLapsed(order) ? ", may have lapsed" : "")),
                .init(order.by), .init(order.reason ?? "-"),
                missing.isEmpty ? .init("-") : .init(missing, colour: .red),
            ])
        }
        return table.text
    }

    /// - Parameters:
    ///   - processes: the number of processes that count as running.
    ///   - obeying: the number of these that have confirmed all orders.
    ///   - unknown: the number of orders of an unknown kind.
    package static func summary(orders: Int, processes: Int, obeying: Int, unknown: Int = 0) -> String {
        let stand =
            orders == 0 ? "no order stands" : "\(counted(orders, "order")) \(orders == 1 ? "stands" : "stand")"
        if unknown > 0 {
            return "\(stand) besides \(grouped(unknown)) of an unknown kind; processes of this version send nothing"
        }
        if processes == 0 { return "\(stand); no process is known to be there" }
        guard obeying == processes else {
            let all = counted(processes, "process", plural: "processes")
            return "\(stand); only \(grouped(obeying)) of \(all) confirmed all of them"
        }
        return "\(stand); \(counted(processes, "process", plural: "processes")) \(processes == 1 ? "obeys" : "obey")"
    }

    /// A warning about a control topic that was widened; `nil` for one partition.
    package static func width(_ view: ControlView, _ topic: String) -> String? {
        guard view.partitions > 1 else { return nil }
        return
            "warning: \(topic) has \(view.partitions) partitions, which have no common order: a process may notice an order "
            + "late that is not on the first one. Delete it and create it with one partition: newswire topics --create. "
            + "Running processes write the orders in force to it again"
    }

    /// A warning about a control topic that was recreated; `nil` if it has every order.
    package static func loss(_ view: ControlView, _ topic: String) -> String? {
        guard view.lacksOrders else { return nil }
        return
            "warning: running processes obey orders that are not on \(topic). It was probably deleted and made again, or "
            + "its records were removed; the processes may put their orders back within a minute. Until then they are "
            + "not listed, and only lifting them by name ends them"
    }

    /// Reads the control topic for a command that acts if it sees no order.
    static func view(_ settings: Settings) throws(KafkaFailure) -> ControlView {
        try ControlReading(settings.kafkaSettings, settings.control.topics)
            .view(awaitingBeats: { ServiceClock.wall }, onWait: noteWait)
    }

    /// Says why a command waits for beats.
    static func noteWait() {
        notice(
            "the control topic has lost records, or is younger than the audit topic, and may have lost orders: waiting up to 15 s "
                + "until running processes tell what they obey")
    }

    /// Says why a command waits for beats after it has given an order.
    static func noteGiven() {
        notice(
            "the order is given. The control topic has lost records, or is younger than the audit topic, and may not name all "
                + "processes yet: waiting up to 15 s until running processes show themselves")
    }

    /// A warning about orders of a kind that this version does not know; `nil` without such an order.
    package static func unknown(_ view: ControlView, _ topic: String) -> String? {
        guard !view.unknownOrders.isEmpty else { return nil }
        return "warning: \(UnknownOrders.sentence(view.unknownOrders, on: topic)). To mend it, \(UnknownOrders.remedy)"
    }

    /// Writes the warnings about a control topic that was widened or recreated, or that has orders of an unknown kind.
    static func warn(of view: ControlView, _ topic: String) {
        for line in [width(view, topic), loss(view, topic), unknown(view, topic)].compactMap(\.self) { notice(line) }
    }

    /// A sentence about a process that has been silent for long and has not reported its end.
    package static func silence(_ silent: LifeSigns.Silent) -> String {
        "\(silent.beat.replica) has been silent since \(silent.beat.at.short) UTC by its own clock, and has not said that it ended: it may "
            + "have been killed, or be cut off from Kafka"
    }

    package static func audit(_ lines: [AuditTrail.Line], hasColours: Bool) -> String {
        var table = TextTable(
            [
                "time (UTC)", .left("what", max: 60), .left("who", max: 40), .left("remarks", max: 100),
            ], hasColours: hasColours)
        for line in lines {
            let entry = line.entry
            let isAnswer = entry.replica != nil && entry.action != .start
            let what = isAnswer ? entry.isWrittenAgain ? "  written again: \(entry.phrase)" : "  applied" : entry.phrase
            table.add([
                .init(entry.at.short), .init(what, colour: isAnswer ? .grey : nil),
                .init(entry.replica ?? entry.by ?? "-", colour: isAnswer ? .grey : nil),
                line.cameToNothing ? .init("never applied", colour: .red) : .init(entry.remarks),
            ])
        }
        return table.text
    }
}

extension ControlScope {
    fileprivate var phrase: String {
        switch self {
        case .recall(let story): "recall of \(story)"
        case .stop(let gate): "stop of \(gate.phrase)"
        }
    }
}

extension AuditEntry {
    fileprivate var phrase: String {
        let scope = ControlScope(key: scope)
        let name =
            switch scope {
            case .recall(let story): story
            case .stop(let gate): gate.phrase
            case nil: self.scope
            }
        return switch action {
        case .recall: "recall \(name)"
        case .stop: "stop \(name)"
        case .lift: "lift the recall of \(name)"
        case .resume: "resume \(name)"
        case .lapse: "the order about \(name) lapsed"
        case .send: "send \(order ?? name)"
        case .release: "release lane \(self.scope.dropFirst("release/".count))"
        case .redrive: "redrive dead letters of \(self.scope.dropFirst("redrive/".count))"
        case .start: "a process starts"
        }
    }

    fileprivate var remarks: String {
        guard let applied else {
            let place = former.map { action.isEnd ? "it was \($0.phrase)" : "in place of that \($0.phrase)" }
            let words =
                action == .send
                ? text.map { "“\($0)”" } ?? "scheduled, without its text" : text.map { "replacement “\($0)”" }
            let overridden = despite.isEmpty ? nil : "despite \(despite.joined(separator: ", "))"
            return [reason, place, words, overridden].compactMap(\.self).joined(separator: "; ")
        }
        var remarks: [String] = []
        if applied.waiting > 0 { remarks.append("\(grouped(applied.waiting)) \(action == .stop ? "wait" : "ended")") }
        if applied.held > 0 { remarks.append("\(grouped(applied.held)) held") }
        if applied.inFlight > 0 { remarks.append("\(grouped(applied.inFlight)) on their way") }
        return remarks.joined(separator: ", ")
    }
}

extension Instant {
    /// The time in UTC, such as `2026-11-21 10:00:00`.
    var short: String { String(description.prefix(19).map { $0 == "T" ? " " : $0 }) }
}
