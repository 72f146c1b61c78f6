import ByteText

/// The request target for the details of one send: `/{hub}/messages/{id}?api-version=2016-07`, below the endpoint's own
/// path. Only hubs of the Standard tier answer.
public struct DetailsPath: Sendable, Hashable {
    /// The version that the REST reference documents for per-message telemetry.
    public static let apiVersion = "2016-07"

    /// The target, ready for the request line, where all its characters are legal.
    public let target: String

    /// - Parameter id: the id from the send's reply; see `NotificationID`.
    public init(endpoint: HubEndpoint, hub: HubName, id: String) {
        target =
            "\(endpoint.basePath)/\(hub.text)/messages/\(id.percentEncoded)?api-version=\(Self.apiVersion.percentEncoded)"
    }
}
