import NewsModel
import Testing

/// A typing error in a narrowing field's name must not widen the audience.
struct NearNamesTests {
    private func document(_ name: String, _ value: String = #"["anna"]"#, status: String = "usable") -> [UInt8] {
        Array(#"{"id":"a","headline":"b","category":"World","status":"\#(status)","\#(name)":\#(value)}"#.utf8)
    }

    @Test(arguments: [
        ("Users", "users"), ("USERS", "users"), ("user", "users"), ("users ", "users"), (" users", "users"),
        ("user_ids", "users"), ("usres", "users"), ("uses", "users"), ("us\u{200B}ers", "users"),
        ("u-s-e-r-s", "users"),
        ("Test", "test"), ("TEST", "test"), ("test ", "test"), ("isTest", "test"), ("is_test", "test"),
        ("tests", "test"),
        ("Environment", "environment"), ("enviroment", "environment"), ("enviornment", "environment"),
        ("env", "environment"), ("Status", "status"), ("STATUS ", "status"), ("PubStatus", "status"),
        ("embargo", "embargoUntil"), ("embargo_until", "embargoUntil"), ("embargountil", "embargoUntil"),
        ("EmbargoUntill", "embargoUntil"), ("embargoed", "embargoUntil"), ("embargoedUntil", "embargoUntil"),
        ("tset", "test"), ("testing", "test"), ("test?", "test"), ("@test", "test"), ("stauts", "status"),
        ("environnement", "environment"), ("users[]", "users"), ("$users", "users"), ("x_users", "users"),
        ("nw-users", "users"), ("X-Test", "test"), ("nw-environment", "environment"), ("ce-status", "status"),
        ("ｕｓｅｒｓ", "users"), ("ＵＳＥＲＳ", "users"), ("ｔest", "test"),
    ])
    func `a name that is nearly one of these is refused, with the one that was meant`(name: String, meant: String)
        throws
    {
        let refused = try refusal(document(name))
        #expect(refused.reason == .nearName)
        #expect(refused.detail.contains("\(meant) was probably meant"), "\(refused.detail)")
        #expect(!refused.detail.contains("anna"))
        #expect(refused.eventID == "a")
    }

    @Test(arguments: [
        "text", "stats", "state", "used", "usage", "uid", "url", "urls", "title", "tests2go", "_status", "@status",
        "tested", "testimony", "contest", "latest", "ushers", "xstatus", "x_state", "ce_type", "nw-source", "ｔｅｘｔ",
        "updated", "source", "editor", "entities", "embed", "extent", "team", "rest", "best", "", " ", "é",
        "environmental",
    ])
    func `other unknown names are ignored`(name: String) throws {
        #expect(try decode(document(name)).id == "a")
    }

    @Test func `null counts as absent, false says no to tests and embargoes, and names in data are free`() throws {
        #expect(try decode(document("Users", "null")).users == [])
        for name in ["isTest", "testing", "embargo", "embargoed"] {
            #expect(try decode(document(name, "false")).id == "a")
        }
        #expect(try refusal(document("Users", "false")).reason == .nearName)
        #expect(try decode(document("data", #"{"Users":"x","Test":"y"}"#)).data.count == 2)
    }

    @Test(arguments: ["users", "test", "environment", "status", "embargoUntil", "embargountil", "Users", "user"])
    func `a field beside the data of a CloudEvent is refused`(name: String) throws {
        let text =
            #"{"specversion":"1.0","type":"t","source":"s","id":"a","\#(name)":"x","data":{"id":"a","headline":"b"}}"#
        let refused = try refusal(Array(text.utf8))
        #expect(refused.reason == .nearName)
        #expect(refused.detail.contains("outside the data of the CloudEvent"))
        #expect(refused.eventID == "a")
    }

    @Test(arguments: ["ce_users", "ce_test", "ce_environment", "ce_status", "ce_embargountil", "ce_user"])
    func `a field in a header of a CloudEvent is refused`(name: String) throws {
        for more in [[], [RecordHeader("ce_specversion", "1.0"), RecordHeader("ce_id", "a")]] {
            let refused = #expect(throws: Undecodable.self) {
                try decode(#"{"id":"a","headline":"b"}"#, headers: more + [RecordHeader(name, "x")])
            }
            #expect(refused?.reason == .nearName)
            #expect(refused?.eventID == "a")
        }
        let others = ["ce_type", "ce_source", "ce_subject", "ce_time", "ce_traceparent", "ce_"]
        let headers = others.map { RecordHeader($0, $0 == "ce_time" ? "2026-11-21T01:02:03Z" : "x") }
        #expect(try decode(#"{"id":"a","headline":"b"}"#, headers: headers).id == "a")
    }

    @Test(arguments: [
        "nw_environment", "nw-Environment_", "ce-test", "ce_users", "nw-test", "nw-users", "nw-status",
    ])
    func `a field in a header that has no effect is refused`(name: String) throws {
        let refused = #expect(throws: Undecodable.self) {
            try decode(#"{"id":"a","headline":"b"}"#, headers: [RecordHeader(name, "x")])
        }
        #expect(refused?.reason == .nearName)
        #expect(refused?.detail.contains("the header \(name) ") == true)
        let recall = #"{"id":"a","status":"canceled"}"#
        let limitsRecalls = ["test", "environment"].contains { name.lowercased().contains($0) }
        let isRefused = (try? decode(recall, headers: [RecordHeader(name, "x")])) == nil
        #expect(isRefused == limitsRecalls)
    }

    @Test func `headers of other programs and our own are ignored`() throws {
        let names = [
            "status", "user", "users", "test", "environment", "x-environment", "embargoUntil", "user-id", "tests",
            "env", "x-request-id", "traceparent", "nw-source", "nw-story",
            "nw-truncated", "nw-identity", "NW-Environment", "content-type",
        ]
        let headers = names.map { RecordHeader($0, "x") }
        #expect(try decode(#"{"id":"a","headline":"b"}"#, headers: headers).environment == "x")
    }

    @Test func `an agency's document is checked for the same names`() throws {
        for name in ["Users", "user", "Test", "Environment", "embargoUntil"] {
            let text = #"{"uri":"a","headline":"b","pubstatus":"usable","\#(name)":"x"}"#
            #expect(try refusal(Array(text.utf8)).reason == .nearName, "\(name)")
        }
        #expect(try refusal(Array(#"{"uri":"a","headline":"b","status":"canceled"}"#.utf8)).reason == .nearName)
        #expect(try decode(#"{"uri":"a","headline":"b","status":"published"}"#).id == "a")
    }

    @Test func `a recall fails only for names that limit where it counts`() throws {
        for name in ["Users", "embargo", "Status"] {
            #expect(try decode(document(name, status: "canceled")).status == .canceled, "\(name)")
        }
        for name in ["Test", "Environment"] {
            #expect(try refusal(document(name, status: "canceled")).reason == .nearName, "\(name)")
        }
        let both = #"{"id":"a","status":"canceled","Users":[],"Test":true}"#
        #expect(try refusal(Array(both.utf8)).reason == .nearName)
    }
}
