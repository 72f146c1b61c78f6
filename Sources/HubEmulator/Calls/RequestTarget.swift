import ByteText

/// A request's path and query, taken apart.
struct RequestTarget: Sendable {
    /// The path's segments, percent-decoded; empty ones (doubled and trailing slashes) left out.
    var segments: [String] = []
    /// The path as sent, without the query.
    var rawPath: Substring
    /// The query as sent, without its question mark.
    var rawQuery: Substring = ""
    var parameters: [FormFields.Field] = []

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
        guard let query = FormFields(rawQuery) else { return nil }
        parameters = query.fields
    }

    /// The first parameter of that name, names compared without regard to case.
    subscript(name: String) -> String? {
        parameters.first { $0.name.equalsIgnoringASCIICase(name) }?.value
    }

    /// True when the parameter is present, whatever its value: `&direct`, `direct=`, `direct=true`.
    func hasFlag(_ name: String) -> Bool { self[name] != nil }
}

/// A version of the hub's interface. Later ones compare greater.
struct APIVersion: Sendable, Hashable, Comparable {
    var name: String

    static let known = [
        "2013-04", "2013-08", "2013-10", "2014-01", "2014-09", "2015-01", "2015-04", "2015-08", "2016-07", "2017-04",
        "2020-06",
    ]

    /// The first version to answer 429 when it throttles; older ones answer 403.
    static let statusOfThrottling = APIVersion(known: "2020-06")

    /// The first version whose telemetry has `PnsErrorDetailsUri`.
    static let namesErrorDetails = APIVersion(known: "2016-07")

    static let oldest = APIVersion(known: "2013-04")

    private init(known name: String) { self.name = name }

    /// The version that the request names; the oldest one by default.
    init(of target: RequestTarget) throws(Refusal) {
        guard let asked = target["api-version"], !asked.isEmpty else {
            self = .oldest
            return
        }
        guard Self.known.contains(asked) else {
            throw .badRequest(
                "The api-version '\(asked.prefix(20))' is not supported. Supported versions: "
                    + Self.known.joined(separator: ","))
        }
        name = asked
    }

    static func < (lhs: APIVersion, rhs: APIVersion) -> Bool { lhs.name < rhs.name }
}
