import NotificationHub
import TestSupport
import Testing

@testable import HubEmulator

/// A namespace with one hub and a client.
struct TestNamespace {
    static let root = AccessKey("root")

    var namespace: EmulatedNamespace
    var now = TestHub.start

    init(_ configure: (inout HubSettings) -> Void = { _ in }) throws {
        let hub = try TestHub { settings in
            settings.namespaceRules = [
                AccessRule(
                    name: EmulatedNamespace.ruleName, primaryKey: Self.root, rights: [.listen, .send, .manage])
            ]
            configure(&settings)
        }.hub
        let description = HubDescription(rules: hub.settings.rules, at: TestHub.start)
        namespace = EmulatedNamespace(first: hub, description) { AccessKey("made") }
    }

    /// Makes a call with the namespace's key unless another one is given.
    mutating func call(
        _ method: String, _ target: String, rule: String = EmulatedNamespace.ruleName, key: AccessKey = root,
        headers: HubHeaders = [:], body: String = ""
    ) -> HubHTTPResponse {
        var fields = headers
        fields.append("Host", "news.example")
        fields.append("Authorization", TestHub.token(rule: rule, key: key))
        return namespace.handle(
            HubHTTPRequest(method: method, target: target, headers: fields, body: Array(body.utf8)), at: now)
    }
}

struct NamespaceTests {
    private static func entry(_ inner: String = "") -> String {
        """
        <entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml"><NotificationHubDescription \
        xmlns:i="http://www.w3.org/2001/XMLSchema-instance" \
        xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect">\(inner)\
        </NotificationHubDescription></content></entry>
        """
    }

    private static let version = "?api-version=2017-04"

    private func titles(_ reply: HubHTTPResponse) throws -> [String?] {
        try XMLReader.read(reply.body).elements.filter { $0.localName == "entry" }.map { $0.child("title")?.text }
    }

    @Test
    func `a hub is made, listed, used with its own keys, and deleted`() throws {
        var test = try TestNamespace()
        let made = test.call("PUT", "/sports" + Self.version, body: Self.entry())
        #expect(made.status == 201, "\(made.text)")
        #expect(made.headers["Content-Type"] == "application/atom+xml; type=entry; charset=utf-8")
        #expect(try titles(test.call("GET", "/")) == ["BreakingNews", "sports"])

        let read = try XMLReader.read(test.call("GET", "/Sports" + Self.version).body)
        let rules = read.child("content")?.elements.first?.child("AuthorizationRules")?.elements ?? []
        #expect(rules.map { $0.child("KeyName")?.text } == [HubSettings.listenRuleName, HubSettings.fullRuleName])
        #expect(rules.map { $0.child("Rights")?.elements.map(\.text) } == [["Listen"], ["Listen", "Manage", "Send"]])
        #expect(rules.allSatisfy { $0.child("PrimaryKey")?.text == "made" && $0.attribute("type") != nil })

        let made2 = AccessKey("made")
        let id = "/sports/registrations/1-2-3"
        #expect(
            test.call(
                "PUT", id, rule: HubSettings.listenRuleName, key: made2, body: WireTable.apple
            ).status == 200)
        // Each hub has its own keys and registrations. The namespace's key opens all hubs.
        #expect(test.call("GET", id, rule: HubSettings.fullRuleName, key: TestHub.key).status == 401)
        #expect(test.call("GET", id).status == 200)
        #expect(test.call("GET", "/BreakingNews/registrations/1-2-3").status == 404)
        #expect(test.call("POST", "/sports/messages", headers: WireTable.alert, body: "{}").status == 201)
        let delivered = test.namespace.deliver(limit: 10, at: test.now)
        #expect(delivered.map(\.hub.text) == ["sports"] && delivered.flatMap(\.deliveries).map(\.handle) == ["AB"])

