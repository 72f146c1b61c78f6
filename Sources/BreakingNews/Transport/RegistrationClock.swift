import Foundation

/// A source of the time, of delays and of unique ids.
public protocol RegistrationClock: Sendable {
    /// The current time in Unix seconds.
    var now: Int64 { get }
    /// Suspends for a time, but returns early if the task is cancelled.
    func sleep(seconds: Int64) async
    /// A unique id of at most 64 letters, digits and hyphens.
    func newID() -> String
}

/// The device's own clock.
public struct SystemClock: RegistrationClock {
    public init() {}

    public var now: Int64 { Int64(Date().timeIntervalSince1970) }

    public func sleep(seconds: Int64) async {
        try? await ContinuousClock().sleep(until: .now + .seconds(seconds), tolerance: .seconds(1))
    }

    public func newID() -> String { UUID().uuidString.lowercased() }
}
