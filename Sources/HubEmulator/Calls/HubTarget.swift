import ByteText

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
            guard let decoded = Substring(segment).percentDecoded() else { return nil }
            segments.append(decoded)
        }
        for part in rawQuery.utf8.split(separator: UInt8(ascii: "&")) {
            let equals = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            guard let name = Substring(part[..<equals]).percentDecoded(plusIsSpace: true),
                let value = Substring(part[equals...].dropFirst()).percentDecoded(plusIsSpace: true)
            else { return nil }
            parameters.append(Parameter(name: name, value: value))
        }
    }

    /// The first parameter of that name, names compared without regard to case.
    subscript(name: String) -> String? {
        parameters.first { $0.name.equalsIgnoringASCIICase(name) }?.value
    }

    /// Presence decides, the value is ignored: `&direct`, `direct=`, `direct=true`.
    func hasFlag(_ name: String) -> Bool { self[name] != nil }
}
