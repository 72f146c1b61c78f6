import NotificationHub
import TestSupport
import Testing

@testable import HubEmulator

struct StorageTests {
    /// A new hub, restored from a store with these changes.
    private func restarted(_ changes: [HubChange]) throws -> TestHub {
        var registrations: [String: (UInt32, [UInt8])] = [:]
        var installations: [String: [UInt8]] = [:]
        var messages: [Int: [UInt8]] = [:]
        var deliveries: [[UInt8]] = []
        for change in changes {
            switch change {
            case .registration(let id, let etag, let entry): registrations[id] = entry.map { (etag, $0) }
            case .installation(let id, let json): installations[id] = json
            case .message(let message): messages[message.number] = message.json.bytes
            case .delivery(let delivery): deliveries.append(delivery.json.bytes)
            case .description: break
            }
        }
        var test = try TestHub()
        for (id, (etag, entry)) in registrations {
            let isRestored = test.hub.restoreRegistration(id: id, etag: etag, entry: entry)
            #expect(isRestored)
        }
        for (id, json) in installations {
            let isRestored = test.hub.restoreInstallation(id: id, json: json)
            #expect(isRestored)
        }
        for bytes in deliveries {
            let json = try #require(JSONTree(parsing: bytes))
            test.hub.restore(try #require(PushedNotification(json: json)))
        }
        for number in messages.keys.sorted() {
            let json = try #require(JSONTree(parsing: messages[number] ?? []))
            test.hub.restore(try #require(ReceivedMessage(json: json)))
        }
        return test
    }

    private func filled() throws -> TestHub {
        var test = try TestHub { $0.recordsChanges = true }
        let inner =
            "<Tags>World,Sports</Tags><DeviceToken>AA</DeviceToken><BodyTemplate>{\"a\":\"{'x ]]&gt; ' + $(m)}\"}</BodyTemplate>"
        _ = test.call("PUT", "/registrations/1-2-3", body: WireTable.entry("AppleTemplate", inner))
        _ = test.call("PUT", "/registrations/1-2-3", body: WireTable.entry("AppleTemplate", inner))
        _ = test.call(
            "PUT", "/registrations/4-5-6",
            body: WireTable.entry("Gcm", "<GcmRegistrationId>g</GcmRegistrationId>"))
        _ = test.call("DELETE", "/registrations/4-5-6", headers: ["If-Match": "*"])
        _ = test.call("PUT", "/installations/i", body: #"{"platform":"gcm","pushChannel":"gg","tags":["World"]}"#)
        return test
    }

    @Test
    func `registrations and installations are restored with their ids and etags`() throws {
        var before = try filled()
        var after = try restarted(before.hub.takeChanges())
        #expect(after.hub.registrationCount == 2)
        for path in ["/registrations/1-2-3", "/installations/i", "/tags/world/registrations"] {
            #expect(after.call("GET", path).text == before.call("GET", path).text)
        }
        #expect(RegistrationTests.etag(after.call("GET", "/registrations/1-2-3")) == "2")
    }

    @Test
    func `a waiting send continues after a restart, and a finished one is not repeated`() throws {
        var before = try filled()
        _ = before.send(#"{"m":"done"}"#)
        _ = before.hub.deliver(limit: 100, at: before.now)
        _ = before.send(#"{"m":"waiting"}"#)
        _ = before.call(
            "POST", "/schedulednotifications?api-version=2020-06",
            headers: [
                "ServiceBusNotification-Format": "template", "ServiceBusNotification-Tags": "Sports",
                "Content-Type": "application/json", "ServiceBusNotification-ScheduleTime": "2027-01-15T09:00:00",
            ], body: #"{"m":"late"}"#)
        var after = try restarted(before.hub.takeChanges())
        #expect(after.hub.received.total == 3)
        let carriedOn = after.hub.deliver(limit: 100, at: after.now)
        #expect(carriedOn.map(\.handle) == ["AA"])
        #expect(carriedOn.first?.messageID == after.hub.received[2]?.id)
        #expect(after.hub.received[1]?.telemetry.counts.map(\.count) == [1])
        #expect(after.hub.received[2]?.telemetry.state == .completed)
        #expect(after.hub.received[3]?.telemetry.state == .scheduled)
        let due = HubTime(seconds: TestHub.start.seconds + 3600)
        #expect(after.hub.deliver(limit: 100, at: due).map(\.handle) == ["AA"])
        #expect(after.send("{}").status == 201)
        #expect(after.hub.received.total == 4)
    }

    @Test
    func `a send that was interrupted during its deliveries is abandoned after a restart`() throws {
        var before = try TestHub { $0.recordsChanges = true }
        for handle in ["AA", "BB", "CC", "DD"] {
            let inner = "<Tags>World</Tags><DeviceToken>\(handle)</DeviceToken>"
            _ = before.call("POST", "/registrations", body: WireTable.entry("Apple", inner))
        }
        _ = before.send(#"{"aps":{}}"#, format: "apple")
        _ = before.send(#"{"aps":{}}"#, format: "apple")
        var changes = before.hub.takeChanges()
        var delivered: [PushedNotification] = []
        var messages = 0
        // The limit counts the start of a send too, so the second call ends before the last device.
        for _ in 1...2 {
            delivered += before.hub.deliver(limit: 2, at: before.now)
            let made = before.hub.takeChanges()
            messages += made.count { if case .message = $0 { true } else { false } }
            changes += made
        }
        #expect(delivered.map(\.handle) == ["AA", "BB"])
        #expect(messages == 1, "only the start of the deliveries is recorded")
        var after = try restarted(changes)
        #expect(after.hub.received[1]?.telemetry.state == .abandoned)
        #expect(after.hub.received[1]?.telemetry.counts.map(\.count) == [1])
        // The second send had not begun.
        let continued = after.hub.deliver(limit: 100, at: after.now)
        #expect(continued.map(\.handle).sorted() == ["AA", "BB", "CC", "DD"])
        #expect(continued.allSatisfy { $0.messageID == after.hub.received[2]?.id })
    }

    @Test
    func `a send of which nothing was delivered yet continues after a restart`() throws {
        var before = try filled()
        _ = before.send(#"{"m":"waiting"}"#)
        // The limit is used up before the first device.
        #expect(before.hub.deliver(limit: 1, at: before.now).isEmpty)
        var after = try restarted(before.hub.takeChanges())
        #expect(after.hub.received[1]?.telemetry.state == .enqueued)
        #expect(after.hub.deliver(limit: 100, at: after.now).map(\.handle) == ["AA"])
    }

    @Test
    func `a device that was away finds its numbered deliveries after a restart`() throws {
        var before = try filled()
        _ = before.send(#"{"m":"é ☃"}"#)
        _ = before.send(
            "\u{FF}", format: "windows", contentType: "application/octet-stream",
            headers: ["X-WNS-Type": "wns/raw", "ServiceBusNotification-DeviceHandle": "w"], query: "?direct")
        let made = before.hub.deliver(limit: 100, at: before.now)
        #expect(made.map(\.number) == [1, 2])
        var after = try restarted(before.hub.takeChanges())
        #expect(after.hub.deliveries(to: "aa").map(\.json) == [made[0].json])
        #expect(after.hub.deliveries(to: "w").map(\.json) == [made[1].json])
        _ = after.send(#"{"m":"next"}"#)
        #expect(after.hub.deliver(limit: 100, at: after.now).map(\.number) == [3])
    }

    @Test
    func `damaged records are skipped`() throws {
        var test = try TestHub()
        let restored = [
            test.hub.restoreRegistration(id: "1-2-3", etag: 1, entry: Array("<entry/>".utf8)),
            test.hub.restoreRegistration(id: "x", etag: 1, entry: Array(WireTable.apple.utf8)),
            test.hub.restoreInstallation(id: "i", json: Array("{}".utf8)),
        ]
        #expect(!restored.contains(true))
        #expect(ReceivedMessage(json: .object([.init("number", .integer(1))])) == nil)
        #expect(PushedNotification(json: .object([.init("number", .integer(1))])) == nil)
        #expect(test.hub.registrationCount == 0)
    }
}
