/// Looks up an object's members one by one, for rare records and tools. A null member counts as absent. Holds views
/// into the parser's memory, which must outlive them.
package struct JSONFields {
    private let object: JSONObject

    package init(_ object: JSONObject) { self.object = object }

    /// - Throws: the reason why the bytes are not one JSON object.
    package init(_ bytes: [UInt8], _ parser: JSONParser) throws(Undecodable) {
        object = try bytes.withUnsafeBufferPointer { bytes throws(Undecodable) in try parser.object(in: bytes) }
    }

    private func value(_ name: StaticString) -> JSONValue? {
        for member in object where member.name == name {
            if case .null = member.value { return nil }
            return member.value
        }
        return nil
    }

    package func required<Value>(_ name: StaticString, _ value: Value?) throws(Undecodable) -> Value {
        guard let value else { throw Undecodable(.wrongType, "\(name) is missing") }
        return value
    }

    package func string(_ name: StaticString) throws(Undecodable) -> String? {
        guard let value = value(name) else { return nil }
        guard case .string(let text) = value else { throw .wrongType("\(name)", wanted: "a string", found: value) }
        return String(decoding: text, as: UTF8.self)
    }

    package func strings(_ name: StaticString) throws(Undecodable) -> [String] {
        guard let value = value(name) else { return [] }
        guard case .array(let array) = value else { throw .wrongType("\(name)", wanted: "an array", found: value) }
        var strings: [String] = []
        for element in array {
            guard case .string(let text) = element else {
                throw .wrongType("a member of \(name)", wanted: "a string", found: element)
            }
            strings.append(String(decoding: text, as: UTF8.self))
        }
        return strings
    }

    package func word<Word: RawRepresentable<String>>(_ name: StaticString) throws(Undecodable) -> Word? {
        guard let text = try string(name) else { return nil }
        if let word = Word(rawValue: text) { return word }
        throw Undecodable(.unknownWord, "\(name) has a value that is not known: \(text.prefix(40))")
    }

    package func integer<Integer: FixedWidthInteger>(_ name: StaticString) throws(Undecodable) -> Integer? {
        guard let value = value(name) else { return nil }
        guard case .integer(let number) = value, let integer = Integer(exactly: number) else {
            throw .wrongType("\(name)", wanted: "a whole number that fits", found: value)
        }
        return integer
    }

    package func flag(_ name: StaticString) throws(Undecodable) -> Bool? {
        guard let value = value(name) else { return nil }
        guard case .boolean(let flag) = value else {
            throw .wrongType("\(name)", wanted: "true or false", found: value)
        }
        return flag
    }

    package func instant(_ name: StaticString) throws(Undecodable) -> Instant? {
        guard let text = try string(name) else { return nil }
        if let instant = Instant(rfc3339: text) { return instant }
        throw Undecodable(.badDate, "\(name) must be an RFC 3339 date and time")
    }

    package func duration(_ name: StaticString) throws(Undecodable) -> Duration? {
        guard let value = value(name) else { return nil }
        let milliseconds: Double
        switch value {
        case .integer(let number): milliseconds = Double(number)
        case .number(let number): milliseconds = number
        default: throw .wrongType("\(name)", wanted: "a number", found: value)
        }
        // The writer uses at most three decimals, so the nearest microsecond is exact.
        guard let microseconds = Int64(exactly: (milliseconds * 1_000).rounded()) else {
            throw .wrongType("\(name)", wanted: "a number of milliseconds", found: value)
        }
        return .microseconds(microseconds)
    }

    package func object(_ name: StaticString) throws(Undecodable) -> JSONFields? {
        guard let value = value(name) else { return nil }
        guard case .object(let object) = value else { throw .wrongType("\(name)", wanted: "an object", found: value) }
        return JSONFields(object)
    }

    package func objects(_ name: StaticString) throws(Undecodable) -> [JSONFields] {
        guard let value = value(name) else { return [] }
        guard case .array(let array) = value else { throw .wrongType("\(name)", wanted: "an array", found: value) }
        var objects: [JSONFields] = []
        for element in array {
            guard case .object(let object) = element else {
                throw .wrongType("a member of \(name)", wanted: "an object", found: element)
            }
            objects.append(JSONFields(object))
        }
        return objects
    }

    // MARK: Members whose names are data

    /// All members, each an object, in order.
    package func objects() throws(Undecodable) -> [(name: String, fields: JSONFields)] {
        var members: [(name: String, fields: JSONFields)] = []
        for member in object {
            guard case .object(let object) = member.value else {
                throw .wrongType("a member", wanted: "an object", found: member.value)
            }
            members.append((String(decoding: member.name, as: UTF8.self), JSONFields(object)))
        }
        return members
    }

    /// All members, each a whole number from 0, in order.
    package func integers(upTo most: Int64) throws(Undecodable) -> [(name: String, value: Int64)] {
        var members: [(name: String, value: Int64)] = []
        for member in object {
            guard case .integer(let number) = member.value, (0...most).contains(number) else {
                throw .wrongType("a count", wanted: "a whole number from 0 that fits", found: member.value)
            }
            members.append((String(decoding: member.name, as: UTF8.self), number))
        }
        return members
    }
}
