import Foundation
import HubEmulator
import HubServer
import NotificationHub
import TestSupport
import Testing

/// Tests over HTTP of devices, their deliveries and the data that survives a restart.
struct DeviceTests {
    private func register(_ hub: RunningHub, _ device: String, tag: String) async throws {
        let body =
            #"{"installationId":"\#(device)","platform":"apns","pushChannel":"\#(device)","tags":["\#(tag)"],"#
            + #""templates":{"t":{"body":"{\"aps\":{\"alert\":\"$(messageParam)\"}}"}}}"#
        let reply = try await RawClient.call(
            hub.port, "PUT", "/BreakingNews/installations/\(device)?api-version=2020-06",
            headers: [("Content-Type", "application/json"), try token(hub, listen: true)], body: body)
        #expect(reply.status == 200)
    }

    private func send(_ hub: RunningHub, tag: String, _ text: String) async throws {
        let reply = try await RawClient.call(
            hub.port, "POST", "/BreakingNews/messages?api-version=2020-06",
            headers: [
                ("Content-Type", "application/json"), ("ServiceBusNotification-Tags", tag),
                try token(hub),
            ], body: #"{"messageParam":"\#(text)"}"#)
        #expect(reply.status == 201)
    }

    @Test
    func `a send reaches the devices of its tag on their streams`() async throws {
        try await withVectorHub { hub in
            try await register(hub, "AA", tag: "World")
            try await register(hub, "BB", tag: "Sports")
            let watched = try #require(hub.deliveries(to: ["AA", "BB"]))
            try await send(hub, tag: "World", "one")
            try await send(hub, tag: "Sports", "two")
            var seen: [String] = []
            for await delivery in watched {
                seen.append(delivery.handle + " " + String(decoding: delivery.body, as: UTF8.self))
                if seen.count == 2 { break }
            }
            #expect(seen == [#"AA {"aps":{"alert":"one"}}"#, #"BB {"aps":{"alert":"two"}}"#])
            let device = try await RawClient.call(hub.port, "GET", "/_emulator/devices/AA")
            let json = try #require(JSONTree(parsing: device.body))
            guard case .array(let deliveries) = json["deliveries"], case .array(let ids) = json["registrations"] else {
                throw HubServerProblem.settings(["no device"])
            }
            #expect(deliveries.count == 1 && ids.count == 2)
            #expect(deliveries.first?["outcome"]?.string == "Success")
        }
    }

    @Test
    func `a device's platform can be set to fail`() async throws {
        try await withVectorHub { hub in
            try await register(hub, "AA", tag: "World")
            let set = try await RawClient.call(
                hub.port, "PUT", "/_emulator/devices/AA", body: #"{"outcome":"WrongToken"}"#)
            #expect(set.status == 204)
            let watched = try #require(hub.deliveries(to: ["AA"]))
            try await send(hub, tag: "World", "one")
            for await delivery in watched {
                #expect(delivery.outcome == .wrongToken)
                break
            }
        }
    }

    @Test
    func `a story from the page reaches the phones of its category`() async throws {
        try await withVectorHub { hub in
            let phone = try await RawClient.call(hub.port, "GET", "/_emulator/phone")
            let json = try #require(JSONTree(parsing: phone.body))
            #expect(json["hub"]?.string == "BreakingNews")
            let listen = try #require(json["token"]?.string)
            #expect(listen.contains("skn=DefaultListenSharedAccessSignature"))
            let put = try await RawClient.call(
                hub.port, "PUT", "/BreakingNews/installations/AA?api-version=2020-06",
                headers: [("Authorization", listen)],
                body:
                    #"{"platform":"apns","pushChannel":"AA","tags":["World"],"templates":{"t":{"body":"{\"m\":\"$(messageParam)\"}"}}}"#
            )
            #expect(put.status == 200)
            let watched = try #require(hub.deliveries(to: ["AA"]))
            let composed = try await RawClient.call(
                hub.port, "POST", "/_emulator/stories",
                body: #"{"category":"World","headline":"A \"quoted\" headline"}"#)
            #expect(composed.status == 202)
            for await delivery in watched {
                #expect(
                    String(decoding: delivery.body, as: UTF8.self)
                        == #"{"m":"Breaking World News : A \"quoted\" headline"}"#)
                break
            }
            let wrong = try await RawClient.call(
                hub.port, "POST", "/_emulator/stories", body: #"{"category":"no tag","headline":"x"}"#)
            #expect(wrong.status == 400)
            let later = try await RawClient.call(
                hub.port, "POST", "/_emulator/stories",
                body: #"{"category":"World","headline":"x","at":"yesterday"}"#)
            #expect(later.status == 400)
            #expect(later.text.contains("sends at once"))
        }
    }

    @Test
    func `the page and its parts are served with a strict policy`() async throws {
        try await withVectorHub { hub in
            for (path, type) in [
                ("/", "text/html"), ("/page.css", "text/css"), ("/page.js", "text/javascript"),
                ("/phones.css", "text/css"), ("/phone.js", "text/javascript"), ("/hub.js", "text/javascript"),
                ("/news.js", "text/javascript"), ("/payload.js", "text/javascript"),
                ("/composer.js", "text/javascript"),
                ("/panels.js", "text/javascript"),
            ] {
                let reply = try await RawClient.call(hub.port, "GET", path)
                #expect(reply.status == 200 && reply.headers["content-type"]?.hasPrefix(type) == true)
                #expect(reply.headers["content-security-policy"]?.hasPrefix("default-src 'self'") == true)
                // Nothing is loaded from elsewhere. The only address is the connection string's.
                #expect(!reply.text.replacing("Endpoint=http://", with: "").contains("http://"))
            }
        }
    }

    @Test
    func `the page shows the connection string only on the hub's own machine`() async throws {
        try await withVectorHub { hub in
            let key = hub.connectionString.key.revealed
            let local = try await RawClient.call(hub.port, "GET", "/")
            #expect(local.text.contains("Endpoint=http://127.0.0.1:\(hub.port)/;"))
            #expect(local.text.contains("SharedAccessKey=\(key)"))
            let remote = try await RawClient.call(hub.port, "GET", "/", headers: [("Host", "evil.example")])
            #expect(remote.status == 200 && !remote.text.contains(key))
        }
    }

    @Test
    func `the overview lists the phones' categories, the sends and their outcomes`() async throws {
        try await withVectorHub({ $0.subscribesPhones = true }) { hub in
            let watched = try #require(hub.deliveries(to: ["page-android"]))
            try await send(hub, tag: "Technology", "one")
            for await _ in watched { break }
            try await send(hub, tag: "Nothing", "two")
            var fault = HubFault()
            fault.status = 503
            fault.callsLeft = 1
            hub.add(fault)
            let refused = try await RawClient.call(
                hub.port, "POST", "/BreakingNews/messages?api-version=2020-06", headers: [try token(hub)],
                body: #"{"messageParam":"three"}"#)
            #expect(refused.status == 503)
            var overview = try await overview(hub)
            while sends(overview).contains(where: { $0["state"]?.string == "Enqueued" }) {
                overview = try await self.overview(hub)
            }
            #expect(sends(overview).map { $0["headline"]?.string } == ["three", "two", "one"])
            // The send names no template, so it is delivered by both of the phone's.
            #expect(sends(overview).map { $0["phones"]?.integer } == [nil, 0, 1])
            #expect(sends(overview).first?["refused"]?.string == "503")
            guard case .array(let tags)? = overview["phones"]?["apple"] else {
                throw HubServerProblem.settings(["no tags"])
            }
            #expect(tags.contains(.string("World")) && tags.contains(.string("Sports")))
            #expect(texts(overview) == ["one", "one"])
            #expect(texts(try await self.overview(hub, after: overview["delivered"]?.integer ?? 0)) == [])
        }
    }

    @Test
    func `a fault that affects a send also affects the page's story`() async throws {
        try await withVectorHub { hub in
            let send = {
                try await RawClient.call(
                    hub.port, "POST", "/_emulator/stories", body: #"{"category":"World","headline":"A headline"}"#)
            }
            var slow = HubFault()
            slow.latencyMilliseconds = 250
            hub.add(slow)
            let start = ContinuousClock.now
            #expect(try await send().status == 202)
            #expect(start.duration(to: .now) >= .milliseconds(250))
            var cut = HubFault()
            cut.reset = .before
            hub.add(cut)
            let answer = try await send()
            #expect(answer.status == 502 && answer.text.contains("The hub cut the connection."))
        }
    }

    @Test
    func `the overview adds up equal outcomes and names the delivery that ended a phone's registration`() async throws {
        try await withVectorHub({ $0.subscribesPhones = true }) { hub in
            for (handle, outcome) in [
                (String(repeating: "C0DE", count: 16), "ExpiredChannel"), ("page-android", "Throttled"),
                ("https:%2F%2Fpush.example%2Fpage", "Throttled"),
            ] {
                let set = try await RawClient.call(
                    hub.port, "PUT", "/_emulator/devices/\(handle)", body: #"{"outcome":"\#(outcome)"}"#)
                #expect(set.status == 204)
            }
            try await send(hub, tag: "World", "one")
            var overview = try await overview(hub)
            while sends(overview).contains(where: { $0["state"]?.string != "Completed" }) {
                overview = try await self.overview(hub)
            }
            #expect(sends(overview).first?["failed"] == .array([.string("1 ExpiredChannel"), .string("2 Throttled")]))
            #expect(overview["phones"]?["apple"] == .null)
            #expect(overview["dropped"] == .object([.init("apple", .integer(1))]))
        }
    }

    private func overview(_ hub: RunningHub, after: Int = 0) async throws -> JSONTree {
        let reply = try await RawClient.call(hub.port, "GET", "/_emulator/overview?after=\(after)")
        return try #require(JSONTree(parsing: reply.body))
    }

    private func sends(_ overview: JSONTree) -> [JSONTree] {
        if case .array(let sends)? = overview["sends"] { sends } else { [] }
    }

    private func texts(_ overview: JSONTree) -> [String?] {
        guard case .array(let deliveries)? = overview["deliveries"] else { return [] }
        return deliveries.map { delivery in
            let body = delivery["body"]?.string.flatMap { JSONTree(parsing: Array($0.utf8)) }
            return body?["message"]?["notification"]?["body"]?.string
        }
    }

    @Test
    func `registrations, messages and keys survive a restart`() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "hub-\(UInt64.random(in: 0 ... .max))")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let path = directory.appending(path: "hub.sqlite").path
        var settings = HubServerSettings(port: 0, hubName: try HubName("BreakingNews"))
        settings.storePath = path
        let first = try await HubServer(settings).start()
        let entry = """
            <entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml"><AppleRegistrationDescription>\
            <Tags>World</Tags><DeviceToken>CC</DeviceToken></AppleRegistrationDescription></content></entry>
            """
        for _ in 1...2 {
            let put = try await RawClient.call(
                first.port, "PUT", "/BreakingNews/registrations/1-2-3?api-version=2015-01", headers: [try token(first)],
                body: entry)
            #expect(put.status == 200)
        }
        try await register(first, "AA", tag: "World")
        try await register(first, "BB", tag: "World")
        let deleted = try await RawClient.call(
            first.port, "DELETE", "/BreakingNews/installations/BB",
            headers: [try token(first)])
        #expect(deleted.status == 204)
        let watched = try #require(first.deliveries(to: ["AA"]))
        try await send(first, tag: "World", "kept")
        for await _ in watched { break }
        // A killed process leaves its files in the state of running.
        let left = directory.appending(path: "left")
        try FileManager.default.createDirectory(at: left, withIntermediateDirectories: true)
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(
                atPath: path + suffix, toPath: left.appending(path: "hub.sqlite" + suffix).path)
        }
        await first.stop()

        settings.storePath = left.appending(path: "hub.sqlite").path
        let second = try await HubServer(settings).start()
        #expect(second.connectionString.key == first.connectionString.key)
        #expect(second.registrationCount == 3)
        #expect(second.received.map(\.id) == first.received.map(\.id))
        #expect(second.received.map(\.number) == [1])
        let read = try await RawClient.call(
            second.port, "GET", "/BreakingNews/registrations/1-2-3",
            headers: [try token(second)])
        #expect(read.text.contains("<ETag>2</ETag>"))
        try await send(second, tag: "World", "next")
        #expect(second.received.map(\.number) == [1, 2])
        await second.stop()
    }
}

/// Tests of intended delays, which are short enough to wait for.
struct LateTests {
    @Test
    func `an installation with a lag takes effect without another call`() async throws {
        try await withVectorHub({ $0.configure = { $0.installationLagMilliseconds = 30 } }) { hub in
            let watched = try #require(hub.deliveries(to: ["AA"]))
            let put = try await RawClient.call(
                hub.port, "PUT", "/BreakingNews/installations/AA",
                headers: [try token(hub)], body: #"{"platform":"apns","pushChannel":"AA","tags":["World"]}"#)
            #expect(put.status == 200)
            while hub.registrationCount == 0 {
                _ = try await send(hub)
            }
            _ = try await send(hub)
            for await delivery in watched {
                #expect(delivery.handle == "AA")
                break
            }
        }
    }

    @Test
    func `latency and a slow body delay an answer but leave it complete`() async throws {
        try await withVectorHub { hub in
            var fault = HubFault()
            fault.latencyMilliseconds = 40
            fault.slowBody = 4000
            fault.calls = .all
            hub.add(fault)
            let start = ContinuousClock.now
            let refused = try await RawClient.call(hub.port, "GET", "/BreakingNews/registrations")
            #expect(ContinuousClock.now - start >= .milliseconds(40))
            #expect(refused.status == 401)
            #expect(ErrorBody(scanning: refused.body).message?.hasPrefix("MissingToken") == true)
        }
    }

    private func send(_ hub: RunningHub) async throws -> Int {
        try await RawClient.call(
            hub.port, "POST", "/BreakingNews/messages",
            headers: [
                ("Content-Type", "application/json"), ("ServiceBusNotification-Format", "apple"), try token(hub),
            ], body: "{}"
        ).status
    }
}
