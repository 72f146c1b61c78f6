/// A life that broke a promise, with its smallest failing part.
public struct Failure: Sendable {
    public var seed: UInt64
    public var violation: Violation
    /// The part of the life that is sufficient to fail.
    public var shrunk: Scenario

    /// The command that repeats the failure.
    public var command: String { "newswire simulate --seed \(seed) --lives 1" }
}

extension Failure: CustomStringConvertible {
    public var description: String {
        var lines = [
            "seed \(seed): \(violation)", "again: \(command)", "setting: \(shrunk.setting)",
            "options: \(shrunk.options)",
            "faults that matter:",
        ]
        lines += shrunk.faults.map { "  \($0)" }
        if !shrunk.orders.isEmpty { lines.append("orders that matter:") }
        lines += shrunk.orders.map { "  \($0)" }
        lines.append("news that matters:")
        lines += shrunk.news.map { "  \($0)" }
        return lines.joined(separator: "\n")
    }
}

/// A promise broken by a life.
public struct Violation: Error, Sendable, Hashable {
    public var promise: Promise
    public var sentence: String
    /// Time since the start of the life.
    public var at: Duration
}

extension Violation: CustomStringConvertible {
    public var description: String { "\(promise.rawValue): \(sentence) (at \(at.short))" }
}
