import Foundation
import HubServer
import NIOCore
import NIOPosix
import NewswireCommands
import NotificationHub
import Synchronization
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// `newswire device` as a user runs it, against the emulator.
struct DeviceCommandTests {
    private static let handles = ["0A", "0B", "0C"]

    @Test func `three devices, 600 events over six categories: each prints its categories, once`() async throws {
        let hub = try await HubServer(HubServerSettings(port: 0, hubName: try HubName("news"))).start()
        let readers = [
            ("apple", "World,Sports"), ("windows", "Politics, business,World"), ("fcmv1", "Science"),
        ]
        let devices = try zip(Self.handles, readers).map { handle, reader in
            try start(hub, "--platform", reader.0, "--categories", reader.1, "--handle", handle)
        }
        // Each device has a registration of its own, and one for each of its two templates.
        try await until { hub.registrationCount == 9 }
        let categories = ["World", "Politics", "Business", "Technology", "Science", "Sports"]
        for index in 0..<600 { try await send(hub, "event \(index).", to: categories[index % 6]) }
        // These sends name no template, so they arrive through both templates.
        try await until { hub.delivered.count == 1_200 }
        for device in devices { device.terminate() }
        for (device, wanted) in zip(devices, [["World", "Sports"], ["Politics", "Business", "World"], ["Science"]]) {
            let ended = try await device.ended()
            #expect(ended.status == 0, "\(ended.errors)")
            let texts = ended.output.matches(of: /event \d+\./).map { String($0.output) }
            #expect(texts == (0..<600).filter { wanted.contains(categories[$0 % 6]) }.map { "event \($0)." })
            #expect(ended.errors.contains("registered for"))
        }
        #expect(hub.registrationCount == 0)
        await hub.stop()
    }

    @Test func `three devices in three languages: each prints its own text of one send`() async throws {
        let hub = try await HubServer(HubServerSettings(port: 0, hubName: try HubName("news"))).start()
        let devices = try zip(Self.handles, ["fr", "zh-Hant", "de=German"]).map { handle, language in
            try start(hub, "--categories", "World", "--handle", handle, "--language", language)
        }
        try await until { hub.registrationCount == 9 }
        let texts = #"{"News_English":"E.","News_French":"Bonjour.","News_Mandarin":"你好.","News_German":"Hallo."}"#
        try await send(hub, body: texts, to: "World && breakingNews")
        try await until { hub.delivered.count == 3 }
        for (device, text) in zip(devices, ["Bonjour.", "你好.", "Hallo."]) {
            device.terminate()
            let ended = try await device.ended()
            #expect(ended.status == 0, "\(ended.errors)")
            #expect(ended.output.contains(text) && ended.output.split(separator: "\n").count == 1, "\(ended.output)")
        }
        await hub.stop()
    }