        let deleted = test.call("DELETE", "/sports" + Self.version)
        #expect(deleted.status == 200 && deleted.body.isEmpty && deleted.headers["Content-Type"] == nil)
        #expect(try titles(test.call("GET", "/")) == ["BreakingNews"])
        #expect(test.call("GET", id).status == 404)
    }

    @Test
    func `a description is answered as in recordings of the service`() throws {
        var test = try TestNamespace()
        test.now = HubTime(milliseconds: 1_541_549_917_134)
        let made = test.call(
            "PUT", "/sports" + Self.version, body: Self.entry("<RegistrationTtl>P90D</RegistrationTtl>"))
        let url = "http://news.example/sports?api-version=2017-04"
        let rule = { (rights: String, name: String) in
            "<AuthorizationRule i:type=\"SharedAccessAuthorizationRule\"><ClaimType>SharedAccessKey</ClaimType>"
                + "<ClaimValue>None</ClaimValue><Rights>\(rights)</Rights>"
                + "<CreatedTime>2018-11-07T00:18:37.1340000Z</CreatedTime>"
                + "<ModifiedTime>2018-11-07T00:18:37.1340000Z</ModifiedTime><KeyName>\(name)</KeyName>"
                + "<PrimaryKey>made</PrimaryKey><SecondaryKey>made</SecondaryKey></AuthorizationRule>"
        }
        let right = { (name: String) in "<AccessRights>\(name)</AccessRights>" }
        #expect(
            made.text == """
                <entry xmlns="http://www.w3.org/2005/Atom"><id>\(url)</id><title type="text">sports</title>\
                <published>2018-11-07T00:18:37Z</published><updated>2018-11-07T00:18:37Z</updated>\
                <author><name>news</name></author><link rel="self" href="\(url)"/><content type="application/xml">\
                <NotificationHubDescription xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect" \
                xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><RegistrationTtl>P90D</RegistrationTtl>\
                <AuthorizationRules>\(rule(right("Listen"), "DefaultListenSharedAccessSignature"))\
                \(rule(right("Listen") + right("Manage") + right("Send"), "DefaultFullSharedAccessSignature"))\
                </AuthorizationRules></NotificationHubDescription></content></entry>
                """)
    }

    @Test
    func `calls for missing and for existing hubs are answered as recorded`() throws {
        var test = try TestNamespace()
        let missing = test.call("GET", "/none" + Self.version)
        #expect(missing.status == 200 && missing.headers["Content-Type"]?.contains("type=feed") == true)
        #expect(try titles(missing).isEmpty)
        let deleted = test.call("DELETE", "/none" + Self.version)
        #expect(deleted.status == 404 && deleted.message == "No service is hosted at the specified address")
        let conflict = test.call("PUT", "/breakingnews" + Self.version, body: Self.entry())
        #expect(conflict.status == 409 && conflict.message == "SubCode=40900. Conflict")
        #expect(test.call("PUT", "/none", headers: ["If-Match": "*"], body: Self.entry()).status == 404)
        for (name, status) in [("a%20b", 400), ("_storage", 400), ("%2e%2e", 401)] {
            #expect(test.call("PUT", "/\(name)", body: Self.entry()).status == status)
        }
        #expect(test.call("POST", "/sports", body: Self.entry()).status == 405)
        #expect(test.call("PUT", "/sports", body: "<entry/>").status == 400)
        #expect(test.call("PUT", "/sports?api-version=2031-01", body: Self.entry()).status == 400)
        #expect(test.namespace.hubNames.count == 1)
    }

    private static let rights: [(String, String, String, AccessKey, Int)] = [
        ("GET", "/", EmulatedNamespace.ruleName, TestNamespace.root, 200),
        ("GET", "/", HubSettings.fullRuleName, TestHub.key, 401),
        ("GET", "/$Resources/NotificationHubs", EmulatedNamespace.ruleName, TestNamespace.root, 200),
        ("GET", "/$Resources/NotificationHubs", HubSettings.fullRuleName, TestHub.key, 401),
        ("PUT", "/sports", EmulatedNamespace.ruleName, AccessKey("wrong"), 401),
        ("PUT", "/sports", HubSettings.fullRuleName, TestHub.key, 401),
        // A hub's own Manage right suffices for that hub.
        ("GET", "/BreakingNews", HubSettings.fullRuleName, TestHub.key, 200),
        ("GET", "/BreakingNews", "ManageOnly", TestHub.key, 200),
        ("GET", "/BreakingNews", "SendOnly", TestHub.key, 401),
        ("DELETE", "/BreakingNews", HubSettings.listenRuleName, TestHub.key, 401),
    ]

    @Test(arguments: rights)
    func `calls about hubs need Manage`(
        method: String, path: String, rule: String, key: AccessKey, status: Int
    ) throws {
        var test = try TestNamespace()
        let reply = test.call(method, path, rule: rule, key: key, body: Self.entry())
        #expect(reply.status == status, "\(reply.text)")
    }

    @Test
    func `an update replaces rules and credentials, which are returned as written`() throws {
        var test = try TestNamespace()
        let credential =
            "<GcmCredential><Properties><Property><Name>GoogleApiKey</Name><Value>a &amp; b</Value></Property>"
            + "</Properties></GcmCredential>"
        let rule =
            "<AuthorizationRules><AuthorizationRule i:type=\"SharedAccessAuthorizationRule\"><Rights>"
            + "<AccessRights>Send</AccessRights></Rights><KeyName>Mine</KeyName><PrimaryKey>k</PrimaryKey>"
            + "</AuthorizationRule></AuthorizationRules>"
        let updated = test.call(
            "PUT", "/BreakingNews", headers: ["If-Match": "*"], body: Self.entry(credential + rule))
        #expect(updated.status == 200 && updated.text.contains(credential), "\(updated.text)")
        let send = { (test: inout TestNamespace, rule: String, key: AccessKey) in
            test.call("POST", "/BreakingNews/messages", rule: rule, key: key, headers: WireTable.alert, body: "{}")
                .status
        }
        #expect(send(&test, "Mine", AccessKey("k")) == 201)
        #expect(send(&test, HubSettings.fullRuleName, TestHub.key) == 401)
        // An update without rules keeps the existing ones.
        _ = test.call("PUT", "/BreakingNews", headers: ["If-Match": "*"], body: Self.entry())
        #expect(send(&test, "Mine", AccessKey("k")) == 201)
    }

    /// The members that follow the rules in a hub's description.
    private func figures(_ reply: HubHTTPResponse) throws -> [String] {
        let entry = try XMLReader.read(reply.body)
        return entry.child("content")?.elements.first?.elements.filter { $0.localName.hasPrefix("Daily") }
            .map { "\($0.localName)=\($0.text)" } ?? []
    }

    @Test
    func `a description that is read contains the figures of the day`() throws {
        var test = try TestNamespace()
        let made = test.call("PUT", "/sports" + Self.version, body: Self.entry())
        #expect(try figures(made).isEmpty)
        let read = { (test: inout TestNamespace) in
            try self.figures(test.call("GET", "/sports" + Self.version))
        }
        #expect(
            try read(&test) == ["DailyMaxActiveDevices=0", "DailyMaxActiveRegistrations=0", "DailyApiCalls=0"])
        for id in ["1-2-3", "1-2-4"] {
            _ = test.call("PUT", "/sports/registrations/\(id)", body: WireTable.apple)
        }
        _ = test.call("DELETE", "/sports/registrations/1-2-3", headers: ["If-Match": "*"])
        let busy = ["DailyMaxActiveDevices=1", "DailyMaxActiveRegistrations=2", "DailyApiCalls=3"]
        #expect(try read(&test) == busy)
        // A client may send back figures that it has read.
        let sent = busy.map { $0.split(separator: "=") }.map { "<\($0[0])>7</\($0[0])>" }.joined()
        let updated = test.call("PUT", "/sports", headers: ["If-Match": "*"], body: Self.entry(sent))
        #expect(try updated.status == 200 && figures(updated).isEmpty)
        #expect(try read(&test) == busy)
        test.now = test.now.advanced(byMilliseconds: 80_000_000)
        let tomorrow = try read(&test)
        #expect(tomorrow == ["DailyMaxActiveDevices=1", "DailyMaxActiveRegistrations=1", "DailyApiCalls=0"])
    }

    @Test
    func `descriptions are listed in pages`() throws {
        var test = try TestNamespace()
        for name in ["a", "b", "c"] { _ = test.call("PUT", "/\(name)", body: Self.entry()) }
        let page = test.call("GET", "/$Resources/NotificationHubs?$skip=1&$top=2")
        #expect(try titles(page) == ["a", "b"])
        #expect(try titles(test.call("GET", "/$Resources/NotificationHubs?$skip=-9&$top=x")).count == 4)
    }

    @Test
    func `there are at most a hundred hubs`() throws {
        var test = try TestNamespace()
        let statuses = (1...EmulatedNamespace.hubsMax).map { test.call("PUT", "/h\($0)", body: Self.entry()).status }
        #expect(statuses.dropLast().allSatisfy { $0 == 201 } && statuses.last == 403)
        #expect(test.namespace.hubNames.count == 100)
    }

    @Test
    func `the first hub cannot be deleted, and no hub can have a reserved name`() throws {
        var test = try TestNamespace()
        _ = test.call("PUT", "/sports", body: Self.entry())
        let refused = test.call("DELETE", "/breakingnews")
        #expect(refused.status == 403, "\(refused.text)")
        #expect(refused.message == "This hub was named at start; end the emulator instead")
        #expect(test.call("DELETE", "/sports").status == 200)
        #expect(try titles(test.call("GET", "/")) == ["BreakingNews"])
        for path in ["/_/installations/x", "/_x/installations/x", "/_/registrations/1-2-3"] {
            #expect(test.call("PUT", path, body: WireTable.installation).status == 404, "\(path)")
        }
        #expect(test.call("PUT", "/_", body: Self.entry()).status == 400)
    }

    private static let odd = [
        "<UserMetadata><x:1a/></UserMetadata>", "<ApnsCredential><x:/></ApnsCredential>",
        "<ApnsCredential a:type='1' b:type='2'/>", "<ApnsCredential><a nil='1' i:nil='2'/></ApnsCredential>",
    ]

    @Test(arguments: odd)
    func `a description that could not be stored is refused`(inner: String) throws {
        var test = try TestNamespace()
        let before = test.namespace.withFirst { $0.description }
        #expect(test.call("PUT", "/sports", body: Self.entry(inner)).status == 400)
        #expect(test.call("PUT", "/BreakingNews", headers: ["If-Match": "*"], body: Self.entry(inner)).status == 400)
        #expect(test.namespace.withFirst { $0.description } == before)
    }

    @Test
    func `a stored description keeps a rule that a connection string added beyond the limit`() {
        let rules = (0...HubDescription.rulesMax).map {
            AccessRule(name: "r\($0)", primaryKey: AccessKey("k"), rights: .send)
        }
        let description = HubDescription(rules: rules, at: TestHub.start)
        #expect(HubDescription(stored: description.stored)?.rules == rules)
    }

    @Test
    func `each change names its hub, and a stored description restores a hub`() throws {
        var test = try TestNamespace { $0.recordsChanges = true }
        _ = test.call("PUT", "/sports", body: Self.entry("<RegistrationTtl>P7D</RegistrationTtl>"))
        _ = test.call("PUT", "/sports/registrations/1-2-3", body: WireTable.apple)
        _ = test.call("PUT", "/BreakingNews/registrations/1-2-4", body: WireTable.apple)
        let before = test.call("GET", "/sports").text
        var stored: [UInt8]?
        var registered: [String] = []
        for change in test.namespace.takeChanges() {
            switch change.change {
            case .description(let description): stored = description
            case .registration(let id, _, _): registered.append("\(change.hub)/\(id)")
            default: break
            }
        }
        #expect(Set(registered) == ["sports/1-2-3", "BreakingNews/1-2-4"])
        var after = try TestNamespace()
        let description = try #require(stored.flatMap { HubDescription(stored: $0) })
        after.namespace.addHub(try HubName("sports"), description)
        // The day's figures are not stored.
        func undated(_ text: String) -> String { text.replacing(/<Daily\w+>\d+<\/Daily\w+>/, with: "") }
        #expect(undated(after.call("GET", "/sports").text) == undated(before))
        #expect(HubDescription(stored: Array("<hub/>".utf8)) == nil)
        _ = test.call("DELETE", "/sports")
        guard case .description(nil)? = test.namespace.takeChanges().last?.change else {
            Issue.record("the deletion was not recorded")
            return
        }
    }
}
