import ByteText
import NewsModel

/// Counts what a run did with the dead letters it read.
struct RedriveSummary: Sendable {
    private struct Kind: Hashable {
        var topic: String
        var outcome: String
        var reason: String
        var refusal: Redrive.Refusal?
    }

    private var counts: [Kind: Int] = [:]
    private(set) var putBack = 0
    private(set) var refused = 0
    private(set) var passedOver = 0
    /// Dead letters that an earlier run returned to their lane.
    private(set) var gone = 0

    mutating func add(_ label: Redrive.Label?, _ verdict: Redrive.Verdict) {
        var refusal: Redrive.Refusal?
        switch verdict {
        case .putBack: putBack += 1
        case .passedOver:
            passedOver += 1
            return
        case .refused(let why):
            refusal = why
            refused += 1
        }
        let kind = Kind(
            topic: label?.coordinates.source.partition.topic ?? "-", outcome: label?.outcome.rawValue ?? "-",
            reason: label?.reason ?? "-", refusal: refusal)
        // Reasons are codes, but headers come from outside, so the table must be bounded.
        let key = counts[kind] != nil || counts.count < 1000 ? kind : Kind(topic: "…", outcome: "…", reason: "…")
        counts[key, default: 0] += 1
    }

    mutating func addGone() { gone += 1 }

    func table(isDryRun: Bool, hasColours: Bool) -> String {
        var table = TextTable(
            [
                .init(title: "topic", widthMax: 80), .init(title: "outcome"), .init(title: "reason"),
                .init(title: "records", isRightAligned: true), .init(title: "action", widthMax: 80),
            ], hasColours: hasColours)
        func order(_ kind: Kind) -> [String] { [kind.refusal?.rawValue ?? "", kind.topic, kind.outcome, kind.reason] }
        for (kind, count) in counts.sorted(by: { order($0.key).lexicographicallyPrecedes(order($1.key)) }) {
            let done = isDryRun ? "would be put back" : "put back"
            table.add([
                .init(kind.topic), .init(kind.outcome), .init(kind.reason), .init(grouped(count)),
                .init(
                    kind.refusal.map { "refused: \($0.rawValue)" } ?? done, colour: kind.refusal == nil ? .green : .red),
            ])
        }
        return counts.isEmpty ? "" : table.text
    }

    func line(isDryRun: Bool) -> String {
        var text = (isDryRun ? "would put back " : "put back ") + counted(putBack, "dead letter")
        if refused > 0 { text += ", refused \(grouped(refused))" }
        if passedOver > 0 { text += ", left \(grouped(passedOver)) excluded by the filters" }
        if gone > 0 { text += ", skipped \(grouped(gone)) put back by an earlier run" }
        return text
    }
}
