import ByteText

/// An absolute http or https address, split for a connection. Parsing is strict where programs disagree about an
/// address (user info, backslashes, control characters), because such differences help to evade checks.
public struct FetchAddress: Sendable, Hashable {
    public var isSecure: Bool
    /// Lower case, without brackets and without a final dot.
    public var host: String
    public var port: Int
    /// Path and query, escaped; begins with a slash.
    public var target: String

    /// Maximum bytes of an address.
    public static let lengthMax = 8_192

    /// - Throws: the error with its remedy. The address is not repeated, because it may contain a password.
    public init(_ text: some StringProtocol) throws(FetchFailure) {
        let text = text.trimmed
        guard text.utf8.count <= Self.lengthMax else { throw FetchFailure(.badAddress, "the address is too long") }
        guard !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw FetchFailure(.badAddress, "the address has control characters in it")
        }
        if text.hasPrefixIgnoringASCIICase("https://") {
            isSecure = true
        } else if text.hasPrefixIgnoringASCIICase("http://") {
            isSecure = false
        } else if Self.scheme(of: text) != nil {
            throw FetchFailure(.forbiddenAddress, "only http and https addresses are fetched")
        } else {
            throw FetchFailure(.badAddress, "an address starts with https:// or http://")
        }
        let rest = text.utf8.dropFirst(isSecure ? 8 : 7)
        let authority = rest.prefix { !"/?#".utf8.contains($0) }
        (host, port) = try Self.hostAndPort(String(decoding: authority, as: UTF8.self)[...], isSecure: isSecure)
        target = Self.escaped(rest[authority.endIndex...].prefix { $0 != UInt8(ascii: "#") })
    }

    /// The whole address, without a default port.
    public var text: String {
        (isSecure ? "https://" : "http://") + authority + target
    }

    /// The value of the `Host` header.
    public var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }

    /// Returns true for the same scheme, host and port. Credentials for one address are then meant for the other too.
    public func isSameOrigin(as other: FetchAddress) -> Bool {
        isSecure == other.isSecure && host == other.host && port == other.port
    }

    private static func hostAndPort(
        _ authority: Substring, isSecure: Bool
    ) throws(FetchFailure) -> (host: String, port: Int) {
        guard !authority.utf8.contains(UInt8(ascii: "@")) else {
            throw FetchFailure(
                .forbiddenAddress, "name and password in an address are not sent; use an Authorization header")
        }
        var name = authority
        var port = ""[...]
        if authority.hasPrefix("[") {
            guard let bracket = authority.firstIndex(of: "]") else {
                throw FetchFailure(.badAddress, "the address has no host")
            }
            name = authority[authority.index(after: authority.startIndex)..<bracket]
            port = authority[authority.index(after: bracket)...]
            guard
                name.utf8.allSatisfy({ $0.hexDigitValue != nil || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") }),
                name.utf8.contains(UInt8(ascii: ":")), port.isEmpty || port.hasPrefix(":")
            else { throw FetchFailure(.badAddress, "the address has no valid host") }
        } else {
            name = authority.prefix { $0 != ":" }
            port = authority[name.endIndex...]
            if name.hasSuffix(".") { name = name.dropLast() }
            name = Punycode.ascii(hostName: String(name)).map { $0[...] } ?? ""
            guard (1...253).contains(name.utf8.count), !name.hasPrefix("."), !name.hasPrefix("-"),
                name.utf8.allSatisfy({ $0.isASCIILetter || $0.isASCIIDigit || "-._".utf8.contains($0) })
            else { throw FetchFailure(.badAddress, "the address has no valid host") }
        }
        let digits = port.dropFirst()
        guard !digits.isEmpty else { return (name.asciiLowercased, isSecure ? 443 : 80) }
        guard digits.utf8.count <= 5, digits.utf8.allSatisfy(\.isASCIIDigit), let number = Int(digits),
            (1...65_535).contains(number)
        else { throw FetchFailure(.badAddress, "the address has no valid port") }
        return (name.asciiLowercased, number)
    }

    /// Escapes a target, because publishers send spaces and letters beyond ASCII in `Location`.
    private static func escaped(_ target: some Sequence<UInt8>) -> String {
        var escaped: [UInt8] = []
        for byte in target {
            if escaped.isEmpty, byte != UInt8(ascii: "/") { escaped.append(UInt8(ascii: "/")) }
            if byte > 0x20, byte < 0x7F, !"\"<>\\^`{|}".utf8.contains(byte) {
                escaped.append(byte)
            } else {
                escaped += "%".utf8
                escaped += [UInt8(hexDigitOf: byte >> 4), UInt8(hexDigitOf: byte)].map { $0 > 0x60 ? $0 - 0x20 : $0 }
            }
        }
        return escaped.isEmpty ? "/" : String(decoding: escaped, as: UTF8.self)
    }

    static func scheme(of text: some StringProtocol) -> String? {
        let scheme = text.utf8.prefix { $0.isASCIILetter || $0.isASCIIDigit || "+-.".utf8.contains($0) }
        guard let first = scheme.first, first.isASCIILetter, scheme.endIndex < text.utf8.endIndex,
            text.utf8[scheme.endIndex] == UInt8(ascii: ":")
        else { return nil }
        return String(decoding: scheme, as: UTF8.self).asciiLowercased
    }
}

extension FetchAddress {
    /// Returns the target of a `Location` header at this address.
    ///
    /// - Throws: the reason why the target may not be fetched.
    public func resolving(_ reference: some StringProtocol) throws(FetchFailure) -> FetchAddress {
        if let scheme = Self.scheme(of: reference.trimmed), scheme != "http", scheme != "https" {
            throw FetchFailure(.forbiddenAddress, "only http and https addresses are fetched")
        }
        guard let address = WebAddress(text)?.resolve(reference.trimmed) else {
            throw FetchFailure(.badAddress, "the publisher redirects to what is no address")
        }
        return try FetchAddress(address.text)
    }
}
