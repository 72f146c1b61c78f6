import NewsModel
import PublishEngine

/// A promise that was broken.
public struct Violation: Error, Sendable, Hashable {
    public var promise: Promise
    public var sentence: String
    /// Since the life's beginning.
    public var at: Duration
}

extension Violation: CustomStringConvertible {
    public var description: String { "\(promise.rawValue): \(sentence) (at \(at.short))" }
}

/// A life that kept every promise, in numbers.
public struct LifeReport: Sendable, Hashable {
    public var records = 0
    public var results = 0
    public var sends = 0
    public var accepted = 0
    /// Acceptances beyond the first of a delivery.
    public var repeats = 0
    public var crashes = 0
    public var rebalances = 0
    public var inputs = 0
    public var simulated: Duration = .zero

    public init() {}

    public static func + (lhs: LifeReport, rhs: LifeReport) -> LifeReport {
        var sum = lhs
        sum.records += rhs.records
        sum.results += rhs.results
        sum.sends += rhs.sends
        sum.accepted += rhs.accepted
        sum.repeats += rhs.repeats
        sum.crashes += rhs.crashes
        sum.rebalances += rhs.rebalances
        sum.inputs += rhs.inputs
        sum.simulated += rhs.simulated
        return sum
    }
}
