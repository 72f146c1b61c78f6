import NotificationHub
import Testing

@testable import HubEmulator

/// The claims that a client with the Listen right alone may make about its device.
struct ClaimTests {
    private static let apple = "AppleRegistrationDescription"

    private func installation(
        handle: String = "AB12", tags: String = #""World""#, _ more: String = ""
    ) -> String {
        #"{"installationId":"i1","pushChannel":"\#(handle)","platform":"apns","tags":[\#(tags)]\#(more)}"#
    }

    private func entry(_ tags: String, handle: String = "AB12") -> String {
        """
        <entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml"><\(Self.apple) \
        xmlns="\(RegistrationXML.namespace)"><Tags>\(tags)</Tags><DeviceToken>\(handle)</DeviceToken></\(Self.apple)>\
        </content></entry>
        """
    }

    private static let claims = [
        #""username:anna""#, #""UserName:anna""#, #""World","user_1f2e""#, #""staff""#, #""STAFF""#,
    ]

    @Test(arguments: claims) func `a client may not take a tag that names a user or testers`(tags: String) throws {
        var test = try TestHub { $0.protectsTags = true }
        let refused = test.call(
            "PUT", "/installations/i1", rule: HubSettings.listenRuleName, body: installation(tags: tags))
        #expect(refused.status == 403)
        #expect(refused.message?.contains("A real hub would let it") == true)
        let listed = tags.replacing("\"", with: "")
        for (method, path) in [("POST", "/registrations"), ("PUT", "/registrations/1-2-3")] {
            let reply = test.call(method, path, rule: HubSettings.listenRuleName, body: entry(listed))
            #expect(reply.status == 403)
        }
        #expect(test.hub.registrationCount == 0)
    }

    @Test(arguments: claims) func `a client may take any tag unless the setting forbids it`(tags: String) throws {
        var test = try TestHub()
        let put = test.call(
            "PUT", "/installations/i1", rule: HubSettings.listenRuleName, body: installation(tags: tags))
        #expect(put.status == 200)
    }

    @Test(arguments: [
        #","userId":"anna""#, #","templates":{"user_1f2e":{"body":"{}"}}"#,
        #","templates":{"t":{"body":"{}","tags":["staff"]}}"#,
    ])
    func `a client may not set a user, nor a template whose name or tag is protected`(more: String) throws {
        var test = try TestHub { $0.protectsTags = true }
        let refused = test.call(
            "PUT", "/installations/i1", rule: HubSettings.listenRuleName, body: installation(more))
        #expect(refused.status == 403)
        #expect(test.call("PUT", "/installations/i1", body: installation(more)).status == 200)
    }

