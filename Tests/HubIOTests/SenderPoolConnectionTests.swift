import HubIO
import NIOCore
import NotificationHub
import Testing

@Suite struct SenderPoolConnectionTests {
    private static let created = "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"

    @Test(arguments: [ScriptedHub.Step.reset, .close, .reply("HTTP/1.1 408 Timeout\r\n\r\n")])
    func `a connection that ends before any request costs no request`(greeting: ScriptedHub.Step) async throws {
        let hub = try await ScriptedHub.start(greeting: greeting) { _ in .reply(Self.created) }
        let sender = try await Sender(port: hub.port)
        try await sender.withPool { $0.warmUp(3) }
        try await sender.until { $0.openConnections == 0 }
        #expect(hub.requests.isEmpty)
        #expect(try await sender.strays == 0)
        try await sender.close()
        try await hub.stop()
    }

    @Test func `a hub that closes idle connections is met with new ones`() async throws {
        let hub = try await ScriptedHub.start { _ in .reply(Self.created) }
        let sender = try await Sender(port: hub.port)
        for _ in 0..<3 {
            #expect(await sender.send().reply?.status == 201)
            await hub.closeConnections()
            try await sender.until { $0.openConnections == 0 }
        }
        #expect(hub.accepted == 3)
        try await sender.close()
        try await hub.stop()
    }

    #if os(Linux)
    @Test func `a close that the event loop has not seen yet is seen before writing`() async throws {
        let hub = try await ScriptedHub.start { _ in .reply(Self.created) }
        let sender = try await Sender(port: hub.port)
        #expect(await sender.send().reply?.status == 201)
        // The pool's loop stands still until the hub has closed, and then sends before it looks at its sockets.
        let result = await sender.sendAfter { done in hub.closeConnections(after: .milliseconds(30), whenDone: done) }
        #expect(result.reply?.status == 201, "\(result)")
        #expect(hub.accepted == 2)
        try await sender.close()
        try await hub.stop()
    }
    #endif

    @Test func `connections close when nobody needs them`() async throws {
        let hub = try await ScriptedHub.start { _ in .reply(Self.created) }
        let sender = try await Sender(port: hub.port, limits: .test.with { $0.idleTimeout = .milliseconds(30) })
        #expect(await sender.send().reply?.status == 201)
        try await sender.until { $0.openConnections == 0 }
        #expect(await sender.send().reply?.status == 201)
        #expect(hub.accepted == 2)
        try await sender.close()
        try await hub.stop()
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.max)])
    func `any idle time is a valid one`(idleTimeout: Duration) async throws {
        let hub = try await ScriptedHub.start { _ in .reply(Self.created) }
        let sender = try await Sender(port: hub.port, limits: .test.with { $0.idleTimeout = idleTimeout })
        for _ in 0..<3 { #expect(await sender.send().reply?.status == 201) }
        try await sender.close()
        try await hub.stop()
    }

    @Test func `closing lets replies arrive, and gives up on those that do not`() async throws {
        let hub = try await ScriptedHub.start { number in number == 0 ? .silence : .reply(Self.created) }
        let sender = try await Sender(port: hub.port, limits: .test.with { $0.connections = 2 })
        async let silent = sender.send()
        await hub.received(1)
        #expect(await sender.send().reply?.status == 201)
        try await sender.close(within: .milliseconds(50))
        #expect(await silent.unknown == .poolClosed)
        try await hub.stop()
    }

    @Test func `a closed pool sends nothing`() async throws {
        let hub = try await ScriptedHub.start { _ in .reply(Self.created) }
        let sender = try await Sender(port: hub.port)
        try await sender.withPool { $0.close() }
        #expect(await sender.send().notSent == .poolClosed)
        #expect(hub.accepted == 0)
        try await hub.stop()
    }

    @Test func `a pool may close while its connections are being opened`() async throws {
        let hub = try await ScriptedHub.start { _ in .silence }
        let sender = try await Sender(port: hub.port)
        async let waiting = sender.send()
        try await sender.until { $0.openConnections > 0 }
        try await sender.withPool { $0.warmUp(4) }
        try await sender.close()
        let result = await waiting
        #expect(result.notSent == .poolClosed || result.unknown == .poolClosed, "\(result)")
        try await hub.stop()
    }

    @Test func `connections opened ahead stay within the limit and are used`() async throws {
        let hub = try await ScriptedHub.start { _ in .reply(Self.created) }
        let sender = try await Sender(port: hub.port, limits: .test.with { $0.connections = 3 })
        let opened = try await sender.withPool { pool in
            pool.warmUp(10)
            return pool.openConnections
        }
        #expect(opened == 3)
        #expect(await sender.send().reply?.status == 201)
        let open = try await sender.withPool { $0.openConnections }
        #expect(open == 3)
        try await sender.close()
        try await hub.stop()
    }
}
