/// The `Authorization` value that a client keeps, renewed ahead of its expiry.
///
/// A token lives for an hour from the moment it was minted, however often it is used, and is replaced when less than
/// a third of that is left: a request that waits in a queue still carries a valid one, and a clock that is some
/// minutes off the hub's does no harm.
public struct AccessToken: Sendable {
    /// Seconds.
    public static let lifetime: Int64 = 3600

    private let resource: String
    private let keyName: String
    private let key: AccessKey
    private var minted: Minted?

    private struct Minted {
        var value: String
        /// Unix seconds.
        var at: Int64

        func isDue(at now: Int64) -> Bool {
            let (age, overflow) = now.subtractingReportingOverflow(at)
            return overflow || age < 0 || age > AccessToken.lifetime * 2 / 3
        }
    }

    /// - Parameter resource: the URI to open; see `HubEndpoint.audience`.
    public init(resource: String, keyName: String, key: AccessKey) {
        self.resource = resource
        self.keyName = keyName
        self.key = key
    }

    public init(_ connection: ConnectionString) {
        self.init(resource: connection.endpoint.audience, keyName: connection.keyName, key: connection.key)
    }

    /// The header's value to send at `now`, in Unix seconds.
    ///
    /// A clock that jumps ahead finds the token old and renews it. One that jumps back finds a token from the future
    /// and renews that too: its expiry would be further away than a token should live.
    public mutating func headerValue(at now: Int64) -> String {
        if let minted, !minted.isDue(at: now) { return minted.value }
        let (sum, overflow) = now.addingReportingOverflow(Self.lifetime)
        let value = SharedAccessSignature.token(
            resource: resource, keyName: keyName, key: key, expiresAt: overflow ? .max : sum)
        minted = Minted(value: value, at: now)
        return value
    }

    /// Makes the next call mint a new token; for a hub that refused this one.
    public mutating func discard() {
        minted = nil
    }
}

extension AccessToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "token of \(keyName) for \(resource)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
