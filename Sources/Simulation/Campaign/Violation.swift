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
