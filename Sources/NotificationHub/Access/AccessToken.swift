/// A client's `Authorization` value, renewed before it expires.
///
/// A token is valid for an hour and is replaced when less than a third of that is left. A request that waits in a queue
/// therefore still has a valid token, and a clock that differs from the hub's by some minutes does no harm.
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

    /// - Parameter resource: the URI that the token opens; see `HubEndpoint.audience`.
    public init(resource: String, keyName: String, key: AccessKey) {
        self.resource = resource
        self.keyName = keyName
        self.key = key
    }

    public init(_ connection: ConnectionString) {
        self.init(resource: connection.endpoint.audience, keyName: connection.keyName, key: connection.key)
    }

    /// The header's value at `now`, in Unix seconds.
    ///
    /// The token is also renewed after the clock has jumped: forward, because the token is then too old; back, because
    /// it would then be valid for too long.
    public mutating func headerValue(at now: Int64) -> String {
        if let minted, !minted.isDue(at: now) { return minted.value }
        let (sum, overflow) = now.addingReportingOverflow(Self.lifetime)
        let value = SharedAccessSignature.token(
            resource: resource, keyName: keyName, key: key, expiresAt: overflow ? .max : sum)
        minted = Minted(value: value, at: now)
        return value
    }

    /// Makes the next call create a new token, after the hub has refused this one.
    public mutating func discard() {
        minted = nil
    }
}

extension AccessToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "token of \(keyName) for \(resource)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
