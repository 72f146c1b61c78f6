import ByteText

/// A JSON text as a tree that keeps the order of members and the spelling of numbers. RFC 8259.
package enum JSONTree: Sendable, Hashable {
    case null
    case bool(Bool)
    /// The number exactly as it was written.
    case number(String)
    case string(String)
    case array([JSONTree])
    case object([Member])

    package struct Member: Sendable, Hashable {
        package var name: String
        package var value: JSONTree

        package init(_ name: String, _ value: JSONTree) {
            self.name = name
            self.value = value
        }
    }

    /// The value of the last member of that name; most JSON readers also choose the last one.
    package subscript(name: String) -> JSONTree? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.name == name }?.value
    }

    package var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The text of a string, number or boolean; `nil` for everything else.
    package var scalarText: String? {
        switch self {
        case .string(let text), .number(let text): text
        case .bool(let value): value ? "true" : "false"
        case .null, .array, .object: nil
        }
    }

    /// The number, if it is whole and fits into `Int`.
    package var integer: Int? {
        if case .number(let text) = self { Int(text) } else { nil }
    }

    package static func strings(_ values: [String]) -> JSONTree { .array(values.map { .string($0) }) }

    /// An object with the fields' names and values.
    package static func headers(_ fields: [HeaderField]) -> JSONTree {
        .object(fields.map { Member($0.name, .string($0.value)) })
    }

    package static func integer(_ value: some BinaryInteger) -> JSONTree { .number(String(value)) }

    /// The text as a string, or `null` for `nil`.
    package static func text(_ value: String?) -> JSONTree { value.map { .string($0) } ?? .null }

    // MARK: Writing

    /// The compact form: no white space, members in order.
    package var bytes: [UInt8] {
        var out: [UInt8] = []
        write(into: &out)
        return out
    }

    package func write(into out: inout [UInt8]) {
        write(into: &out) { JSONEscaping.append($0, to: &$1) }
    }

    /// Writes the compact form. `string` writes each value that is a string, quotes included.
    package func write<Failure>(
        into out: inout [UInt8], string: (String, inout [UInt8]) throws(Failure) -> Void
    ) throws(Failure) {
        switch self {
        case .null: out += "null".utf8
        case .bool(let value): out += (value ? "true" : "false").utf8
        case .number(let text): out += text.utf8
        case .string(let text): try string(text, &out)
        case .array(let values):
            out.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                try value.write(into: &out, string: string)
            }
            out.append(UInt8(ascii: "]"))
        case .object(let members):
            out.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                JSONEscaping.append(member.name, to: &out)
                out.append(UInt8(ascii: ":"))
                try member.value.write(into: &out, string: string)
            }
            out.append(UInt8(ascii: "}"))
        }
    }
}

extension JSONTree: ExpressibleByDictionaryLiteral {
    /// Creates an object. Members without a value are omitted.
    package init(dictionaryLiteral elements: (String, JSONTree?)...) {
        self = .object(elements.compactMap { name, value in value.map { Member(name, $0) } })
    }
}
