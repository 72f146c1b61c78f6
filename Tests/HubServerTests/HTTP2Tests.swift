import Foundation
import HTTPServing
import HubServer
import NIOCore
import NIOPosix
import NIOSSL
import NotificationHub
import TestSupport
import Testing

private let python = Python(with: "h2", "httpx")

@Suite(.timeLimit(.minutes(5)))
struct HTTP2Tests {
    // MARK: Clients that speak nothing else

    @Test(.enabled(if: python != nil, "needs httpx[http2] of deploy/test-requirements.txt (in NEWSWIRE_TEST_PYTHON)"))
    func `a client in Python makes every call`() async throws {
        try await withHub { hub, certificate in
            let (status, answers) = try await #require(python).run(
                script: "http2_calls.py", arguments: [certificate], input: try Self.lines(hub))
            #expect(status == 0)
            #expect(answers.split(separator: "\n").map(String.init) == Self.calls.map { "HTTP/2 \($0.status)" })
        }
    }

    @Test(.enabled(if: Java.isHere, "needs a Java development kit, 17 or newer"))
    func `a client in Java makes every call`() async throws {
        try await withHub { hub, certificate in
            let (status, answers) = try await Java.run(
                "HTTP2Calls.java", arguments: [certificate], input: try Self.lines(hub))
            #expect(status == 0)
            #expect(answers.split(separator: "\n").map(String.init) == Self.calls.map { "HTTP/2 \($0.status)" })
        }
    }

    // MARK: Clients that do not keep to the rules

    private typealias Limits = @Sendable (inout ConnectionLimits) -> Void
    private static let soon = Duration.milliseconds(200)

    private static let rude: [(String, Limits, [String])] = [
        ("handshake", { $0.firstByte = soon }, ["closed"]),
        ("body", { $0.body = soon }, ["408", "reset"]),
        ("reader", { $0.write = soon }, ["200", "data 10", "reset"]),
        ("silence", { $0.idle = soon }, ["200", "goaway", "closed"]),
    ]

    @Test(
        .enabled(if: python != nil, "needs httpx[http2] of deploy/test-requirements.txt (in NEWSWIRE_TEST_PYTHON)"),
        arguments: rude)
    private func `a client that takes too long loses its request or its connection`(
        what: String, limits: Limits, answers: [String]
    ) async throws {
        try await withHub {
            limits(&$0)
            $0.farewell = Self.soon
        } _: { hub, certificate in
            let (status, output) = try await #require(python).run(
                script: "http2_rude.py", arguments: ["\(hub.port)", certificate, what])
            #expect(status == 0)
            #expect(output.split(separator: "\n").map(String.init) == answers)
        }
    }

    @Test(arguments: 0..<10)
    func `a hub stops while callers are choosing their version`(round: Int) async throws {
        var settings = HubServerSettings(port: 0, hubName: try HubName("hub"))
        settings.security = .selfSigned
        let server = try HubServer(settings)
        let hub = try await server.start()
        let pem = try #require(server.certificatePEM)
        let port = hub.port
        let callers = (0..<16).map { number in
            Task {
                var connections = 0
                while let channel = try? await Self.connect(port, pem, ["h2", "http/1.1"].suffix(1 + number % 2)) {
                    connections += 1
                    channel.close(promise: nil)
                }
                return connections
            }
        }
        let first = try await Self.connect(port, pem, ["h2"])
        await hub.stop()
        try await first.closeFuture.get()
        for caller in callers { _ = await caller.value }
    }

    /// - Returns: as soon as the connection stands, in the middle of its handshake.
    private static func connect(
        _ port: Int, _ certificate: String, _ protocols: ArraySlice<String>
    ) async throws -> any Channel {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(certificate.utf8)))
        configuration.applicationProtocols = Array(protocols)
        let context = try NIOSSLContext(configuration: configuration)
        return try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handler = try NIOSSLClientHandler(context: context, serverHostname: "localhost")
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
    }

    // MARK: The hub

    private func withHub(
        _ limits: Limits = { _ in }, _ body: (RunningHub, String) async throws -> Void
    ) async throws {
        var settings = HubServerSettings(port: 0, hubName: try HubName("hub"))
        settings.security = .selfSigned
        limits(&settings.limits)
        let server = try HubServer(settings)
        let hub = try await server.start()
        let certificate = FileManager.default.temporaryDirectory.appending(path: "hub-\(hub.port).pem")
        try Data((server.certificatePEM ?? "").utf8).write(to: certificate)
        defer { try? FileManager.default.removeItem(at: certificate) }
        do { try await body(hub, certificate.path) } catch {
            await hub.stop()
            throw error
        }
        await hub.stop()
    }

    private static let calls: [(method: String, path: String, status: Int)] = [
        ("GET", "/hub/registrations?api-version=2015-01", 200),
        ("POST", "/hub/registrationids?api-version=2015-01", 201),
    ]

    private static func lines(_ hub: RunningHub) throws -> String {
        let (name, value) = try token(hub)
        return calls.map { "\($0.method)\thttps://127.0.0.1:\(hub.port)\($0.path)\t\(name):\(value)\t\n" }.joined()
    }
}
