import ByteText

/// An absolute http or https address, taken apart for the one who connects to it. Strict where machines disagree about what
/// an address means (user info, backslashes, control characters), since such disagreement is how checks are evaded.
public struct FetchAddress: Sendable, Hashable {
    public var isSecure: Bool
    /// Lower case, without brackets and without a dot at its end.
    public var host: String
    public var port: Int
    /// Path and query, escaped; begins with a slash.
    public var target: String

    /// Bytes of an address.
    public static let lengthMax = 8_192

    /// - Throws: what is wrong, with the remedy. The text is not repeated, as it may hold a password.
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

    /// The whole address, without a port that goes without saying.
    public var text: String {
        (isSecure ? "https://" : "http://") + authority + target
    }

    /// As the `Host` header has it.
    public var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }

    /// The same scheme, host and port: credentials for the one are meant for the other.
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
            guard name.utf8.allSatisfy({ $0 < 0x80 }) else {
                throw FetchFailure(.badAddress, "write the host's name in its ASCII form, which starts with xn--")
            }
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

    /// Publishers send blanks and whole alphabets in `Location`.
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
    /// Where a `Location` header at this address leads to. RFC 3986 §5.2.
    ///
    /// - Throws: why nothing may be fetched there.
    public func resolving(_ reference: some StringProtocol) throws(FetchFailure) -> FetchAddress {
        let reference = reference.trimmed
        let origin = (isSecure ? "https://" : "http://") + authority
        if Self.scheme(of: reference) != nil { return try FetchAddress(reference) }
        if reference.hasPrefix("//") { return try FetchAddress((isSecure ? "https:" : "http:") + reference) }
        if reference.hasPrefix("/") { return try FetchAddress(origin + Self.withoutDots(reference)) }
        if reference.isEmpty || reference.hasPrefix("#") { return self }
        let path = target.prefix { $0 != "?" }
        if reference.hasPrefix("?") { return try FetchAddress(origin + path + reference) }
        let folder = path[...(path.lastIndex(of: "/") ?? path.startIndex)]
        return try FetchAddress(origin + Self.withoutDots(folder + reference))
    }

    /// Resolves `.` and `..` in the path. RFC 3986 §5.2.4.
    private static func withoutDots(_ target: some StringProtocol) -> String {
        let path = target.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let parts = path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        var kept: [String] = []
        for (index, part) in parts.enumerated() {
            let part = String(decoding: part, as: UTF8.self)
            if part == ".." { _ = kept.popLast() }
            if part != "..", part != "." { kept.append(part) } else if index == parts.count - 1 { kept.append("") }
        }
        return "/" + kept.joined(separator: "/") + String(decoding: target.utf8[path.endIndex...], as: UTF8.self)
    }
}
