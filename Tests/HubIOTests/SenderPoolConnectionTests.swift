import HubIO
import HubModel
import NIOCore
import NotificationHub
import Testing

@Suite struct SenderPoolConnectionTests {
    private static let created = "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"

    @Test func `idle connections that the hub closes are replaced`() async throws {
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
    @Test func `a close that the event loop has not noticed is detected before writing`() async throws {
        let hub = try await ScriptedHub.start { _ in .reply(Self.created) }
        let sender = try await Sender(port: hub.port)
        #expect(await sender.send().reply?.status == 201)
        // The pool's loop is blocked until the hub has closed. It then sends before it polls its sockets.
        let result = await sender.sendAfter { done in hub.closeConnections(after: .milliseconds(30), whenDone: done) }
        #expect(result.reply?.status == 201, "\(result)")
        #expect(hub.accepted == 2)
        try await sender.close()
        try await hub.stop()
    }
    #endif

    @Test func `unused connections close`() async throws {
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
    func `any idle time is valid`(idleTimeout: Duration) async throws {
        let hub = try await ScriptedHub.start { _ in .reply(Self.created) }
        let sender = try await Sender(port: hub.port, limits: .test.with { $0.idleTimeout = idleTimeout })
        for _ in 0..<3 { #expect(await sender.send().reply?.status == 201) }
        try await sender.close()
        try await hub.stop()
    }

    @Test func `closing waits for replies, up to its time limit`() async throws {
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
        let journal = try await Journal(port: hub.port, connections: 1)
        await journal.close(within: .zero, keepsPool: true)
        try await journal.send(1...2)
        try await journal.turnLoop()
        #expect(journal.lines == ["closed"])
        #expect(hub.accepted == 0)
        try await hub.stop()
    }

    @Test func `a pool may close while its connections are being opened`() async throws {
        let hub = try await ScriptedHub.start { _ in .silence }
        let sender = try await Sender(port: hub.port)
        async let waiting = sender.send()
        try await sender.until { $0.openConnections > 0 }
        try await sender.close()
        let result = await waiting
        #expect(result.notSent == .poolClosed || result.unknown == .poolClosed, "\(result)")
        try await hub.stop()
    }

    @Test func `every result arrives before the pool reports its close, and nothing follows`() async throws {
        let hub = try await ScriptedHub.start { _ in .silence }
        let journal = try await Journal(port: hub.port, connections: 3)
        try await journal.send(1...8)
        await hub.received(3)
        await journal.close(within: .milliseconds(30))
        // The owner has been released when the hub closes its connections.
        await hub.closeConnections()
        try await journal.turnLoop()
        #expect(journal.ownersLeft == 0)
        let lines = journal.lines
        #expect(lines.last == "closed")
        #expect(Set(lines.dropLast()) == Set((1...8).map { "\($0) poolClosed" }), "\(lines)")
        #expect(lines.count == 9)
        try await hub.stop()
    }

    @Test(arguments: [true, false])
    func `a pool closed during TLS handshakes answers every request, and nothing arrives after`(endsFirst: Bool)
        async throws
    {
        // This hub accepts the TCP connection but sends no TLS.
        let hub = try await ScriptedHub.start(greeting: .silence) { _ in .silence }
        let journal = try await Journal(port: hub.port, connections: 2, scheme: .https)
        try await journal.send(1...4)
        while hub.accepted < 2 { await Task.yield() }
        async let closed: Void = journal.close(within: endsFirst ? .zero : .milliseconds(20))
        if endsFirst { await hub.closeConnections() }
        await closed
        await hub.closeConnections()
        try await journal.turnLoop()
        #expect(journal.lines.count == 5 && journal.lines.last == "closed", "\(journal.lines)")
        // A hub that ends with an unread ClientHello resets the connection.
        let words = Set(journal.lines.dropLast().map { String($0.drop { $0 != " " }.dropFirst()) })
        #expect(words.isSubset(of: ["poolClosed", "closedEarly", "reset"]), "\(words)")
        try await hub.stop()
    }

    @Test func `a pool closed while it connects answers every request at once`() async throws {
        // No host has this address, because RFC 5737 reserves it for documentation.
        let journal = try await Journal(port: 9, host: "192.0.2.1", connections: 2)
        try await journal.send(1...3)
        await journal.close(within: .zero)
        #expect(journal.lines.last == "closed" && journal.lines.count == 4, "\(journal.lines)")
    }

    @Test func `a pool that closes before its TLS connections are ready is closed when they are`() async throws {
        let hub = try await ScriptedHub.start(greeting: .silence) { _ in .silence }
        let journal = try await Journal(port: hub.port, connections: 2, scheme: .https)
        try await journal.send(1...2)
        await journal.close(within: .seconds(60))
        #expect(journal.lines == ["1 poolClosed", "2 poolClosed", "closed"])
        try await hub.stop()
    }

    @Test func `requests to a closed pool are answered or dropped without a trap`() async throws {
        let hub = try await ScriptedHub.start { _ in .silence }
        let journal = try await Journal(port: hub.port, connections: 1)
        try await journal.send(1...1)
        await hub.received(1)
        async let closed: Void = journal.close(within: .milliseconds(20), keepsPool: true)
        try await journal.send(2...2)
        await closed
        try await journal.send(3...3)
        try await journal.turnLoop()
        #expect(journal.lines.last == "closed" && !journal.lines.contains { $0.hasPrefix("3 ") }, "\(journal.lines)")
        #expect(journal.lines.count == 3)
        try await hub.stop()
    }
}
