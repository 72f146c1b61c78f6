import NotificationHub
import Testing

@testable import HubEmulator

struct InstallationTests {
    private static let whole = #"""
        {"installationId":"i1","userId":"u1","pushChannel":"AB12","platform":"apns","tags":["World","Sports"],
        "pushVariables":{"lang":"en"},"templates":{"breaking":{"body":"{\"aps\":{\"alert\":\"$(messageParam)\"}}",
        "headers":{"apns-priority":"10"},"expiry":"$(expiry)","tags":["extra"]}}}
        """#

    @Test
    func `an installation is stored, read, and listed as registrations`() throws {
        var test = try TestHub()
        let put = test.call(
            "PUT", "/installations/i1?api-version=2020-06", rule: HubSettings.listenRuleName, body: Self.whole)
        #expect(put.status == 200 && put.body.isEmpty)
        let read = test.call("GET", "/installations/i1?api-version=2020-06", rule: HubSettings.listenRuleName)
        #expect(read.status == 200)
        #expect(read.headers["Content-Type"] == "application/xml; charset=utf-8")
        #expect(
            read.text == #"{"installationId":"i1","userId":"u1","pushChannel":"AB12","pushChannelExpired":false,"#
                + #""platform":"apns","expirationTime":"9999-12-31T23:59:59.9999999Z","tags":["World","Sports"],"#
                + #""pushVariables":{"lang":"en"},"templates":{"breaking":{"body":"{\"aps\":{\"alert\":\"$(messageParam)\"}}","#
                + #""headers":{"apns-priority":"10"},"expiry":"$(expiry)","tags":["breaking","extra"]}}}"#)
        #expect(test.hub.registrationCount == 2)
        let listed = try XMLReader.read(test.call("GET", "/registrations?api-version=2015-01").body)
        let tags = listed.elements.filter { $0.localName == "entry" }
            .compactMap { $0.child("content")?.elements.first?.child("Tags")?.text }
        #expect(
            tags == [
                "$InstallationId:{i1},$UserId:{u1},World,Sports",
                "$InstallationId:{i1},$UserId:{u1},World,Sports,breaking,extra",
            ])
        #expect(test.call("DELETE", "/installations/i1").status == 204)
        #expect(test.call("DELETE", "/installations/i1").status == 204)
        #expect(test.hub.registrationCount == 0)
        let gone = test.call("GET", "/installations/i1")
        #expect(gone.status == 404 && gone.message == "Installation not found")
    }

    private static let patches: [(String, [String], String?)] = [
        (#"[{"op":"add","path":"/tags","value":"Politics"}]"#, ["World", "Sports", "Politics"], nil),
        (#"[{"op":"add","path":"/tags","value":["Politics","world"]}]"#, ["World", "Sports", "Politics"], nil),
        (#"[{"op":"add","path":"/tags","value":"[\"A\",\"B\"]"}]"#, ["World", "Sports", "A", "B"], nil),
        (#"[{"op":"remove","path":"/tags/world"}]"#, ["Sports"], nil),
        (#"[{"op":"remove","path":"/tags/World"},{"op":"remove","path":"/tags/Sports"}]"#, [], nil),
        (#"[{"op":"replace","path":"/tags","value":["X"]}]"#, ["X"], nil),
        (#"[{"op":"replace","path":"/pushChannel","value":"CD34"}]"#, ["World", "Sports"], "CD34"),
        (
            #"[{"op":"add","path":"/userId","value":"u2"},{"op":"remove","path":"/templates/breaking"}]"#,
            ["World", "Sports"], nil
        ),
        (
            #"[{"op":"add","path":"/templates/t2","value":"{\"body\":\"{\\\"a\\\":\\\"$(x)\\\"}\"}"},"#
                + #"{"op":"replace","path":"/templates/t2/body","value":"{}"},{"op":"add","path":"/templates/t2/tags","value":"z"}]"#,
            ["World", "Sports"], nil
        ),
        (#"[{"op":"add","path":"/pushVariables/lang","value":"de"}]"#, ["World", "Sports"], nil),
    ]

    @Test(arguments: patches)
    func `patches change the values they name`(patch: String, tags: [String], channel: String?) throws {
        var test = try TestHub()
        _ = test.call("PUT", "/installations/i1", body: Self.whole)
        let patched = test.call(
            "PATCH", "/installations/i1", headers: ["Content-Type": "application/json-patch+json"], body: patch)
        #expect(patched.status == 200, "\(patched.text)")
        let json = try #require(JSONTree(parsing: test.call("GET", "/installations/i1").body))
        let read = try json["tags"].map { value in
            guard case .array(let values) = value else { throw Refusal.badRequest("tags") }
            return values.compactMap(\.string)
        }
        #expect(read ?? [] == tags)
        #expect((json["tags"] == nil) == tags.isEmpty)
        #expect(json["pushChannel"]?.string == channel ?? "AB12")
    }

    @Test(arguments: [
        "{}", "[1]", #"[{"op":"jump","path":"/tags"}]"#, #"[{"op":"add","path":"tags","value":"x"}]"#,
        #"[{"op":"add","path":"/tags","value":5}]"#, #"[{"op":"add","path":"/tags","value":"$x"}]"#,
        #"[{"op":"remove","path":"/pushChannel"}]"#, #"[{"op":"replace","path":"/platform","value":"nokia"}]"#,
        #"[{"op":"add","path":"/templates/no/body","value":"{}"}]"#,
        #"[{"op":"add","path":"/templates/t","value":"x"}]"#,
        #"[{"op":"add","path":"/nothing","value":"x"}]"#,
        #"[{"op":"replace","path":"/templates","value":null}]"#, #"[{"op":"add","path":"/pushVariables"}]"#,
        #"[{"op":"replace","path":"/userId","value":null}]"#, #"[{"op":"add","path":"/platform"}]"#,
    ])
    func `invalid patches change nothing`(patch: String) throws {
        var test = try TestHub()
        _ = test.call("PUT", "/installations/i1", body: Self.whole)
        let before = test.call("GET", "/installations/i1").text
        #expect(test.call("PATCH", "/installations/i1", body: patch).status == 400)
        #expect(test.call("GET", "/installations/i1").text == before)
    }

    @Test(arguments: [
        #"{"platform":"browser","pushChannel":{"endpoint":"https://p/1","p256dh":"k","auth":"a"}}"#,
        #"{"platform":"browser","pushChannel":"{\"endpoint\":\"https://p/1\",\"p256dh\":\"k\",\"auth\":\"a\"}"}"#,
        #"{"platform":"FCMV1","pushChannel":"f"}"#, #"{"platform":"wns","pushChannel":"u","tags":null}"#,
    ])
    func `platforms and channels are accepted in several spellings`(body: String) throws {
        var test = try TestHub()
        #expect(test.call("PUT", "/installations/x-1", body: body).status == 200)
    }

    @Test(arguments: [
        "", "[]", #"{"platform":"apns"}"#, #"{"platform":"nokia","pushChannel":"AB"}"#,
        #"{"platform":"apns","pushChannel":"AB","tags":"World"}"#,
        #"{"platform":"apns","pushChannel":"AB","tags":["$a"]}"#,
        #"{"platform":"apns","pushChannel":"AB","installationId":"other"}"#,
        #"{"platform":"apns","pushChannel":"AB","expirationTime":"soon"}"#,
        #"{"platform":"apns","pushChannel":"AB","templates":{"t":{"body":"no"}}}"#,
    ])
    func `invalid installations are refused`(body: String) throws {
        var test = try TestHub()
        #expect(test.call("PUT", "/installations/i1", body: body).status == 400)
        #expect(test.hub.registrationCount == 0)
    }

    @Test(arguments: [(100, 200), (101, 400)])
    func `an installation has at most 100 templates`(count: Int, status: Int) throws {
        var test = try TestHub()
        let templates = (1...count).map { #""t\#($0)":{"body":"{}"}"# }.joined(separator: ",")
        let body = #"{"platform":"apns","pushChannel":"AB","templates":{\#(templates)}}"#
        #expect(test.call("PUT", "/installations/i1", body: body).status == status)
        #expect(test.hub.registrationCount == (status == 200 ? count + 1 : 0))
        // The same by patches of one template each.
        _ = test.call("PUT", "/installations/i2", body: #"{"platform":"apns","pushChannel":"CD"}"#)
        let patch = (1...count).map { #"{"op":"add","path":"/templates/t\#($0)","value":{"body":"{}"}}"# }
        #expect(
            test.call("PATCH", "/installations/i2", body: "[\(patch.joined(separator: ","))]").status == status)
    }

    @Test
    func `a patch may add tags beyond the limit if it removes others, and not without end`() throws {
        var test = try TestHub()
        _ = test.call("PUT", "/installations/i1", body: #"{"platform":"apns","pushChannel":"AB","tags":["old"]}"#)
        func add(_ count: Int) -> String {
            let tags = (1...count).map { "\"t\($0)\"" }.joined(separator: ",")
            return #"{"op":"add","path":"/tags","value":[\#(tags)]}"#
        }
        let remove = #"{"op":"remove","path":"/tags/old"}"#
        #expect(test.call("PATCH", "/installations/i1", body: "[\(add(60))]").status == 400)
        #expect(test.call("PATCH", "/installations/i1", body: "[\(add(60)),\(remove)]").status == 200)
        let clear = #"{"op":"remove","path":"/tags"}"#
        #expect(test.call("PATCH", "/installations/i1", body: "[\(add(1000)),\(clear)]").status == 200)
        #expect(test.call("PATCH", "/installations/i1", body: "[\(add(1001)),\(clear)]").status == 400)
    }

    @Test
    func `a change affects routing only after the lag`() throws {
        var test = try TestHub { $0.installationLagMilliseconds = 500 }
        _ = test.call("PUT", "/installations/i1", body: Self.whole)
        #expect(test.hub.registrationCount == 0)
        #expect(test.hub.wakeAt == test.now.advanced(byMilliseconds: 500))
        _ = test.hub.deliver(limit: 10, at: test.now.advanced(byMilliseconds: 500))
        #expect(test.hub.registrationCount == 2)
    }
}
