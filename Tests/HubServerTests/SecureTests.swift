import HubServer
import NIOCore
import NIOPosix
import NIOSSL
import NotificationHub
import TestSupport
import Testing

struct SecureTests {
    @Test
    func `https with a certificate made at start, checked by the client`() async throws {
        var settings = HubServerSettings(port: 0, hubName: try HubName("BreakingNews"))
        settings.security = .selfSigned
        let server = try HubServer(settings)
        let hub = try await server.start()
        #expect(hub.connectionString.revealed.hasPrefix("Endpoint=sb://127.0.0.1:\(hub.port)/;"))
        var configuration = TLSConfiguration.makeClientConfiguration()
        let pem = try #require(server.certificatePEM)
        configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(pem.utf8)))
        let context = try NIOSSLContext(configuration: configuration)
        let connection = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: hub.port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handler = try NIOSSLClientHandler(context: context, serverHostname: "localhost")
                    try channel.pipeline.syncOperations.addHandler(handler)
                    return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        let (name, value) = try token(hub)
        let request =
            "POST /BreakingNews/messages?api-version=2020-06 HTTP/1.1\r\nHost: 127.0.0.1:\(hub.port)\r\n"
            + "Connection: close\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\(name): \(value)\r\n\r\n{}"
        let bytes = try await connection.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(string: request))
            var bytes: [UInt8] = []
            do {
                for try await buffer in inbound { bytes += buffer.readableBytesView }
            } catch is NIOSSLError {
                // The server may close without a TLS close_notify.
            }
            return bytes
        }
        let reply = try RawClient.Reply(bytes)
        #expect(reply.status == 201)
        #expect(reply.headers["location"]?.hasPrefix("https://127.0.0.1:\(hub.port)/") == true)
        await hub.stop()
    }

    @Test
    func `an unreadable certificate is reported by name`() throws {
        var settings = HubServerSettings(port: 0, hubName: try HubName("BreakingNews"))
        settings.security = .files(certificate: "/nowhere.pem", key: "/nowhere.key")
        #expect(throws: HubServerProblem.self) { try HubServer(settings) }
    }
}
