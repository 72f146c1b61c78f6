import NewsModel
import Testing

/// The values that a pointer finds, as JSON-like texts; `nil` if the text is no pointer.
private func found(_ pointer: String, in json: String, limit: Int = .max) throws -> [String]? {
    guard let pointer = JSONPointer(pointer) else { return nil }
    let parser = JSONParser()
    defer { withExtendedLifetime(parser) {} }
    let bytes = Array(json.utf8)
    let root = try bytes.withUnsafeBufferPointer { bytes throws(Undecodable) in try parser.object(in: bytes) }
    var texts: [String] = []
    try pointer.visit(in: .object(root)) { value throws(Undecodable) in
        switch value {
        case .integer(let number): texts.append("\(number)")
        case .string(let text): texts.append(String(decoding: text, as: UTF8.self))
        case .array(let array): texts.append("[\(array.map { _ in "." }.joined())]")
        case .object: texts.append("{}")
        case .null: texts.append("null")
        case .boolean, .unsigned, .number: texts.append("?")
        }
        return texts.count < limit
    }
    return texts
}

/// The document and the pointers of RFC 6901, section 5.
@Test(
    arguments: [
        ("", "{}"), ("/foo", "[..]"), ("/foo/0", "bar"), ("/", "0"), ("/a~1b", "1"), ("/c%d", "2"), ("/e^f", "3"),
        ("/g|h", "4"), ("/i\\j", "5"), ("/k\"l", "6"), ("/ ", "7"), ("/m~0n", "8"),
    ])
func `a pointer finds the values of RFC 6901`(pointer: String, value: String) throws {
    let json = #"""
        {"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, "k\"l": 6, " ": 7, "m~n": 8}
        """#
    #expect(try found(pointer, in: json) == [value])
}

@Test(
    arguments: [
        "/x", "/list/2", "/list/-", "/list/01", "/list/+1", "/list/99999999999999999999", "/list/name", "/text/0",
        "/text/x", "/object/0/x", "/object/*/x", "/none/x", "/~01",
    ])
func `a pointer into an absent or other place finds nothing`(pointer: String) throws {
    #expect(try found(pointer, in: #"{"list": [1, 2], "text": "abc", "object": {"a": 1}, "none": null}"#) == [])
}

@Test(arguments: ["a", "a/b", "#/a", " /a", "/a~", "/a~2", "/~/b", "*"])
func `a text that is no pointer is refused`(text: String) { #expect(JSONPointer(text) == nil) }

@Test
func `an asterisk stands for every element of an array, in order, and is a name in an object`() throws {
    let json = #"{"authors": [{"id": 1}, {"name": "x"}, {"id": 2, "tags": [3, 4]}, 5], "object": {"*": 6}}"#
    #expect(try found("/authors/*/id", in: json) == ["1", "2"])
    #expect(try found("/authors/*/tags/*", in: json) == ["3", "4"])
    #expect(try found("/authors/*", in: json) == ["{}", "{}", "{}", "5"])
    #expect(try found("/object/*", in: json) == ["6"])
    #expect(try found("/authors/*/id", in: json, limit: 1) == ["1"])
    #expect(JSONPointer("/a/*/b")?.findsSeveral == true)
    #expect(JSONPointer("/a/b")?.findsSeveral == false)
}

@Test
func `a name that is given twice on the way is an error, beside the way it is not`() throws {
    let json = #"{"a": {"b": 1, "b": 2, "c": 3}}"#
    #expect(try found("/a/c", in: json) == ["3"])
    let error = try #require(throws: Undecodable.self) { try found("/a/b", in: json) }
    #expect(error.reason == .duplicateKey)
    #expect(error.detail == "“b” is given more than once")
}