    @Test func `a follower gets what is sent to its interests, and no more than once`() async throws {
        let hub = try await HubServer(HubServerSettings(port: 0, hubName: try HubName("news"))).start()
        let device = try start(
            hub, "--categories", "World", "--handle", "0A", "--interests", "team:bvb, author:4711=by-{id}")
        try await until { hub.registrationCount == 3 }
        let text = { (number: Int) in #"{"messageParam":"event \#(number)."}"# }
        try await send(hub, body: text(1), to: "(World || team_bvb) && breakingNews")
        try await send(hub, body: text(2), to: "by-4711 && breakingNews")
        try await send(hub, body: text(3), to: "team_s04 && breakingNews")
        try await send(hub, body: text(4), to: "team_bvb && breakingNews")
        try await until { hub.delivered.count == 3 }
        device.terminate()
        let ended = try await device.ended()
        #expect(ended.status == 0, "\(ended.errors)")
        let texts = ended.output.matches(of: /event \d+\./).map { String($0.output) }
        #expect(texts == ["event 1.", "event 2.", "event 4."])
        #expect(ended.errors.contains("registered for World, team:bvb, author:4711 as apple 0A"))
        await hub.stop()
    }

    @Test(arguments: [
        ["--interests", "bvb"], ["--interests", "team:b v b"], ["--interests", ","],
        ["--interests", (1...61).map { "team:\($0)" }.joined(separator: ",")],
        ["--categories", "World", "--interests", (1...60).map { "team:\($0)" }.joined(separator: ",")],
    ])
    func `interests that cannot be followed are wrong usage`(arguments: [String]) async throws {
        let connection = "Endpoint=http://127.0.0.1:1/;SharedAccessKeyName=Listen;SharedAccessKey=k"
        let ended = try await Program.run(["device", "--connection-string", connection, "--hub", "news"] + arguments)
        #expect(ended.status == 64, "\(ended.errors)")
    }

    @Test func `a device that stays registered prints what arrived in the meantime, once`() async throws {
        let hub = try await HubServer(HubServerSettings(port: 0, hubName: try HubName("news"))).start()
        let file = FileManager.default.temporaryDirectory.appending(path: "device-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        var printed: [String] = []
        for round in 1...3 {
            let device = try start(hub, "--categories", "World", "--state", file.path, "--keep", "--json")
            try await until { hub.registrationCount == 3 }
            try await send(hub, "on \(round).", to: "World")
            try await until { Self.seen(file) == round * 4 - 2 }
            device.terminate()
            let ended = try await device.ended()
            #expect(ended.status == 0, "\(ended.errors)")
            printed += ended.output.matches(of: /o[nf]+ \d\./).map { String($0.output) }
            try await send(hub, "off \(round).", to: "World")
            try await until { hub.delivered.count == round * 4 }
        }
        #expect(printed == ["on 1.", "off 1.", "on 2.", "off 2.", "on 3."])
        await hub.stop()
    }

    @Test func `a device that could not ask for older deliveries skips none of them`() async throws {
        let delivery = { @Sendable (number: Int) in
            #"{"number":\#(number),"time":"2027-01-15T10:00:01.000Z","platform":"apple","outcome":"Success","#
                + #""body":"{\"aps\":{\"alert\":\"event \#(number).\"}}"}"#
        }
        let hub = try await ScriptedPublisher.start { request in
            if request.path.hasPrefix("/_emulator/status") {
                return .status(200, body: #"{"received":2,"delivered":2,"registrations":0}"#.utf8)
            }
            if request.path.hasPrefix("/_emulator/stream") {
                let live = "id: 2\nevent: delivery\ndata: \(delivery(2))\n\n"
                return .pieces([Array("HTTP/1.1 200 OK\r\n\r\n\(live)".utf8)], every: .seconds(600))
            }
            if request.path.hasPrefix("/_emulator/devices/") {
                if request.earlier == 0 { return .close }
                return .status(200, body: #"{"deliveries":[\#(delivery(1)),\#(delivery(2))]}"#.utf8)
            }
            return .status(503)
        }
        let connection = "Endpoint=http://127.0.0.1:\(hub.port)/;SharedAccessKeyName=n;SharedAccessKey=c2VjcmV0"
        let device = try Program.start([
            "device", "--connection-string", connection, "--hub", "news", "--categories", "World", "--handle", "0A",
            "--keep",
        ])
        _ = try await device.printed("event 2.")
        device.terminate()
        let texts = try await device.ended().output.matches(of: /event \d+\./).map { String($0.output) }
        #expect(texts == ["event 1.", "event 2."])
        await hub.stop()
    }

    @Test func `a device registers again with a restarted hub`() async throws {
        var settings = HubServerSettings(port: try await FreePort.next(), hubName: try HubName("news"))
        let first = try await HubServer(settings).start()
        settings.connectionString = first.connectionString
        let file = FileManager.default.temporaryDirectory.appending(path: "device-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        let device = try Program.start([
            "device", "--connection-string", first.connectionString.revealed, "--hub", "news", "--categories", "World",
            "--state", file.path,
        ])
        try await until { first.registrationCount == 3 }
        try await send(first, "before.", to: "World")
        try await until { Self.seen(file) == 2 }
        await first.stop()
        let second = try await HubServer(settings).start()
        try await until { second.registrationCount == 3 }
        try await send(second, "after.", to: "World")
        try await until { second.delivered.count == 2 }
        device.terminate()
        let ended = try await device.ended()
        #expect(ended.status == 0, "\(ended.errors)")
        #expect(ended.output.matches(of: /(before|after)\./).map { String($0.output.0) } == ["before.", "after."])
        await second.stop()
    }

    /// The number of the last delivery that the device has saved as printed.
    private static func seen(_ file: URL) -> Int? {
        let root = (try? Data(contentsOf: file)).flatMap { try? JSONSerialization.jsonObject(with: $0) }
        return ((root as? [String: Any])?["device"] as? [String: Any])?["seen"] as? Int
    }

    @Test func `a device uses https with a certificate that it is told to trust`() async throws {
        var settings = HubServerSettings(port: 0, hubName: try HubName("news"))
        settings.security = .selfSigned
        let server = try HubServer(settings)
        let hub = try await server.start()
        let file = FileManager.default.temporaryDirectory.appending(path: "hub-\(UUID().uuidString).pem")
        try Data(try #require(server.certificatePEM).utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let device = try start(hub, "--categories", "World", "--trust-roots", file.path)
        try await until { hub.registrationCount == 3 }
        device.terminate()
        #expect(try await device.ended().status == 0)
        let stranger = try start(hub, "--categories", "World", "--trust-roots", "/nowhere.pem")
        #expect(try await stranger.ended().errors.hasPrefix("error: no certificates can be read from /nowhere.pem"))
        await hub.stop()
    }

    @Test func `a hub that never answers gets each request once, and the device still ends on request`() async throws {
        let hub = SilentHub()
        let silent = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { $0.pipeline.addHandler(SilentHub.Connection(hub)) }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(silent.localAddress?.port)
        let connection = "Endpoint=http://127.0.0.1:\(port)/;SharedAccessKeyName=n;SharedAccessKey=c2VjcmV0"
        let device = try Program.start([
            "device", "--connection-string", connection, "--hub", "news", "--categories", "World",
        ])
        try await until { hub.changes.withLock { $0 } == ["PUT"] }
        device.terminate()
        let ended = try await device.ended()
        #expect(ended.status == 1)
        #expect(ended.errors.contains("error: the device may still be registered"))
        #expect(hub.changes.withLock { $0 } == ["PUT", "DELETE"])
        try await silent.close()
    }

    @Test(
        arguments: [
            (
                "news", "c2VjcmV0", "the hub answered 401: ",
                "; copy the connection string again, and check this machine's clock"
            ),
            ("weather", nil, "the hub answered 404: ", "; check --hub and the Endpoint of the connection string"),
        ] as [(String, String?, String, String)])
    func `a hub that refuses the device for good ends it at once, with the remedy`(
        name: String, key: String?, reason: String, remedy: String
    ) async throws {
        let hub = try await HubServer(HubServerSettings(port: 0, hubName: try HubName("news"))).start()
        let wrong = key.map {
            "Endpoint=http://127.0.0.1:\(hub.port)/;SharedAccessKeyName=DefaultListenSharedAccessSignature;SharedAccessKey=\($0)"
        }
        let connection = try wrong ?? #require(hub.listenConnectionString).revealed
        let ended = try await Program.run([
            "device", "--connection-string", connection, "--hub", name, "--categories", "World",
        ])
        #expect(ended.status == 1)
        #expect(ended.errors.hasPrefix("error: \(reason)"), "\(ended.errors)")
        #expect(ended.errors.hasSuffix("\(remedy)\n"), "\(ended.errors)")
        #expect(!ended.errors.contains("..") && !ended.errors.contains("by itself"), "\(ended.errors)")
        await hub.stop()
    }

    @Test func `a device that cannot print what arrives unregisters and fails`() async throws {
        let hub = try await HubServer(HubServerSettings(port: 0, hubName: try HubName("news"))).start()
        let device = try Program.start(
            [
                "device", "--connection-string", try #require(hub.listenConnectionString).revealed, "--hub", "news",
                "--categories", "World",
            ], output: try Program.fullDisk())
        try await until { hub.registrationCount == 3 }
        try await send(hub, "lost.", to: "World")
        let ended = try await device.ended()
        #expect(ended.status == 1)
        #expect(ended.errors.contains("error: standard output: No space left on device\n"), "\(ended.errors)")
        #expect(hub.registrationCount == 0)
        await hub.stop()
    }

    @Test(arguments: [
        [], ["--categories", ","], ["--categories", "no tag"], ["--categories", "World", "--platform", "palm"],
        ["--categories", "World", "--handle", "xyz"], ["--categories", "World", "--handle", ""],
        ["--categories", "World", "--hub", "a/b"],
    ])
    func `a wrong call ends at once with 64`(arguments: [String]) async throws {
        let connection = "Endpoint=http://127.0.0.1:9/;SharedAccessKeyName=n;SharedAccessKey=c2VjcmV0"
        let hub = arguments.contains("--hub") ? [] : ["--hub", "news"]
        let ended = try await Program.run(["device", "--connection-string", connection] + hub + arguments)
        #expect(ended.status == 64)
        #expect(!ended.errors.contains("c2VjcmV0"))
    }

    @Test(arguments: [
        (#"{"aps":{"alert":"A \"quote\""},"category":"World"}"#, "apple", "10:00:01  World  A \"quote\""),
        (#"{"aps":{"alert":{"title":"T","body":"B"}}}"#, "apple", "10:00:01  T: B"),
        (#"{"message":{"notification":{"body":"B"},"data":{"category":"Sports"}}}"#, "fcmv1", "10:00:01  Sports  B"),
        (#"{"message":{"data":{"message":"B"}}}"#, "fcmv1", "10:00:01  B"),
        (
            "<toast><text id=\"1\">World</text><text id='2'>a &amp;lt; b</text></toast>", "windows",
            "10:00:01  World  a &lt; b"
        ),
        ("<toast><visual><text>only", "windows", "10:00:01  <toast><visual><text>only"),
        (#"{"message":"m","category":"c"}"#, "browser", "10:00:01  c  m"),
        ("no json \u{1B}[31m", "apple", "10:00:01  no json  [31m"), ("", "browser", "10:00:01  (no text)"),
    ])
    func `a notification of any content is printed as one line`(body: String, platform: String, line: String) throws {
        let delivery: [String: Any] = [
            "number": 1, "time": "2027-01-15T10:00:01.000Z", "platform": platform, "body": body, "outcome": "Success",
        ]
        #expect(try #require(DeviceNotification(delivery)).line == line)
    }

    @Test func `events are read whole, regardless of how their bytes are cut`() {
        let bytes = Array(
            ": watching\n\nid: 1\r\nevent: delivery\r\ndata: {\"a\":1}\r\n\r\ndata:x\ndata: y\n\n\n\ndata: cut".utf8)
        for size in 1...bytes.count {
            var reader = DeviceEventReader()
            var events: [String] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                events += reader.read(bytes[start..<min(bytes.count, start + size)]).map {
                    String(decoding: $0, as: UTF8.self)
                }
            }
            #expect(events == [#"{"a":1}"#, "x\ny"])
        }
    }

    @Test func `a device of a later hub prints that hub's news, also from the time when it was away`()
        async throws
    {
        let hub = try await HubServer(HubServerSettings(port: 0, hubName: try HubName("news"))).start()
        let root = try #require(hub.namespaceConnectionString)
        var token = AccessToken(root)
        let header = ("Authorization", token.headerValue(at: Int64(Date().timeIntervalSince1970)))
        let description =
            #"<entry xmlns="http://www.w3.org/2005/Atom"><content><NotificationHubDescription/></content></entry>"#
        let made = try await RawClient.call(
            hub.port, "PUT", "/sports?api-version=2017-04", headers: [header], body: description)
        #expect(made.status == 201, "\(made.text)")
        let file = FileManager.default.temporaryDirectory.appending(path: "device-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        let send = { (text: String) in
            let sent = try await RawClient.call(
                hub.port, "POST", "/sports/messages",
                headers: [header, ("ServiceBusNotification-Format", "template"), ("Content-Type", "application/json")],
                body: #"{"messageParam":"\#(text)"}"#)
            #expect(sent.status == 201)
        }
        var printed: [String] = []
        // Each send arrives through both templates of the device.
        for (text, last) in [("live.", 2), ("again.", 6)] {
            let device = try Program.start([
                "device", "--connection-string", root.revealed, "--hub", "sports", "--categories", "World", "--state",
                file.path, "--keep",
            ])
            _ = try await device.wrote("registered for")
            try await send(text)
            try await until { Self.seen(file) == last }
            device.terminate()
            printed += try await device.ended().output.matches(of: /(live|away|again)\./).map { String($0.output.0) }
            try await send("away.")
        }
        #expect(printed == ["live.", "away.", "again."])
        await hub.stop()
    }

    private func start(_ hub: RunningHub, _ arguments: String...) throws -> Program.Running {
        let connection = try #require(hub.listenConnectionString)
        return try Program.start(["device", "--connection-string", connection.revealed, "--hub", "news"] + arguments)
    }

    private func send(_ hub: RunningHub, _ text: String, to tag: String) async throws {
        try await send(hub, body: #"{"messageParam":"\#(text)","category":"\#(tag)"}"#, to: tag)
    }

    private func send(_ hub: RunningHub, body: String, to tag: String) async throws {
        var request = URLRequest(url: try #require(URL(string: "\(hub.connectionString.endpoint)news/messages")))
        var token = AccessToken(hub.connectionString)
        request.httpMethod = "POST"
        request.setValue(
            token.headerValue(at: Int64(Date().timeIntervalSince1970)), forHTTPHeaderField: "Authorization")
        request.setValue("template", forHTTPHeaderField: "ServiceBusNotification-Format")
        request.setValue(tag, forHTTPHeaderField: "ServiceBusNotification-Tags")
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = Data(body.utf8)
        let (_, response) = try await URLSession.shared.data(for: request)
        #expect((response as? HTTPURLResponse)?.statusCode == 201)
    }

    /// Polls until the condition holds.
    private func until(_ condition: () -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(30)
        while !condition() {
            try #require(ContinuousClock.now < deadline, "the condition did not hold within 30 s")
            await Task.yield()
        }
    }
}

/// A hub that knows no registration, never answers a change, and closes the connection of a removal.
private final class SilentHub: Sendable {
    let changes = Mutex<[String]>([])

    final class Connection: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer
        private let hub: SilentHub

        init(_ hub: SilentHub) { self.hub = hub }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let line = String(buffer: unwrapInboundIn(data)).prefix { $0 != "\r\n" }
            let method = String(line.prefix { $0 != " " })
            if ["PUT", "DELETE"].contains(method) { hub.changes.withLock { $0.append(method) } }
            if method == "DELETE" { context.close(promise: nil) }
            guard method == "GET", line.contains("registrations") else { return }
            let empty = "HTTP/1.1 200 OK\r\nContent-Length: 44\r\n\r\n<feed xmlns=\"http://www.w3.org/2005/Atom\"/>\n"
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: empty)), promise: nil)
        }
    }
}
