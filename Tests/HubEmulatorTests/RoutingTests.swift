import ByteText
import NotificationHub
import TestSupport
import Testing

@testable import HubEmulator

struct RoutingTests {
    /// A token for a device. Tokens have an even number of digits.
    private static func token(_ index: Int) -> String { index < 10 ? "A\(index)" : "A\(index + 90)" }

    /// Native Apple devices A0, A1… with these tags.
    private func hub(_ tags: [String]) throws -> TestHub {
        var test = try TestHub()
        for (index, tags) in tags.enumerated() {
            let inner = "<Tags>\(tags)</Tags><DeviceToken>\(Self.token(index))</DeviceToken>"
            _ = test.call("POST", "/registrations", body: WireTable.entry("Apple", inner))
        }
        return test
    }

    private static let expressions: [(String?, [String])] = [
        ("World", ["A0", "A2"]), ("world", ["A0", "A2"]), ("World || Sports", ["A0", "A1", "A2"]),
        ("World && Sports", ["A2"]), ("!World", ["A1", "A3"]), ("World && !Sports", ["A0"]),
        ("(World || Sports) && !(World && Sports)", ["A0", "A1"]), ("Nothing", []), ("", []),
        (nil, ["A0", "A1", "A2", "A3"]), ("!Nothing", ["A0", "A1", "A2", "A3"]), ("World && Nothing", []),
        ("!(!World)", ["A0", "A2"]), ("World || !World", ["A0", "A1", "A2", "A3"]), ("World && !World", []),
    ]

    @Test(arguments: expressions)
    func `a tag expression reaches the devices it names`(tags: String?, handles: [String]) throws {
        var test = try hub(["World", "Sports", "World,Sports", "Science"])
        #expect(test.send(#"{"aps":{"alert":"x"}}"#, format: "apple", tags: tags).status == 201)
        let delivered = test.hub.deliver(limit: 100, at: test.now)
        #expect(delivered.map(\.handle) == handles)
        #expect(test.hub.received[1]?.telemetry.state == (handles.isEmpty ? .noTargetFound : .completed))
    }

    @Test
    func `random expressions reach the same devices as a scan would`() throws {
        var random = SeededRandom(seed: 11)
        let names = ["a", "b", "c", "d", "e", "f"]
        let held = (0..<40).map { _ in names.filter { _ in random.next() % 3 == 0 } }
        var test = try hub(held.map { $0.joined(separator: ",") })
        for _ in 0..<300 {
            var text = random.next() % 2 == 0 ? "!a" : "b"
            for name in names.prefix(Int(random.next() % 6)).dropFirst() {
                let mark = random.next() % 2 == 0 ? " && " : " || "
                text = "(\(text))\(mark)\(random.next() % 3 == 0 ? "!" : "")\(name)"
            }
            let expression = try TagExpression(parsing: text)
            #expect(test.send(#"{"aps":{}}"#, format: "apple", tags: text).status == 201)
            let wanted = held.indices.filter { index in
                expression.matches(Set(held[index].compactMap { try? Tag($0) }))
            }
            #expect(test.hub.deliver(limit: 1000, at: test.now).map(\.handle) == wanted.map(Self.token), "\(text)")
        }
    }

