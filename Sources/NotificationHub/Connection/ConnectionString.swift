/// A parsed `Endpoint=sb://…/;SharedAccessKeyName=…;SharedAccessKey=…`.
///
/// Descriptions and mirrors hide the key; `revealed` is the one way to print all of it.
public struct ConnectionString: Sendable, Hashable {
    public static let lengthMax = 4096
    public static let keyNameLengthMax = 256

    public var endpoint: HubEndpoint
    /// The name of the access rule.
    public var keyName: String
    public var key: AccessKey
    /// The hub, when the string names one; a hub named elsewhere goes before it.
    public var entityPath: HubName?

    public init(endpoint: HubEndpoint, keyName: String, key: AccessKey, entityPath: HubName? = nil) {
        self.endpoint = endpoint
        self.keyName = keyName
        self.key = key
        self.entityPath = entityPath
    }

    /// The whole string with its key, in the one order that every client library reads.
    public var revealed: String { text(key: key.revealed) }

    private func text(key: String) -> String {
        let scheme = endpoint.scheme == .https ? "sb" : "http"
        let base = "Endpoint=\(scheme)://\(endpoint.authority)\(endpoint.basePath)/"
        let entity = entityPath.map { ";EntityPath=\($0)" } ?? ""
        return "\(base);SharedAccessKeyName=\(keyName);SharedAccessKey=\(key)\(entity)"
    }
}

extension ConnectionString: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String { text(key: key.description) }
    public var debugDescription: String { description }
}
