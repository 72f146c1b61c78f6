/// A client's `Authorization` value, renewed before it expires.
///
/// A token is valid for an hour and is replaced when less than a third of that is left. A request that waits in a queue
/// therefore still has a valid token. Some minutes of difference between the client's and the hub's clock do no harm.
public struct AccessToken: Sendable {
    /// The validity of a token, in seconds.
    public static let lifetime: Int64 = 3600

    private let resource: String
    private let keyName: String
    private let key: AccessKey
    private var minted: Minted?

    private struct Minted {
        var value: String
        /// The time at which the token was made, in Unix seconds.
        var at: Int64

        func isDue(at now: Int64) -> Bool {
            let (age, overflow) = now.subtractingReportingOverflow(at)
            return overflow || age < 0 || age > AccessToken.lifetime * 2 / 3
        }
    }

    /// - Parameter resource: the URI for which the token is valid; see `HubEndpoint.audience`.
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
    /// The token is also renewed after the clock has jumped. After a jump forward the token is too old; after a jump
    /// back it would be valid for too long.
    public mutating func headerValue(at now: Int64) -> String {
        if let minted, !minted.isDue(at: now) { return minted.value }
        let (sum, overflow) = now.addingReportingOverflow(Self.lifetime)
        let value = SharedAccessSignature.token(
            resource: resource, keyName: keyName, key: key, expiresAt: overflow ? .max : sum)
        minted = Minted(value: value, at: now)
        return value
    }

    /// Makes the next call create a new token. Use it after the hub has refused this one.
    public mutating func discard() {
        minted = nil
    }
}

extension AccessToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "token of \(keyName) for \(resource)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
