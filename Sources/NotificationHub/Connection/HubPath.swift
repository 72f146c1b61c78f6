import ByteText

/// The request targets of the calls to one hub, ready for the request line, where all their characters are legal.
public struct HubPath: Sendable, Hashable {
    /// The API version. Since this version a hub answers 429 for "too fast" and 403 for "not allowed".
    public static let apiVersion = "2020-06"
    /// The version that the REST reference documents for per-message telemetry.
    public static let telemetryVersion = "2016-07"
    /// The longest id of a registration or an installation, in bytes.
    public static let idLengthMax = 128

    private let base: String

    /// - Parameter endpoint: the endpoint's own path precedes the hub's name.
    public init(endpoint: HubEndpoint, hub: HubName) {
        base = "\(endpoint.basePath)/\(hub.text)"
    }

    /// The target of `POST` to send a notification.
    public var send: String { target("messages") }

    /// The target of `GET` for the details of one send, which only hubs of the Standard tier answer.
    /// - Parameter id: the id from the send's reply; see `NotificationID`.
    public func details(of id: String) -> String {
        "\(base)/messages/\(id.percentEncoded)?api-version=\(Self.telemetryVersion)"
    }

    /// The target of `POST` to reserve an id, which is the last segment of the reply's `Location`.
    public var newID: String { target("registrationids") }

    /// The target of `PUT` with a `RegistrationEntry`, or of `DELETE` with `If-Match`.
    public func registration(_ id: String) -> String { target("registrations/\(id.percentEncoded)") }

    /// The target of `GET` for one device's registrations, a `RegistrationFeed`. `ChannelUri` means the handle on every
    /// platform, as in the .NET client.
    public func registrations(of channel: PushChannel) -> String {
        let quoted = channel.handle.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''")
        return target("registrations", query: "$filter=\("ChannelUri eq '\(quoted)'".percentEncoded)&")
    }

    /// The target of `PUT` with an `InstallationBody`, or of `DELETE`.
    public func installation(_ id: String) -> String { target("installations/\(id.percentEncoded)") }

    private func target(_ path: String, query: String = "") -> String {
        "\(base)/\(path)?\(query)api-version=\(Self.apiVersion)"
    }

    /// The id at the end of a registration's `Location`; `nil` if it is not the form of a hub's id.
    public static func id(inLocation location: String) -> String? {
        NotificationID.inLocation(location).flatMap { accepts(id: $0) ? $0 : nil }
    }

    /// True for an id that can be a path segment and part of a tag.
    static func accepts(id: String) -> Bool {
        (1...idLengthMax).contains(id.utf8.count) && id != "." && id != ".."
            && id.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "-_.".utf8.contains($0) }
    }
}
