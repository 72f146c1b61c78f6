import Foundation
import HTTPServing
import HubEmulator
import HubServer
import NIOCore
import NIOPosix
import NIOSSL
import NotificationHub
import TestSupport
import Testing

private let python = Python(with: "h2", "httpx")

@Suite(.timeLimit(.minutes(15)))
struct HTTP2Tests {
    // MARK: Clients that speak nothing else

    private static let needsPython: ConditionTrait = .enabled(
        if: python != nil, "needs httpx[http2] of deploy/test-requirements.txt (in NEWSWIRE_TEST_PYTHON)")

    @Test(needsPython)
    func `a Python client makes every call over HTTP2 with the same answers as over HTTP 1_1`() async throws {
        #expect(try await answers(inPython: "2") == older())
    }

    @Test(needsPython, .enabled(if: Java.isHere, "needs a Java development kit, 17 or newer"))
    func `a Java client makes every call over HTTP2 with the same answers as over HTTP 1_1`() async throws {
        let answers = try await answers {
            try await Java.run("HTTP2Calls.java", arguments: [$0], input: $1)
        }
        #expect(try await answers == older())
    }

    /// The expected answers. Each run uses a new hub.
    private func older() async throws -> [String] {
        let answers = try await answers(inPython: "1")
        #expect(answers.allSatisfy { $0.hasPrefix("HTTP/1.1 2") || $0.hasPrefix("HTTP/1.1 40") })
        return answers.map { $0.replacing("HTTP/1.1", with: "HTTP/2") }
    }

    private func answers(inPython version: String) async throws -> [String] {
        try await answers {
            try await #require(python).run(script: "http2_calls.py", arguments: [$0, version], input: $1)
        }
    }

    private func answers(
        _ client: (_ certificate: String, _ calls: String) async throws -> (status: Int32, output: String)
    ) async throws -> [String] {
        var lines: [String] = []
        try await withHub { hub, certificate in
            let (status, output) = try await client(certificate, try Self.calls(of: hub))
            #expect(status == 0)
            lines = output.split(separator: "\n").map(String.init)
        }
        #expect(lines.count == WireTable.calls.count)
        return lines
    }

    private static func calls(of hub: RunningHub) throws -> String {
        let all = try #require(hub.namespaceConnectionString)
        let token = SharedAccessSignature.token(
            resource: all.endpoint.audience, keyName: all.keyName, key: all.key, expiresAt: 4_000_000_000)
        return WireTable.calls.map { call in
            let fields = call.headers.fields.map { "\($0.name):\($0.value)" } + ["Authorization:\(token)"]
            let address = "https://127.0.0.1:\(hub.port)" + call.target.replacing("{hub}", with: "hub")
            let body = Data(call.body.utf8).base64EncodedString()
            return "\(call.method)\t\(address)\t\(fields.joined(separator: "|"))\t\(body)\n"
        }.joined()
    }

    // MARK: Clients that do not keep to the rules

    private typealias Limits = @Sendable (inout ConnectionLimits) -> Void
    private static let soon = Duration.milliseconds(200)

    private static let rude: [(String, Limits, [String])] = [
        ("handshake", { $0.firstByte = soon }, ["closed"]),
        ("body", { $0.body = soon }, ["408", "reset"]),
        ("reader", { $0.write = soon }, ["200", "data 10", "reset"]),
        ("silence", { $0.idle = soon }, ["200", "goaway", "closed"]),
        (
            "events",
            {
                $0.streamsMax = 2; $0.streamTime = .seconds(600)
            }, ["200", "200", "503", "503"]
        ),
    ]

    @Test(needsPython, arguments: rude)
    private func `a client that takes too long or too much loses its request or its connection`(
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

    @Test(needsPython)
    func `unread answers are bounded, and the part that a client may read arrives`() async throws {
        try await withHub {
            $0.heldByConnectionMax = 200_000
        } _: { hub, certificate in
            let (status, output) = try await #require(python).run(
                script: "http2_rude.py", arguments: ["\(hub.port)", certificate, "flood"])
            let counts = output.split(separator: "\n").compactMap { Int($0) }
            #expect(status == 0 && counts.count == 2, "\(output)")
            // At most 12 of the fifty answers are sent.
            #expect(counts.allSatisfy { 1...12 ~= $0 }, "\(counts)")
        }
    }

    @Test(needsPython)
    func `the connection that uses most memory is closed beyond the common limit`() async throws {
        try await withHub {
            $0.heldMax = 200_000
        } _: { hub, certificate in
            let (status, output) = try await #require(python).run(
                script: "http2_rude.py", arguments: ["\(hub.port)", certificate, "flood"])
            #expect(status == 0 && output.hasSuffix("closed\n"), "\(output)")
            let next = try await #require(python).run(
                script: "http2_rude.py", arguments: ["\(hub.port)", certificate, "calm"])
            #expect(next.output == "200\n")
        }
    }

    @Test(arguments: 0..<10)
    func `a hub stops while callers negotiate their HTTP version`(round: Int) async throws {
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

    /// - Returns: the connection, in the middle of its TLS handshake.
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
}
