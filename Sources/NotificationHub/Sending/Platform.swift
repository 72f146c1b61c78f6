import ByteText

/// The target of a send: the value of `ServiceBusNotification-Format`.
///
/// `facts` has the platform's limits, headers and names.
public enum Platform: String, CaseIterable, Codable, Sendable, Hashable {
    /// A flat object of strings, which the hub expands through each device's own template.
    case template
    case apple, fcmv1
    /// Google's legacy interface, which Google switched off in 2024. The hub still accepts it.
    case gcm
    case windows, windowsphone, adm, baidu
    /// Web Push. The hub supports it for direct sends only.
    case browser
    case xiaomi

    /// The platforms of devices: all but `template`.
    public static let native = allCases.filter { $0 != .template }

    /// Reads a header's value without regard to case, because documents write `fcmv1`, `fcmV1` and `FcmV1`.
    /// - Returns: `nil` if the word is not a format.
    public init?(headerValue: some StringProtocol) {
        guard let platform = Self.allCases.first(where: { $0.rawValue.equalsIgnoringASCIICase(headerValue) }) else {
            return nil
        }
        self = platform
    }

    public var contentType: String { facts.contentType }

    /// Reads the names in a record's header, with commas between them. Unknown names are left out.
    public static func list(_ names: String) -> [Platform] {
        names.split(separator: ",").compactMap { Platform(rawValue: String($0)) }
    }
}

extension Sequence<Platform> {
    /// The names as `Platform.list` reads them.
    public var names: String { map(\.rawValue).joined(separator: ",") }
}
