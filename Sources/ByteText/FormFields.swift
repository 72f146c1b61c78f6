/// The fields of a query, or of a form's body, in `application/x-www-form-urlencoded`: `+` is a space.
public struct FormFields: Sendable, Hashable {
    public struct Field: Sendable, Hashable {
        public var name: String
        public var value: String
    }

    /// In the order in which they were sent. A field without `=` has an empty value.
    public private(set) var fields: [Field] = []

    /// - Parameter text: the query without its question mark.
    /// - Returns: `nil` for a broken percent escape, and for bytes that are not UTF-8.
    public init?(_ text: some StringProtocol) {
        // Pages encode a space as `+`. Read otherwise, a recall of a story with a space would recall nothing.
        for part in Substring(text).utf8.split(separator: UInt8(ascii: "&")) {
            let equals = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            guard let name = Substring(part[..<equals]).percentDecoded(plusIsSpace: true),
                let value = Substring(part[equals...].dropFirst()).percentDecoded(plusIsSpace: true)
            else { return nil }
            fields.append(Field(name: name, value: value))
        }
    }

    /// The value of the first field of that name.
    public subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

    /// A name that is not among the given ones; `nil` if all are. A misspelled parameter has no effect, so callers refuse it.
    public func unknown(besides names: [String]) -> String? { fields.map(\.name).filter { !names.contains($0) }.min() }

    /// The first name that occurs more than once; `nil` if all are different.
    public var repeated: String? {
        var seen: Set<String> = []
        return fields.first { !seen.insert($0.name).inserted }?.name
    }
}
