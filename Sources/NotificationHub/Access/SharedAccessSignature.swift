import ByteText

/// The value of an `Authorization` header: `SharedAccessSignature sr={S}&sig={E}&se={T}&skn={N}`.
///
/// A parsed value is not verified; see `verified(…)`. Descriptions and mirrors hide the signature.
public struct SharedAccessSignature: Sendable, Hashable {
    /// The longest header, in bytes. A longer one is malformed.
    public static let headerLengthMax = 8192

    /// The audience exactly as sent and still percent-encoded, because the signature covers that text.
    public let encodedAudience: String
    /// The expiry exactly as sent, because the signature covers that text.
    public let expiryText: String
    /// The expiry in Unix seconds.
    public let expiry: Int64
    /// The name of the access rule.
    public let keyName: String
    /// The base64 of the MAC.
    let signature: String

    /// Creates the header's value.
    /// - Parameters:
    ///   - resource: the URI for which the token is valid, not encoded; it is lower-cased. See `HubEndpoint.audience`.
    ///   - expiresAt: Unix seconds.
    public static func token(resource: String, keyName: String, key: AccessKey, expiresAt: Int64) -> String {
        let audience = resource.asciiLowercased.percentEncoded
        let signature = key.signature(of: "\(audience)\n\(expiresAt)").percentEncoded
        return "SharedAccessSignature sr=\(audience)&sig=\(signature)&se=\(expiresAt)&skn=\(keyName.percentEncoded)"
    }

    /// Reads a header's value. Fields may be in any order, and each is split at its first `=`, because `sig` may
    /// contain raw `/` and `=`.
    /// - Throws: `missingToken` for a blank value, otherwise `malformedToken`.
    public init(parsing header: some StringProtocol) throws(TokenRefusal) {
        guard header.utf8.count <= Self.headerLengthMax else { throw .malformedToken }
        let header = header.trimmed
        guard !header.isEmpty else { throw .missingToken }
        guard let space = header.firstIndex(of: " "),
            header[..<space].equalsIgnoringASCIICase("SharedAccessSignature")
        else { throw .malformedToken }

        var values: [Substring: Substring] = [:]
        for field in Substring(header[space...].dropFirst()).split(separator: "&") {
            guard let equals = field.firstIndex(of: "=") else { throw .malformedToken }
            let (name, value) = (field[..<equals], field[equals...].dropFirst())
            guard values.updateValue(value, forKey: name) == nil else { throw .malformedToken }
        }
        guard let sr = values["sr"], let sig = values["sig"], let se = values["se"], let skn = values["skn"],
            let signature = sig.percentDecoded(), let keyName = skn.percentDecoded(), let expiry = Int64(se),
            se.utf8.allSatisfy(\.isASCIIDigit), !sr.isEmpty
        else { throw .malformedToken }
        encodedAudience = String(sr)
        expiryText = String(se)
        self.expiry = expiry
        self.keyName = keyName
        self.signature = signature
    }
}

extension SharedAccessSignature: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String {
        "SharedAccessSignature sr=\(encodedAudience)&sig=(hidden)&se=\(expiryText)&skn=\(keyName)"
    }

    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