    private func installation(_ more: String) -> String { installation(tags: #""World""#, more) }

    @Test(arguments: [
        #"[{"op":"add","path":"/tags","value":"username:ben"}]"#, #"[{"op":"add","path":"/userId","value":"ben"}]"#,
        #"[{"op":"add","path":"/pushChannel","value":"CD34"}]"#,
        #"[{"op":"add","path":"/templates/user_2","value":{"body":"{}"}}]"#,
    ])
    func `a patch adds no protected value, and moves none to another device`(patch: String) throws {
        var test = try TestHub { $0.protectsTags = true }
        let known = installation(tags: #""username:anna""#, #","userId":"anna""#)
        #expect(test.call("PUT", "/installations/i1", body: known).status == 200)
        #expect(
            test.call("PATCH", "/installations/i1", rule: HubSettings.listenRuleName, body: patch).status == 403)
        #expect(test.call("PATCH", "/installations/i1", body: patch).status == 200)
    }

    @Test func `values set by a back end stay while the client changes others`() throws {
        var test = try TestHub { $0.protectsTags = true }
        let known = installation(tags: #""username:anna","World""#, #","userId":"anna""#)
        _ = test.call("PUT", "/installations/i1", body: known)
        let patch = #"[{"op":"add","path":"/tags","value":"Sports"}]"#
        #expect(test.call("PATCH", "/installations/i1", rule: HubSettings.listenRuleName, body: patch).status == 200)
        let again = installation(tags: #""username:anna","Sports""#, #","userId":"anna""#)
        #expect(test.call("PUT", "/installations/i1", rule: HubSettings.listenRuleName, body: again).status == 200)
        _ = test.call("PUT", "/registrations/1-2-3", body: entry("username:anna"))
        let same = test.call(
            "PUT", "/registrations/1-2-3", rule: HubSettings.listenRuleName, body: entry("username:anna,World"))
        #expect(same.status == 200)
        let other = test.call(
            "PUT", "/registrations/1-2-3", rule: HubSettings.listenRuleName,
            body: entry("username:anna", handle: "CD34"))
        #expect(other.status == 403)
    }

    private func tags(_ test: inout TestHub) -> [String] {
        guard case .array(let tags)? = JSONTree(parsing: test.call("GET", "/installations/i1").body)?["tags"] else {
            return []
        }
        return tags.compactMap(\.string).sorted()
    }

    @Test func `an app that registers again keeps what a back end has assigned`() throws {
        var test = try TestHub { $0.protectsTags = true }
        let listen = HubSettings.listenRuleName
        let template = #"{"body":"{\"aps\":{}}","tags":["World","staff"]}"#
        let known = installation(
            tags: #""username:anna","World","STAFF""#,
            #","userId":"anna","templates":{"t":\#(template),"user_1f2e":{"body":"{\"aps\":{}}"}}"#)
        #expect(test.call("PUT", "/installations/i1", body: known).status == 200)
        let again = installation(tags: #""Sports""#, #","templates":{"t":{"body":"{\"aps\":{}}"}}"#)
        for (method, body) in [
            ("PUT", again), ("PATCH", #"[{"op":"replace","path":"/tags","value":["Sports"]}]"#),
            ("PATCH", #"[{"op":"remove","path":"/tags"},{"op":"add","path":"/tags/Sports"}]"#),
        ] {
            #expect(test.call(method, "/installations/i1", rule: listen, body: body).status == 200)
            #expect(tags(&test) == ["STAFF", "Sports", "username:anna"])
            let kept = JSONTree(parsing: test.call("GET", "/installations/i1").body)
            #expect(kept?["userId"]?.string == "anna")
            #expect(kept?["templates"]?["t"]?["tags"] == .array([.string("t"), .string("staff")]))
            #expect(kept?["templates"]?["user_1f2e"]?["body"] != nil)
        }
        let send = test.send(#"{"aps":{}}"#, format: "apple", tags: "username:anna && Sports")
        #expect(send.status == 201)
        #expect(test.hub.deliver(limit: 10, at: test.now).map(\.handle) == ["AB12"])

        _ = test.call("PUT", "/registrations/1-2-3", body: entry("username:anna,World"))
        #expect(test.call("PUT", "/registrations/1-2-3", rule: listen, body: entry("Sports")).status == 200)
        #expect(test.call("GET", "/registrations/1-2-3").text.contains("<Tags>Sports,username:anna</Tags>"))
    }

    @Test func `removed values, values replaced by a back end and another device's tags are not kept`()
        throws
    {
        var test = try TestHub { $0.protectsTags = true }
        let listen = HubSettings.listenRuleName
        let known = installation(tags: #""username:anna","staff","World""#, #","userId":"anna""#)
        _ = test.call("PUT", "/installations/i1", body: known)
        let patch = #"[{"op":"remove","path":"/tags/username:anna"},{"op":"remove","path":"/userId"}]"#
        #expect(test.call("PATCH", "/installations/i1", rule: listen, body: patch).status == 200)
        #expect(tags(&test) == ["World", "staff"])
        let left = test.call("GET", "/installations/i1").text
        #expect(!left.contains("userId"))
        _ = test.call("PUT", "/installations/i1", rule: listen, body: installation(handle: "CD34"))
        #expect(tags(&test) == ["World"])
        _ = test.call("PUT", "/installations/i1", body: known)
        _ = test.call("PUT", "/installations/i1", body: installation(tags: #""World""#))
        #expect(tags(&test) == ["World"])
        _ = test.call("PUT", "/registrations/1-2-3", body: entry("username:anna"))
        _ = test.call("PUT", "/registrations/1-2-3", rule: listen, body: entry("World", handle: "CD34"))
        #expect(test.call("GET", "/registrations/1-2-3").text.contains("<Tags>World</Tags>"))
    }

    @Test func `a send to a user or an installation reaches their devices and no other`() throws {
        var test = try TestHub()
        for (id, user, handle) in [
            ("i1", "anna", "A1"), ("i2", "anna", "A2"), ("i3", "ben", "B1"), ("i4", "ben", "B2"),
        ] {
            let body = """
                {"installationId":"\(id)","userId":"\(user)","pushChannel":"\(handle)","platform":"apns","tags":[]}
                """
            #expect(test.call("PUT", "/installations/\(id)", body: body).status == 200)
        }
        func reached(_ tags: String) -> [String] {
            let before = test.hub.delivered.total
            let alert = #"{"aps":{"alert":"h"}}"#
            #expect(test.send(alert, format: "apple", tags: tags, contentType: "application/json").status == 201)
            while !test.hub.deliver(limit: 100, at: test.now).isEmpty {}
            return test.hub.delivered.entries(after: before, limit: 100).map(\.entry.handle).sorted()
        }
        #expect(reached("$UserId:{anna}") == ["A1", "A2"])
        #expect(reached("$UserId:{ben} || $UserId:{nobody}") == ["B1", "B2"])
        #expect(reached("$UserId:{anna} && !$InstallationId:{i1}") == ["A2"])
        #expect(reached("$InstallationId:{i3} || $InstallationId:{i2}") == ["A2", "B1"])
        #expect(reached("$UserId:{ann}") == [])
    }
}
