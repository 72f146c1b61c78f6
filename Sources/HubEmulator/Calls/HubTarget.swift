/// A request's path and query, taken apart.
struct HubTarget: Sendable {
    struct Parameter: Sendable, Hashable {
        var name: String
        var value: String
    }

    /// The path's segments, percent-decoded; empty ones (doubled and trailing slashes) left out.
    var segments: [String] = []
    /// The path as sent, without the query.
    var rawPath: Substring
    /// The query as sent, without its question mark.
    var rawQuery: Substring = ""
    var parameters: [Parameter] = []

    /// `nil` when a percent escape is broken or does not make UTF-8.
    init?(_ target: String) {
        rawPath = target[...]
        if let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) {
            rawPath = target[..<mark]
            rawQuery = target[target.utf8.index(after: mark)...]
        }
        for segment in rawPath.utf8.split(separator: UInt8(ascii: "/")) {
            guard let decoded = Self.percentDecoded(segment) else { return nil }
            segments.append(decoded)
        }
        for part in rawQuery.utf8.split(separator: UInt8(ascii: "&")) {
            let equals = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            guard let name = Self.percentDecoded(part[..<equals], plusIsSpace: true),
                let value = Self.percentDecoded(
                    equals == part.endIndex ? part[equals...] : part[part.index(after: equals)...], plusIsSpace: true)
            else { return nil }
            parameters.append(Parameter(name: name, value: value))
        }
    }

    /// The first parameter of that name, names compared without regard to case.
    subscript(name: String) -> String? {
        parameters.first { $0.name.equalsIgnoringCase(name) }?.value
    }

    /// Presence decides, the value is ignored: `&direct`, `direct=`, `direct=true`.
    func hasFlag(_ name: String) -> Bool { self[name] != nil }

    static func percentDecoded(_ bytes: Substring.UTF8View, plusIsSpace: Bool = false) -> String? {
        guard bytes.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") && plusIsSpace }) else {
            return String(Substring(bytes))
        }
        var out: [UInt8] = []
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            bytes.formIndex(after: &index)
            if byte == UInt8(ascii: "+"), plusIsSpace {
                out.append(32)
            } else if byte == UInt8(ascii: "%") {
                let digits = bytes[index...].prefix(2)
                guard digits.count == 2, let high = digits.first.flatMap(hexDigit),
                    let low = digits.last.flatMap(hexDigit)
                else { return nil }
                out.append(high << 4 | low)
                bytes.formIndex(&index, offsetBy: 2)
            } else {
                out.append(byte)
            }
        }
        return String(validating: out, as: UTF8.self)
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 48...57: byte - 48
        case 65...70: byte - 55
        case 97...102: byte - 87
        default: nil
        }
    }

    /// Everything but letters, digits and `-._~` as `%XX`.
    static func percentEncoded(_ text: String) -> String {
        let hex = StaticString("0123456789ABCDEF")
        var out: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
                out.append(byte)
            default:
                out.append(contentsOf: [
                    UInt8(ascii: "%"), hex.utf8Start[Int(byte >> 4)], hex.utf8Start[Int(byte & 15)],
                ])
            }
        }
        return String(decoding: out, as: UTF8.self)
    }
}
