import Synchronization

/// The token that permits its bearer everything. It may change while servers use it; any thread may do so.
public final class BearerToken: Sendable {
    private let text: Mutex<String?>

    /// - Parameter text: `nil` for no token.
    public init(_ text: String?) { self.text = Mutex(text) }

    public var current: String? {
        get { text.withLock { $0 } }
        set { text.withLock { $0 = newValue } }
    }
}
