import ByteText

/// A JSON text as a tree that keeps the order of members and the spelling of numbers. RFC 8259.
public enum JSONTree: Sendable, Hashable {
    case null
    case bool(Bool)
    /// The number exactly as it was written.
    case number(String)
    case string(String)
    case array([JSONTree])
    case object([Member])

    public struct Member: Sendable, Hashable {
        public var name: String
        public var value: JSONTree

        public init(_ name: String, _ value: JSONTree) {
            self.name = name
            self.value = value
        }
    }

    /// The value of the last member of that name; most JSON readers also choose the last one.
    public subscript(name: String) -> JSONTree? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.name == name }?.value
    }

    public var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The text of a string, number or boolean; `nil` for everything else.
    public var scalarText: String? {
        switch self {
        case .string(let text), .number(let text): text
        case .bool(let value): value ? "true" : "false"
        case .null, .array, .object: nil
        }
    }

    /// The number, if it is whole and fits into `Int`.
    public var integer: Int? {
        if case .number(let text) = self { Int(text) } else { nil }
    }

    public static func integer(_ value: some BinaryInteger) -> JSONTree { .number(String(value)) }

    /// The text as a string, or `null` for `nil`.
    public static func text(_ value: String?) -> JSONTree { value.map { .string($0) } ?? .null }

    // MARK: Writing

    /// The compact form: no white space, members in order.
    public var bytes: [UInt8] {
        var out: [UInt8] = []
        write(into: &out)
        return out
    }

    public func write(into out: inout [UInt8]) {
        switch self {
        case .null: out.append(contentsOf: "null".utf8)
        case .bool(let value): out.append(contentsOf: (value ? "true" : "false").utf8)
        case .number(let text): out.append(contentsOf: text.utf8)
        case .string(let text): JSONEscaping.append(text, to: &out)
        case .array(let values):
            out.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                value.write(into: &out)
            }
            out.append(UInt8(ascii: "]"))
        case .object(let members):
            out.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                JSONEscaping.append(member.name, to: &out)
                out.append(UInt8(ascii: ":"))
                member.value.write(into: &out)
            }
            out.append(UInt8(ascii: "}"))
        }
    }
}
