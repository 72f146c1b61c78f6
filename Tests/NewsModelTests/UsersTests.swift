import NewsModel
import Testing

/// News for single readers must never become news for all.
struct UsersTests {
    private static let few = #"["anna","ben"]"#

    @Test func `an event names the only readers that it is for, and reads back as it was`() throws {
        let event = try decode(#"{"id":"a","headline":"b","category":"World","users":["anna","Bén/ 7"]}"#)
        #expect(event.users == ["anna", "Bén/ 7"])
        #expect(event.categories == ["World"])
        var bytes: [UInt8] = []
        event.encode(into: &bytes)
        #expect(try decode(bytes) == event)
    }

    @Test(arguments: ["", #","users":null"#]) func `without the field it is for everybody`(more: String) throws {
        #expect(try decode(#"{"id":"a","headline":"b"\#(more)}"#).users == [])
    }

    @Test(arguments: [
        ("[]", "is empty"), (#""anna""#, "must be an array of user ids; it is a string"), ("{}", "it is an object"),
        ("false", "it is a boolean"), ("7", "it is a number"), (#"["anna",7]"#, "member 2 of users must be a string"),
        (#"["anna",null]"#, "member 2 of users must be a string"), (#"[""]"#, "member 1 of users is blank"),
        (#"["anna"," \t"]"#, "member 2 of users is blank"), (#"["secret\u0000"]"#, "contains a control character"),
        ("[" + (1...21).map { "\"secret-\($0)\"" }.joined(separator: ",") + "]", "more than 20"),
        ("[\"secret" + String(repeating: "x", count: 251) + "\"]", "257 bytes"),
    ])
    func `an invalid list of users is refused without quoting an id`(users: String, detail: String) throws {
        let formats = [
            #"{"id":"a","headline":"b","category":"World","users":\#(users)}"#,
            #"{"uri":"a","headline":"b","subject":[{"code":"medtop:15000000"}],"users":\#(users)}"#,
            #"{"specversion":"1.0","type":"t","source":"s","id":"a","data":{"headline":"b","users":\#(users)}}"#,
        ]
        for text in formats {
            let refused = try refusal(Array(text.utf8))
            #expect(refused.reason == .badUsers)
            #expect(refused.detail.contains(detail), "\(refused.detail)")
            #expect(!refused.detail.contains("secret") && !refused.detail.contains("anna"))
            #expect(refused.eventID == "a")
        }
    }

    @Test func `a users list given twice is refused`() throws {
        let refused = try refusal(Array(#"{"id":"a","headline":"b","users":\#(Self.few),"users":["c"]}"#.utf8))
        #expect(refused.reason == .duplicateKey)
    }

    @Test func `twenty readers of 256 bytes are accepted`() throws {
        let users = (10..<30).map { "\($0)" + String(repeating: "x", count: 254) }
        let list = users.map { "\"\($0)\"" }.joined(separator: ",")
        #expect(try decode(#"{"id":"a","headline":"b","users":[\#(list)]}"#).users == users)
    }

    @Test func `an agency's document may name readers too`() throws {
        #expect(try decode(#"{"uri":"a","headline":"b","users":\#(Self.few)}"#).users == ["anna", "ben"])
    }

    @Test func `a recall counts whatever readers it names`() throws {
        #expect(try decode(#"{"id":"a","status":"canceled","users":[]}"#).status == .canceled)
    }
}
