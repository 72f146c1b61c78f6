import ByteText

/// The request target of a send: `/{hub}/messages?api-version=2020-06`, below the endpoint's own path.
public struct SendPath: Sendable, Hashable {
    /// The version since which a hub says 429 for "too fast" and 403 for "not allowed".
    public static let apiVersion = "2020-06"

    /// Ready for the request line; every character of it is legal there.
    public let target: String

    public init(endpoint: HubEndpoint, hub: HubName, apiVersion: String = Self.apiVersion) {
        target = "\(endpoint.basePath)/\(hub.text)/messages?api-version=\(apiVersion.percentEncoded)"
    }
}
