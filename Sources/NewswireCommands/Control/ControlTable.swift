import ByteText
package import EditorialControl
import NewsModel

/// Orders and audit lines as tables for people.
package enum ControlTable {
    package static func orders(_ orders: [Order], hasColours: Bool) -> String {
        var table = TextTable(
            [
                .init(title: "order", widthMax: 60), .init(title: "since (UTC)"), .init(title: "ends"),
                .init(title: "by", widthMax: 32), .init(title: "reason", widthMax: 80),
            ], hasColours: hasColours)
        for order in orders {
            table.add([
                .init(order.scope.phrase, colour: .red), .init(order.at.short),
                .init(order.until?.short ?? "when resumed"),
                .init(order.by), .init(order.reason ?? "-"),
            ])
        }
        return table.text
    }

    /// All that is known when no beat is recent: a process may be away from the brokers, or not allowed to write.
    static let noProcess =
        "no process has told of itself in the last \(ControlRecord.Beat.countsFor.components.seconds) s"

    package static func summary(orders: Int, processes: Int) -> String {
        let obeying =
            processes == 0
            ? noProcess
            : "\(counted(processes, "process", plural: "processes")) \(processes == 1 ? "obeys" : "obey")"
        return orders == 0
            ? "no order stands; \(obeying)"
            : "\(counted(orders, "order")) \(orders == 1 ? "stands" : "stand"); \(obeying)"
    }

    package static func audit(_ lines: [AuditTrail.Line], hasColours: Bool) -> String {
        var table = TextTable(
            [
                .init(title: "time (UTC)"), .init(title: "what", widthMax: 60), .init(title: "who", widthMax: 40),
                .init(title: "remarks", widthMax: 100),
            ], hasColours: hasColours)
        for line in lines {
            let entry = line.entry
            let isAnswer = entry.replica != nil
            let what = isAnswer ? "  applied" : entry.phrase
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
        }
    }

    fileprivate var remarks: String {
        guard let applied else {
            let place = former.map { "in place of that \($0.phrase)" }
            return [reason, place].compactMap(\.self).joined(separator: "; ")
        }
        var remarks: [String] = []
        if applied.waiting > 0 { remarks.append("\(grouped(applied.waiting)) \(action == .stop ? "wait" : "ended")") }
        if applied.held > 0 { remarks.append("\(grouped(applied.held)) held") }
        if applied.inFlight > 0 { remarks.append("\(grouped(applied.inFlight)) on their way") }
        return remarks.joined(separator: ", ")
    }
}

extension Instant {
    /// `2026-11-21 10:00:00`, in UTC.
    var short: String { String(description.prefix(19).map { $0 == "T" ? " " : $0 }) }
}
