import Foundation
import HubIO
import HubModel
import NotificationHub
import Synchronization
import TestSupport
import Testing

/// HTTP/2 over TLS on real sockets, against a hub that answers frame by frame.
@Suite(.timeLimit(.minutes(5))) struct SenderPoolHTTP2Tests {
    private static func with(
        _ hub: ScriptedHTTP2Hub, limits: SenderLimits = .test, _ body: (Sender) async throws -> Void
    ) async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "hubio-\(UUID().uuidString).pem")
        try Data(TestCertificates.authority.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let sender = try await Sender(
            port: hub.port, scheme: .https, host: "localhost", limits: limits, trust: .file(file.path))
        try await body(sender)
        try await sender.close()
        let strays = try await sender.strays
        #expect(strays == 0)
        try await hub.stop()
    }

    /// Sends requests at once, and waits for all results.
    private static func send(_ count: Int, _ sender: Sender) async -> [SendResult] {
        await withTaskGroup(of: SendResult.self) { group in
            for number in 0..<count { group.addTask { await sender.send(.sample("story \(number)")) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    private static let many = SenderLimits.test.with {
        $0.connections = 16
        $0.waitingMax = 2_000
    }

    @Test func `a connection carries many requests at once`() async throws {
        let hub = try await ScriptedHTTP2Hub.start { _, stream in .frames([.created(stream)]) }
        try await Self.with(hub, limits: Self.many) { sender in
            let results = await Self.send(1_000, sender)
            #expect(results.count { $0.reply?.status == 201 } == 1_000)
            #expect(hub.state.withLock { $0.accepted } == 1)
            let http = try await sender.withPool { $0.http }
            #expect(http == .http2)
        }
    }

    @Test func `the reply to a question keeps its body, and that to a send does not`() async throws {
        let hub = try await ScriptedHTTP2Hub.start { _, stream in
            .frames([.headers(stream, [(":status", "200")], ends: false), .data(stream, "words")])
        }
        try await Self.with(hub) { sender in
            #expect(await sender.send().reply?.body == [])
            #expect(await sender.ask("/news").reply?.body == Array("words".utf8))
            #expect(hub.state.withLock { $0.accepted } == 1)
        }
    }

    @Test func `a pool that does not offer HTTP-2 speaks HTTP-1-1`() async throws {
        let hub = try await ScriptedHTTP2Hub.start { _, stream in .frames([.created(stream)]) }
        try await Self.with(hub, limits: SenderLimits.test.with { $0.offersHTTP2 = false }) { sender in
            #expect(await sender.send().reply?.status == 201)
            #expect(hub.state.withLock { $0.olderRequests } == 1)
        }
    }

    @Test func `a stream that ends without an error after its reply does not end the connection`() async throws {
        // nginx does this after each reply that it gives before it has read the body.
        let hub = try await ScriptedHTTP2Hub.start { _, stream in
            .frames([.created(stream), .reset(stream, 0)])
        }
        try await Self.with(hub, limits: Self.many) { sender in
            let results = await Self.send(1_000, sender)
            #expect(results.count { $0.reply?.status == 201 } == 1_000)
            #expect(hub.state.withLock { $0.accepted } == 1)
        }
    }

    @Test func `a leaving hub answers what it has processed, and the rest goes to the next connection`() async throws {
        let hub = try await ScriptedHTTP2Hub.start { number, stream in
            switch number {
            case 0..<3: .frames([])
            case 3: .frames([.goAway(1), .created(1)])
            default: .frames([.created(stream)])
            }
        }
        try await Self.with(hub) { sender in
            let results = await Self.send(4, sender)
            #expect(results.count { $0.reply?.status == 201 } == 4)
            #expect(hub.state.withLock { $0.requests.map(\.stream) } == [1, 3, 5, 7, 1, 3, 5])
            #expect(hub.state.withLock { $0.accepted } == 2)
        }
    }

    @Test func `a refused request is written again, and every other end of a stream leaves it unknown`() async throws {
        let hub = try await ScriptedHTTP2Hub.start { number, stream in
            switch number {
            case 0: .frames([.reset(stream, 7)])
            case 1: .frames([.created(stream)])
            default: .frames([.reset(stream, UInt32(number))])
            }
        }
        try await Self.with(hub) { sender in
            #expect(await sender.send().reply?.status == 201)
            for _ in 2..<7 { #expect(await sender.send().unknown == .reset) }
            #expect(hub.state.withLock { $0.requests.count } == 7)
            #expect(hub.state.withLock { $0.accepted } == 1)
        }
    }

    @Test func `a hub that always refuses gets each request four times`() async throws {
        let hub = try await ScriptedHTTP2Hub.start { _, stream in .frames([.reset(stream, 7)]) }
        try await Self.with(hub) { sender in
            #expect(await sender.send().notSent == .refused)
            #expect(hub.state.withLock { $0.requests.count } == 4)
        }
    }

    @Test func `a lost connection leaves all its requests unknown`() async throws {
        let hub = try await ScriptedHTTP2Hub.start { number, _ in number < 3 ? .frames([]) : .framesThenClose([]) }
        try await Self.with(hub) { sender in
            let results = await Self.send(4, sender)
            #expect(results.allSatisfy { $0.unknown == .closedEarly }, "\(results)")
        }
    }

    @Test(arguments: [Frame.ping, .settings(ack: true), .created(1)])
    func `a hub that chooses HTTP-2 and does not speak it is spoken to in HTTP-1-1`(greeting: Frame) async throws {
        let hub = try await ScriptedHTTP2Hub.start(greeting: [greeting]) { _, _ in .frames([]) }
        try await Self.with(hub) { sender in
            #expect(await sender.send().reply?.status == 201)
            #expect(hub.state.withLock { ($0.olderRequests, $0.accepted) } == (1, 2))
        }
    }

    @Test func `no more streams are open than the hub allows, and none while it allows none`() async throws {
        let hub = try await ScriptedHTTP2Hub.start(
            greeting: [.settings([(3, 0)]), .settings(ack: true)]
        ) { _, stream in .frames([.created(stream)]) }
        try await Self.with(hub, limits: SenderLimits.test.with { $0.connections = 1 }) { sender in
            var result: SendResult?
            repeat {
                async let next = sender.send()
                // The acknowledgement shows that the client has read the limit.
                await hub.until { $0.controlFrames.contains { $0.type == 4 && $0.flags == 1 } }
                #expect(hub.state.withLock { $0.requests.isEmpty })
                try? await hub.send([.settings([(3, 1)])])
                result = await next
                // A machine that is busy for a second lets the client give the connection up before it hears the new limit.
            } while result?.notSent == .connectTimeout
            #expect(result?.reply?.status == 201)
        }
    }

    @Test func `a hub that allows no request gets none, and the result says why`() async throws {
        let hub = try await ScriptedHTTP2Hub.start(
            greeting: [.settings([(3, 0)]), .settings(ack: true)]
        ) { _, stream in .frames([.created(stream)]) }
        try await Self.with(hub) { sender in
            guard case .notSent(let failure) = await sender.send() else {
                Issue.record("the request was written")
                return
            }
            #expect(failure.detail == "the server allows no request")
            #expect(hub.state.withLock { ($0.requests.count, $0.accepted) } == (0, 1))
        }
    }

    @Test func `pings are answered, and settings acknowledged`() async throws {
        let hub = try await ScriptedHTTP2Hub.start { _, stream in
            .frames([.ping, .settings([(1, 0), (5, 20_000)]), .created(stream)])
        }
        try await Self.with(hub) { sender in
            #expect(await sender.send().reply?.status == 201)
            #expect(await sender.send().reply?.status == 201)
            await hub.until { $0.controlFrames.count { $0.type == 6 && $0.flags == 1 } == 2 }
            await hub.until { $0.controlFrames.count { $0.type == 4 && $0.flags == 1 } == 3 }
        }
    }

    @Test func `a body waits until the hub's window has room for all of it`() async throws {
        let body = Array(repeating: UInt8(ascii: "x"), count: 40_000)
        let request = SendRequest(format: .template, tags: "World", body: body)
        let hub = try await ScriptedHTTP2Hub.start { number, stream in
            .frames(number == 0 ? [] : [.created(stream)])
        }
        try await Self.with(hub) { sender in
            async let first = sender.send(request)
            await hub.until { $0.requests.count == 1 }
            async let second = sender.send(request)
            try await hub.send([.created(1)])
            #expect(await first.reply?.status == 201)
            #expect(hub.state.withLock { $0.requests.count } == 1)
            try await hub.send([.windowUpdate(0, 40_000)])
            #expect(await second.reply?.status == 201)
        }
    }

    @Test func `a body that no stream of the hub takes whole goes over HTTP-1-1`() async throws {
        let hub = try await ScriptedHTTP2Hub.start(
            greeting: [.settings([(4, 10)]), .settings(ack: true)]
        ) { _, stream in .frames([.created(stream)]) }
        try await Self.with(hub) { sender in
            #expect(await sender.send().reply?.status == 201)
            #expect(hub.state.withLock { ($0.olderRequests, $0.requests.count) } == (1, 0))
        }
    }
}
