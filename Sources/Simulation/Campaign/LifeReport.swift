public import NewsModel

/// Figures of a life that kept every promise.
public struct LifeReport: Sendable, Hashable {
    public var records = 0
    public var results = 0
    public var sends = 0
    public var accepted = 0
    /// Number of acceptances beyond the first of each delivery.
    public var repeats = 0
    public var crashes = 0
    public var rebalances = 0
    public var inputs = 0
    /// Number of records that a stale commit hid from their reader.
    public var hidden = 0
    public var simulated: Duration = .zero
    /// Number of faults that took effect, by kind.
    public var struck: [FaultName: Int] = [:]
    /// Number of stored results, by outcome.
    public var outcomes: [Outcome: Int] = [:]

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
        sum.hidden += rhs.hidden
        sum.simulated += rhs.simulated
        sum.struck.merge(rhs.struck, uniquingKeysWith: +)
        sum.outcomes.merge(rhs.outcomes, uniquingKeysWith: +)
        return sum
    }
}
