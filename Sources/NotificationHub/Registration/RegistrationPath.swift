import ByteText

/// The request targets of a device's calls, below the endpoint's own path.
public enum RegistrationPath {
    /// The longest id of a registration or an installation, in bytes.
    public static let idLengthMax = 128

    /// The target of `POST` to reserve an id, which is the last segment of the reply's `Location`.
    public static func newID(endpoint: HubEndpoint, hub: HubName) -> String {
        target(endpoint, hub, "registrationids")
    }

    /// The target of `PUT` with a `RegistrationEntry`, or of `DELETE` with `If-Match`.
    public static func registration(_ id: String, endpoint: HubEndpoint, hub: HubName) -> String {
        target(endpoint, hub, "registrations/\(id.percentEncoded)")
    }

    /// The target of `GET` for one device's registrations, a `RegistrationFeed`. `ChannelUri` means the handle on every
    /// platform, as in the .NET client.
    public static func registrations(of channel: PushChannel, endpoint: HubEndpoint, hub: HubName) -> String {
        let quoted = channel.handle.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''")
        let filter = "$filter=\("ChannelUri eq '\(quoted)'".percentEncoded)"
        return target(endpoint, hub, "registrations", query: filter + "&")
    }

    /// The target of `PUT` with an `InstallationBody`, or of `DELETE`.
    public static func installation(_ id: String, endpoint: HubEndpoint, hub: HubName) -> String {
        target(endpoint, hub, "installations/\(id.percentEncoded)")
    }

    /// The id at the end of a `Location`; `nil` if it is not the form of a hub's id.
    public static func id(inLocation location: String) -> String? {
        let path = location.prefix { $0 != "?" && $0 != "#" }
        guard let last = path.split(separator: "/").last?.percentDecoded() else { return nil }
        return accepts(id: last) ? last : nil
    }

    /// True for an id that can be a path segment and part of a tag.
    static func accepts(id: String) -> Bool {
        (1...idLengthMax).contains(id.utf8.count) && id != "." && id != ".."
            && id.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "-_.".utf8.contains($0) }
    }

    private static func target(
        _ endpoint: HubEndpoint, _ hub: HubName, _ path: String, query: String = ""
    ) -> String {
        "\(endpoint.basePath)/\(hub.text)/\(path)?\(query)api-version=\(SendPath.apiVersion)"
    }
}
