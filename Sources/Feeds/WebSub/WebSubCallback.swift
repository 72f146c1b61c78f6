import ByteText
import Crypto

/// An address of ours that one hub calls for one subscription. A forger lacks only its path and its secret, so neither
/// appears in any description.
public struct WebSubCallback: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// The public address under which hubs call this process; ends in a slash.
    public var base: String
    /// 128 random bits as hexadecimal digits.
    public var path: String
    /// The key of the hub's signatures, 64 characters; `nil` if it would have to be sent in the clear.
    public var secret: String?

    public init(base: String, path: String, secret: String?) {
        self.base = base
        self.path = path
        self.secret = secret
    }

    public init(base: String, isSecret: Bool, using random: inout some RandomNumberGenerator) {
        let path = Self.digits(words: 2, using: &random)
        self.init(base: base, path: path, secret: isSecret ? Self.digits(words: 4, using: &random) : nil)
    }

    /// Number of hexadecimal digits of a path.
    public static let pathLength = 32

    var url: String { base + path }

    private static func digits(words: Int, using random: inout some RandomNumberGenerator) -> String {
        (0..<words).map { _ in random.next().hexDigits }.joined()
    }

    public var description: String { "a callback of \(base)" }
    public var customMirror: Mirror { Mirror(self, children: ["base": base]) }
}

extension WebSubCallback {
    /// Returns true if the `X-Hub-Signature` of a delivery, `method=hexadecimal digits`, equals the one made with the
    /// secret. The comparison takes the same time wherever they differ. W3C WebSub §8.
    ///
    /// - Returns: false without a secret, without a signature, and for a method that WebSub does not have.
    func signed(_ body: [UInt8], as signature: String?) -> Bool {
        guard let secret, let signature, let equals = signature.firstIndex(of: "="),
            let code = Self.bytes(ofHexDigits: signature[signature.index(after: equals)...].trimmed)
        else { return false }
        let key = SymmetricKey(data: Array(secret.utf8))
        return switch signature[..<equals].trimmed.asciiLowercased {
        // SHA-1 is weak for documents but still sound for authentication codes, and most hubs use nothing else.
        case "sha1": HMAC<Insecure.SHA1>.isValidAuthenticationCode(code, authenticating: body, using: key)
        case "sha256": HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: body, using: key)
        case "sha384": HMAC<SHA384>.isValidAuthenticationCode(code, authenticating: body, using: key)
        case "sha512": HMAC<SHA512>.isValidAuthenticationCode(code, authenticating: body, using: key)
        default: false
        }
    }

    /// `nil` for invalid text, or for more digits than SHA-512 has.
    private static func bytes(ofHexDigits digits: Substring) -> [UInt8]? {
        let digits = Array(digits.utf8.prefix(130))
        guard digits.count <= 128, digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index].hexDigitValue, let low = digits[index + 1].hexDigitValue else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }
}