    @Test
    func `native sends reach their own platform, template sends reach all`() throws {
        var test = try TestHub()
        let tagged = "<Tags>World</Tags>"
        let body = "<BodyTemplate>{\"text\":\"$(messageParam)\"}</BodyTemplate>"
        for (kind, inner) in [
            ("Apple", tagged + "<DeviceToken>A1</DeviceToken>"),
            ("FcmV1", tagged + "<FcmV1RegistrationId>F1</FcmV1RegistrationId>"),
            ("AppleTemplate", tagged + "<DeviceToken>A2</DeviceToken>" + body),
            ("FcmV1Template", tagged + "<FcmV1RegistrationId>F2</FcmV1RegistrationId>" + body),
        ] {
            #expect(test.call("POST", "/registrations", body: WireTable.entry(kind, inner)).status == 200)
        }
        _ = test.send(#"{"message":{}}"#, format: "fcmv1")
        #expect(test.hub.deliver(limit: 100, at: test.now).map(\.handle) == ["F1"])
        _ = test.send(#"{"messageParam":"Breaking \"World\" News!"}"#, headers: ["apns-collapse-id": "s1"])
        let delivered = test.hub.deliver(limit: 100, at: test.now)
        #expect(delivered.map(\.handle) == ["A2", "F2"])
        #expect(
            delivered.allSatisfy { String(decoding: $0.body, as: UTF8.self) == #"{"text":"Breaking \"World\" News!"}"# }
        )
        #expect(delivered[0].headers.contains(HeaderField("apns-collapse-id", "s1")))
    }

    @Test
    func `a handle registered twice receives once, and with two templates twice`() throws {
        var test = try TestHub()
        for name in ["a", "a", "b"] {
            let inner =
                "<DeviceToken>A1</DeviceToken><BodyTemplate>{\"aps\":{}}</BodyTemplate><TemplateName>\(name)</TemplateName>"
            _ = test.call("POST", "/registrations", body: WireTable.entry("AppleTemplate", inner))
        }
        _ = test.send("{}", tags: nil)
        #expect(test.hub.deliver(limit: 100, at: test.now).compactMap(\.templateName) == ["a", "b"])
        #expect(test.hub.received[1]?.telemetry.counts.map(\.outcome) == [.success, .skipped])
        #expect(test.hub.received[1]?.telemetry.counts.map(\.count) == [2, 1])
    }

    @Test
    func `a handle's registration receives again once the ones before it are removed`() throws {
        var test = try TestHub()
        func put(_ number: Int, _ name: String) {
            let inner =
                "<DeviceToken>A1</DeviceToken><BodyTemplate>{\"aps\":{}}</BodyTemplate><TemplateName>\(name)</TemplateName>"
            _ = test.call("PUT", "/registrations/\(number)-1-1", body: WireTable.entry("AppleTemplate", inner))
        }
        for (number, name) in [(1, "a"), (2, "a"), (3, "b"), (4, "a")] { put(number, name) }
        func receivers() -> [String?] {
            _ = test.send("{}", tags: nil)
            return test.hub.deliver(limit: 100, at: test.now).map(\.registrationID)
        }
        #expect(receivers() == ["1-1-1", "3-1-1"])
        _ = test.call("DELETE", "/registrations/1-1-1", headers: ["If-Match": "*"])
        #expect(receivers() == ["2-1-1", "3-1-1"])
        _ = test.call("DELETE", "/registrations/2-1-1", headers: ["If-Match": "*"])
        #expect(receivers() == ["3-1-1", "4-1-1"])
        _ = test.call("DELETE", "/registrations/3-1-1", headers: ["If-Match": "*"])
        #expect(receivers() == ["4-1-1"])
        put(5, "a")
        #expect(receivers().count == 1)
    }

    @Test
    func `deliveries made in several calls are complete`() throws {
        var test = try hub((0..<50).map { _ in "World" })
        _ = test.send(#"{"aps":{}}"#, format: "apple")
        _ = test.send(#"{"aps":{}}"#, format: "apple")
        var delivered: [PushedNotification] = []
        while test.hub.hasWork(at: test.now) { delivered += test.hub.deliver(limit: 7, at: test.now) }
        #expect(delivered.count == 100)
        #expect(delivered.map(\.number) == Array(1...100))
        #expect(Set(delivered.prefix(50).map(\.messageID)).count == 1)
    }

    @Test
    func `a hub with too many pending sends answers that it is busy`() throws {
        var test = try TestHub { $0.pendingMax = 2 }
        #expect((1...3).map { _ in test.send("{}").status } == [201, 201, 503])
        _ = test.hub.deliver(limit: 10, at: test.now)
        #expect(test.send("{}").status == 201)
    }

    @Test
    func `platforms refuse large payloads, and a dead channel's registration is removed`() throws {
        var test = try hub(["World", "World"])
        test.hub.setOutcome(.expiredChannel, handle: "A0")
        let large = "{\"aps\":{\"alert\":\"" + String(repeating: "x", count: 4096) + "\"}}"
        _ = test.send(large, format: "apple")
        #expect(
            test.hub.deliver(limit: 10, at: test.now).map(\.outcome) == [
                .invalidNotificationSize, .invalidNotificationSize,
            ])
        _ = test.send(#"{"aps":{}}"#, format: "apple")
        #expect(test.hub.deliver(limit: 10, at: test.now).map(\.outcome) == [.expiredChannel, .success])
        _ = test.send(#"{"aps":{}}"#, format: "apple")
        #expect(test.hub.deliver(limit: 10, at: test.now).map(\.handle) == ["A1"])
    }

    @Test
    func `a template whose text exceeds the platform's limit is refused by the platform, and its text is not kept`()
        throws
    {
        var test = try TestHub { $0.recordsChanges = true }
        let value = String(repeating: "x", count: 30_000)
        let list = Array(repeating: #"\"$(x)\""#, count: 3000).joined(separator: ",")
        let installation =
            #"{"platform":"apns","pushChannel":"AB","tags":["World"],"pushVariables":{"x":"\#(value)"},"#
            + #""templates":{"t":{"body":"{\"a\":[\#(list)]}"}}}"#
        let put = test.call("PUT", "/installations/i", rule: HubSettings.listenRuleName, body: installation)
        #expect(put.status == 200)
        _ = test.send("{}")
        let delivered = test.hub.deliver(limit: 10, at: test.now)
        #expect(delivered.map(\.outcome) == [.invalidNotificationSize])
        #expect(delivered.map(\.body.count) == [0])
        #expect(test.hub.received[1]?.telemetry.counts.map(\.outcome) == [.invalidNotificationSize])
    }

    @Test
    func `a call with the id of a dropped registration is answered with 410`() throws {
        var test = try TestHub()
        let entry = WireTable.entry("Apple", "<DeviceToken>AB</DeviceToken>")
        _ = test.call("PUT", "/registrations/1-2-3", body: entry)
        test.hub.setOutcome(.badChannel, handle: "AB")
        _ = test.send(#"{"aps":{}}"#, format: "apple", tags: nil)
        _ = test.hub.deliver(limit: 10, at: test.now)
        #expect(test.call("PUT", "/registrations/1-2-3", body: entry).status == 410)
    }

    @Test
    func `the cost of routing depends only on the tag's devices`() throws {
        var table = RegistrationTable()
        for index in 0..<20_000 {
            var registration = Registration(
                id: RegistrationID(first: UInt64(index), second: 1, shard: 1), platform: .apple, handle: "h\(index)")
            registration.tags = ["t\(index % 1000)"]
            table.put(registration)
        }
        let plan = table.plan(TagQuery(try TagExpression(parsing: "t7 && !t8")), .native(.apple))
        #expect(table.candidates(plan).count == 20)
        for slot in table.slots(tag: "t7") { table.remove(slot) }
        #expect(table.candidates(table.plan(TagQuery(try TagExpression(parsing: "T7")), .native(.apple))).isEmpty)
        #expect(table.count == 19_980)
    }

    @Test(.timeLimit(.minutes(1)))
    func `60,000 templates of one handle are not compared with each other`() throws {
        var table = RegistrationTable()
        let count = 60_000
        for index in 0..<count {
            var registration = Registration(
                id: RegistrationID(first: UInt64(index), second: 1, shard: 1), platform: .apple, handle: "A1")
            let source = TemplateSource(body: "{}", name: "t\(index)", platform: .apple)
            registration.template = try Template(source)
            table.put(registration)
        }
        let plan = table.plan(nil, .template)
        #expect((0..<UInt32(count)).allSatisfy { !table.isRepeat($0, plan) })
    }
}
