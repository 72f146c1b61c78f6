import HTTPServing
import Hummingbird
import NIOCore
import NIOPosix
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15)))
struct RunningServerTests {
    @Test
    func `a port in use is reported with its number`() async throws {
        let server = try await RunningServer.start(Echo(), host: "127.0.0.1", port: 0, limits: .long())
        let failure = try #require(
            await #expect(throws: ListenFailure.self) {
                _ = try await RunningServer.start(Echo(), host: "127.0.0.1", port: server.port, limits: .long())
            })
        #expect("\(failure)" == "127.0.0.1:\(server.port) is in use by another process")
        await server.stop()
    }

    /// Connections that were accepted but not served used to end the process if the port closed at that moment.
    @Test(arguments: 0..<20)
    func `a server stops while callers keep connecting`(round: Int) async throws {
        let server = try await RunningServer.start(Echo(), host: "127.0.0.1", port: 0, limits: .long())
        let callers = (0..<16).map { _ in
            Task {
                var connections = 0
                while let channel = try? await Self.connect(server.port) {
                    connections += 1
                    channel.close(promise: nil)
                }
                return connections
            }
        }
        #expect(try await RawClient.call(server.port, "GET", "/").status == 200)
        await server.stop()
        var connections = 0
        for caller in callers { connections += await caller.value }
        #expect(connections > 0)
    }

    @Test(arguments: ["", "GET /"])
    func `a server stops although callers stay connected`(request: String) async throws {
        let server = try await RunningServer.start(Echo(), host: "127.0.0.1", port: 0, limits: .long())
        try await RawClient.hold(server.port, Array(request.utf8)) { await server.stop() }
        await #expect(throws: (any Error).self) { try await Self.connect(server.port) }
    }

    @Test(arguments: ["/", "/endless"])
    func `a server stops although callers were answered or are being answered`(target: String) async throws {
        let server = try await RunningServer.start(Echo(), host: "127.0.0.1", port: 0, limits: .long())
        let request = Array("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
        try await RawClient.holdAnswer(server.port, request) { await server.stop() }
    }

    private static func connect(_ port: Int) async throws -> any Channel {
        try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port).get()
    }
}

/// Answers at once; on `/endless` for as long as the connection is open.
private struct Echo: HTTPResponder {
    func respond(to request: Request, context: BasicRequestContext) async throws -> Response {
        guard request.uri.path == "/endless" else { return Response(status: .ok) }
        let body = ResponseBody { writer in
            while true { try await writer.write(ByteBuffer(repeating: 0x2e, count: 65_536)) }
        }
        return Response(status: .ok, body: body)
    }
}
