import CSimdjson

/// Checked UTF-8 that belongs to a `JSONParser` and is valid until its next document.
@usableFromInline
package typealias JSONText = UnsafeBufferPointer<UInt8>

/// One JSON value, as a view into the parser's document; valid until the parser reads the next one.
package enum JSONValue {
    case null
    case boolean(Bool)
    case integer(Int64)
    /// An integer above `Int64.max`.
    case unsigned(UInt64)
    case number(Double)
    case string(JSONText)
    case array(JSONArray)
    case object(JSONObject)

    @inline(__always)
    init(_ value: csj_value) {
        switch value.type {
        case csj_type_string: self = .string(JSONText(value.string))
        case csj_type_integer: self = .integer(value.integer)
        case csj_type_boolean: self = .boolean(value.boolean)
        case csj_type_array: self = .array(JSONArray(node: value.node))
        case csj_type_object: self = .object(JSONObject(node: value.node))
        case csj_type_number: self = .number(value.number)
        case csj_type_unsigned: self = .unsigned(value.unsigned_integer)
        default: self = .null
        }
    }

    /// The type as a word in a sentence: "a string".
    var kind: String {
        switch self {
        case .null: "null"
        case .boolean: "a boolean"
        case .integer, .unsigned, .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

/// An object's members in the document's order, including repeated names.
package struct JSONObject: Sequence {
    fileprivate let node: csj_node

    package struct Member {
        package var name: JSONText
        package var value: JSONValue
    }

    package struct Iterator: IteratorProtocol {
        fileprivate var cursor: csj_cursor

        @inline(__always)
        package mutating func next() -> Member? {
            var name = csj_text()
            var value = csj_value()
            guard csj_object_next(&cursor, &name, &value) else { return nil }
            return Member(name: JSONText(name), value: JSONValue(value))
        }
    }

    package func makeIterator() -> Iterator { Iterator(cursor: csj_object_begin(node)) }
}

/// An array's elements in order.
package struct JSONArray: Sequence {
    fileprivate let node: csj_node

    package struct Iterator: IteratorProtocol {
        fileprivate var cursor: csj_cursor

        @inline(__always)
        package mutating func next() -> JSONValue? {
            var value = csj_value()
            guard csj_array_next(&cursor, &value) else { return nil }
            return JSONValue(value)
        }
    }

    package func makeIterator() -> Iterator { Iterator(cursor: csj_array_begin(node)) }
}

extension JSONText {
    @inline(__always)
    fileprivate init(_ text: csj_text) {
        self.init(start: text.bytes, count: text.bytes == nil ? 0 : text.count)
    }

    @inlinable
    package static func == (text: JSONText, literal: StaticString) -> Bool {
        literal.withUTF8Buffer { $0.count == text.count && $0.elementsEqual(text) }
    }

    func starts(with literal: StaticString) -> Bool { literal.withUTF8Buffer { starts(with: $0) } }
}
