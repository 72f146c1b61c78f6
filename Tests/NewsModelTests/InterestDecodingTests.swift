import NewsModel
import Testing

struct InterestDecodingTests {
    private func decode(_ json: String, _ sources: [InterestSource] = []) throws -> NewsEvent {
        try NewsDecoder(formats: EventFormats(interests: sources)).decode(
            SourceRecord(offset: 0, value: Array(json.utf8)))
    }

    private func source(_ pointer: String) throws -> InterestSource {
        InterestSource(kind: "author", pointer: try #require(JSONPointer(pointer)))
    }

    private func interests(_ more: String, from pointer: String? = nil) throws -> [String] {
        let sources = try pointer.map { [try source($0)] } ?? []
        return try decode(#"{"id":"1","headline":"h",\#(more)}"#, sources).interests
    }

    @Test func `the event's own interests are kept as written`() throws {
        #expect(try interests(#""interests":["team:bvb"," ","bvb","team:a b"]"#) == ["team:bvb", "bvb", "team:a b"])
        #expect(try interests(#""interests":null"#) == [])
        #expect(try decode(#"{"uri":"u","headline":"h","interests":["team:bvb"]}"#).interests == ["team:bvb"])
    }

    @Test(arguments: [#""team:bvb""#, "[4711]", "[null]", #"{"team":"bvb"}"#])
    func `interests that are no list of texts are refused`(value: String) {
        #expect { try interests(#""interests":\#(value)"#) } throws: { ($0 as? Undecodable)?.reason == .wrongType }
    }

    @Test func `an event has at most 128 interests`() throws {
        func list(_ count: Int) -> String { (1...count).map { "\"team:\($0)\"" }.joined(separator: ",") }
        #expect(try interests("\"interests\":[\(list(128))]").count == 128)
        #expect { try interests("\"interests\":[\(list(129))]") } throws: { ($0 as? Undecodable)?.reason == .tooMany }
    }

    @Test func `a long interest is cut to its limit`() throws {
        let long = String(repeating: "x", count: 100_000)
        #expect(try interests(#""interests":["team:\#(long)"]"#).map(\.utf8.count) == [EventLimits.interest])
    }

    @Test func `an event with interests is written and read back`() throws {
        let event = NewsEvent(id: "1", headline: "h", interests: ["team:bvb", "author:4711"])
        var bytes: [UInt8] = []
        event.encode(into: &bytes)
        #expect(try decode(String(decoding: bytes, as: UTF8.self)) == event)
    }

    @Test func `a recall keeps them, and no error in them stops it`() throws {
        let recall = #"{"id":"1","status":"canceled","interests":["team:bvb"]}"#
        #expect(try decode(recall).interests == ["team:bvb"])
        let broken = #"{"id":"1","status":"canceled","interests":"team:bvb","authors":[{"id":1,"id":2}]}"#
        #expect(try decode(broken, [try source("/authors/*/id")]).status == .canceled)
    }

    // MARK: From the document

    @Test(arguments: [
        ("/authors/*/id", ["author:4711", "author:b"]), ("/authors/0/id", ["author:4711"]), ("/authors/*/none", []),
        ("/names", ["author:anna", "author:ben"]), ("/names/*", ["author:anna", "author:ben"]),
        ("/authors", ["author:{…}"]), ("/blank", []), ("/nested", ["author:[…]"]),
    ])
    func `a pointer finds the ids of a kind`(pointer: String, found: [String]) throws {
        let document =
            #""authors":[{"id":4711},{"id":"b"},{"id":null},{"id":"b"}],"names":["anna","ben"],"blank":" ","nested":[["x"]]"#
        #expect(try interests(document, from: pointer) == found)
        #expect(
            try interests(#""interests":["team:bvb","author:b"],"# + document, from: "/authors/*/id")
                == ["team:bvb", "author:b", "author:4711"], "own interests of the kind count too")
    }

    @Test func `beyond the limit one mark stands for the rest`() throws {
        let ids = (1...300).map(String.init).joined(separator: ",")
        let found = try interests(#""ids":[\#(ids)]"#, from: "/ids")
        #expect(found.count == EventLimits.interests + 1 && found.last == "author:…")
    }

    @Test func `a name given twice on the way is an error that names the setting`() throws {
        #expect { try interests(#""a":{"b":1,"b":2}"#, from: "/a/b") } throws: { error in
            let undecodable = error as? Undecodable
            return undecodable?.reason == .duplicateKey
                && undecodable?.detail.hasPrefix("interests.author.from: ") == true
        }
    }

    @Test(arguments: [
        #"{"specversion":"1.0","id":"c","type":"t","source":"s","data":{"id":"1","headline":"h","authors":["4711"]}}"#,
        #"{"specversion":"1.0","id":"c","type":"t","source":"s","data":"{\"id\":\"1\",\"headline\":\"h\",\"authors\":[\"4711\"]}"}"#,
        #"{"uri":"u","headline":"h","authors":["4711"]}"#,
    ])
    func `the pointer begins at the news document, whatever its format`(json: String) throws {
        #expect(try decode(json, [try source("/authors")]).interests == ["author:4711"])
    }

    @Test func `a newsroom's own format maps interests, and has its own places for others`() throws {
        let format = EventFormat(
            name: "cms", condition: EventFormat.Condition(),
            members: [
                MappedMember(.id, [MemberSource(pointers: [try #require(JSONPointer("/key"))])]),
                MappedMember(.headline, [MemberSource(pointers: [try #require(JSONPointer("/title"))])]),
                MappedMember(.interests, [MemberSource(pointers: [try #require(JSONPointer("/tags"))])]),
            ])
        let decoder = NewsDecoder(formats: EventFormats([format], interests: [try source("/by/*/id")]))
        let json = #"{"key":"1","title":"h","tags":["team:bvb"],"by":[{"id":4711}]}"#
        let event = try decoder.decode(SourceRecord(offset: 0, value: Array(json.utf8)))
        #expect(event.interests == ["team:bvb", "author:4711"])
    }
}
