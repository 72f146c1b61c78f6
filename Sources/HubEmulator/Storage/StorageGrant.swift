import ByteText
import NotificationHub

/// A signed address below `/_storage`, like those of an Azure storage account. It permits its holder the operations in
/// `sp` until `se`. The emulator uses its own signature.
struct StorageGrant: Sendable {
    static let root = "_storage"
    private static let version = "2021-08-06"

    var container: String
    /// The blob; `nil` for the whole container.
    var blob: String?
    /// The permitted operations, as letters of `r`ead, `w`rite, `c`reate, `d`elete and `l`ist.
    var permissions: String
    var expires: HubTime

    func url(base: String, key: AccessKey) -> String {
        let path = [container] + (blob?.split(separator: "/").map { String($0) } ?? [])
        let query = [
            ("sv", Self.version), ("sr", blob == nil ? "c" : "b"), ("sp", permissions), ("se", expiryText),
            ("sig", key.signature(of: signedText)),
        ]
        return "\(base)/\(Self.root)/" + path.map(\.percentEncoded).joined(separator: "/") + "?"
            + query.map { "\($0)=\($1.percentEncoded)" }.joined(separator: "&")
    }

    private var expiryText: String { expires.iso() }

    private var signedText: String { [container, blob ?? "", permissions, expiryText].joined(separator: "\n") }

    /// Reads the grant in an address; `nil` unless this key has signed it and it is still valid.
    init?(_ address: StorageAddress, key: AccessKey, at now: HubTime) {
        guard let container = address.container, let signature = address.query["sig"],
            let end = address.query["se"].flatMap({ HubTime(clientText: $0) }), end > now,
            let permissions = address.query["sp"], let kind = address.query["sr"]
        else { return nil }
        self.init(
            container: container, blob: kind == "b" ? address.blob : nil, permissions: permissions, expires: end)
        guard AccessKey(key.signature(of: signedText)) == AccessKey(signature) else { return nil }
    }

    init(container: String, blob: String? = nil, permissions: String, expires: HubTime) {
        (self.container, self.blob, self.permissions, self.expires) = (container, blob, permissions, expires)
    }
}

/// A path below `/_storage`, with its query.
struct StorageAddress: Sendable {
    var container: String?
    /// The blob's name, which may have several segments.
    var blob: String?
    var query: RequestTarget

    /// True for a path below `/_storage`, even if the rest of the address is malformed.
    static func isMeant(by target: String) -> Bool {
        let path = target.utf8.drop { $0 == UInt8(ascii: "/") }
        guard path.starts(with: StorageGrant.root.utf8) else { return false }
        let next = path.dropFirst(StorageGrant.root.utf8.count).first
        return next == nil || next == UInt8(ascii: "/") || next == UInt8(ascii: "?")
    }

    /// Reads an address; `nil` for any other path.
    init?(_ target: RequestTarget) {
        guard target.segments.first == StorageGrant.root else { return nil }
        container = target.segments.dropFirst().first
        let rest = target.segments.dropFirst(2)
        blob = rest.isEmpty ? nil : rest.joined(separator: "/")
        query = target
    }

    /// Reads a complete URL with any host; see `StorageHost`.
    init?(url: String) {
        guard let start = url.firstRange(of: "://")?.upperBound, let path = url[start...].firstIndex(of: "/"),
            let target = RequestTarget(String(url[path...]))
        else { return nil }
        self.init(target)
    }
}
