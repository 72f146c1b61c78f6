import KafkaModel
package import NewsModel

/// Decides about dead letters in the order in which they are read, and counts the decisions.
package struct RedriveSummary: Sendable {
    /// Dead letters that have the same fate for the same reason.
    package struct Kind: Hashable, Sendable {
        package var topic = "…"
        package var outcome = "…"
        package var reason = "…"
        package var refusal: Redrive.Refusal?

        fileprivate var order: [String] { [refusal?.rawValue ?? "", topic, outcome, reason] }
    }

    private let redrive: Redrive
    private let includesGone: Bool
    private let limit: Int
    private var counts: [Kind: Int] = [:]
    package private(set) var putBack = 0
    package private(set) var refused = 0
    package private(set) var passedOver = 0
    /// Dead letters that an earlier run returned to their lane.
    package private(set) var gone = 0

    /// Reasons are codes, but headers come from outside, so the number of kinds must be bounded.
    private static let kindsMax = 1_000

    /// - Parameters:
    ///   - includesGone: true to return dead letters again that an earlier run has returned.
    ///   - limit: the number of dead letters to return.
    package init(_ redrive: Redrive, includesGone: Bool = false, limit: Int = .max) {
        (self.redrive, self.includesGone, self.limit) = (redrive, includesGone, limit)
    }

    /// True if no further dead letter may be returned.
    package var isFull: Bool { putBack >= limit }

    /// Decides about the next dead letter of a partition, and marks it.
    ///
    /// - Parameter former: the partition's mark of the former group.
    /// - Returns: `nil` if an earlier run has returned it.
    package mutating func decide(
        _ record: SourceRecord, _ mark: inout RedriveMark, former: RedriveMark = RedriveMark()
    ) -> Redrive.Verdict? {
        let isGone =
            mark.isGone(record.offset) || former.isGone(record.offset) && redrive.mayBeOfFormerGroup(record)
        if !includesGone, isGone {
            gone += 1
            return nil
        }
        let verdict = redrive.verdict(on: record)
        switch verdict {
        case .putBack:
            mark.putBack(record.offset)
            putBack += 1
            count(record, nil)
        case .passedOver:
            mark.leave(record.offset)
            passedOver += 1
        case .refused(let refusal):
            mark.leave(record.offset)
            refused += 1
            count(record, refusal)
        }
        return verdict
    }

    private mutating func count(_ record: SourceRecord, _ refusal: Redrive.Refusal?) {
        let label = Redrive.label(record)
        let kind = Kind(
            topic: label?.coordinates.source.partition.topic ?? "-", outcome: label?.outcome.rawValue ?? "-",
            reason: label?.reason ?? "-", refusal: refusal)
        counts[counts[kind] != nil || counts.count < Self.kindsMax ? kind : Kind(), default: 0] += 1
    }

    /// The kinds with their numbers, those that were returned first.
    package var kinds: [(kind: Kind, count: Int)] {
        counts.sorted { $0.key.order.lexicographicallyPrecedes($1.key.order) }.map { ($0.key, $0.value) }
    }
}
