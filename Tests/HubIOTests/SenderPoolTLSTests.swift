import HubIO
import HubModel
import NIOSSL
import NotificationHub
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite struct SenderPoolTLSTests {
    private static let created = "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"

    private static func withTrustFile<R>(
        _ contents: String = TestCertificates.authority, _ body: (TrustRoots) async throws -> R
    ) async throws -> R {
        let file = FileManager.default.temporaryDirectory.appending(path: "hubio-\(UUID().uuidString).pem")
        try Data(contents.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try await body(.file(file.path))
    }

    @Test(arguments: ["localhost", "127.0.0.1"])
    func `requests go to a hub with a trusted certificate for its name`(host: String) async throws {
        let hub = try await ScriptedHub.start(certificate: TestCertificates.localhost) { number in
            number == 2 ? .replyThenClose(Self.created) : .reply(Self.created)
        }
        try await Self.withTrustFile { trust in
            let sender = try await Sender(port: hub.port, scheme: .https, host: host, trust: trust)
            for _ in 0..<4 {
                #expect(await sender.send().reply?.status == 201)
                if hub.requests.count == 3 { try await sender.until { $0.openConnections == 0 } }
            }
            #expect(hub.accepted == 2)
            try await sender.close()
        }
        try await hub.stop()
    }

    @Test func `an authority that is added later is trusted by the next connection`() async throws {
        let hub = try await ScriptedHub.start(certificate: TestCertificates.localhost) { _ in .reply(Self.created) }
        let sender = try await Self.withTrustFile(TestCertificates.addressOnly) { trust in
            try await Sender(port: hub.port, scheme: .https, host: "localhost", trust: trust)
        }
        #expect(await sender.send().notSent == .tls)
        let tls = try await Self.withTrustFile { try $0.makeHubTLS(offersHTTP2: true) }
        try await sender.until { pool in
            pool.renew(tls)
            return true
        }
        #expect(await sender.send().reply?.status == 201)
        try await sender.close()
        try await hub.stop()
    }

    @Test(arguments: [("127.0.0.1", true), ("localhost", false)])
    func `a certificate for an address is refused for a name of it`(host: String, isGood: Bool) async throws {
        let hub = try await ScriptedHub.start(certificate: TestCertificates.addressOnly) { _ in .reply(Self.created) }
        try await Self.withTrustFile(TestCertificates.addressOnly) { trust in
            let sender = try await Sender(port: hub.port, scheme: .https, host: host, trust: trust)
            let result = await sender.send()
            #expect(isGood ? result.reply?.status == 201 : result.notSent == .tls, "\(result)")
            #expect(hub.requests.count == (isGood ? 1 : 0))
            try await sender.close()
        }
        try await hub.stop()
    }

    @Test(arguments: [
        (TestCertificates.elsewhere, "localhost", true), (TestCertificates.elsewhere, "127.0.0.1", true),
        (TestCertificates.expired, "localhost", true), (TestCertificates.localhost, "localhost", false),
    ])
    func `a wrong name, an expired certificate and an unknown authority send nothing`(
        certificate: String, host: String, isTrusted: Bool
    ) async throws {
        let hub = try await ScriptedHub.start(certificate: certificate) { _ in .reply(Self.created) }
        try await Self.withTrustFile { file in
            let sender = try await Sender(
                port: hub.port, scheme: .https, host: host, trust: isTrusted ? file : .system)
            let result = await sender.send()
            #expect(result.notSent == .tls, "\(result)")
            #expect("\(result)".contains("is for another name") == (certificate == TestCertificates.elsewhere))
            #expect(hub.requests.isEmpty)
            try await sender.close()
        }
        try await hub.stop()
    }

    @Test(arguments: [
        (ScriptedHub.Step.reply("HTTP/1.1 400 Bad Request\r\n\r\n"), SendFailure.Kind.tls), (.close, .closedEarly),
        (.reset, .reset), (.silence, .connectTimeout),
    ])
    func `a server without TLS receives no request`(greeting: ScriptedHub.Step, kind: SendFailure.Kind)
        async throws
    {
        let hub = try await ScriptedHub.start(greeting: greeting) { _ in .silence }
        let sender = try await Sender(
            port: hub.port, scheme: .https, host: "localhost",
            limits: .test.with { $0.connectTimeout = kind == .connectTimeout ? .milliseconds(100) : .seconds(20) })
        let result = await sender.send()
        #expect(
            result.notSent == kind || Set([.reset, .closedEarly]).isSuperset(of: [kind, result.notSent]), "\(result)")
        try await sender.close()
        try await hub.stop()
    }

    @Test(arguments: [0, 1, 4, 5, 6, 60, 127, 128, 400, 700], [false, true])
    func `a connection cut during the TLS handshake has not sent its request`(bytes: Int, resets: Bool) async throws {
        let hub = try await ScriptedHub.start(
            certificate: TestCertificates.localhost, cut: .init(bytes: bytes, resets: resets)
        ) { _ in .reply(Self.created) }
        try await Self.withTrustFile { trust in
            let sender = try await Sender(port: hub.port, scheme: .https, host: "localhost", trust: trust)
            let result = await sender.send()
            #expect([.closedEarly, .reset].contains(result.notSent), "\(result)")
            #expect(hub.requests.isEmpty)
            try await sender.close()
        }
        try await hub.stop()
    }

    @Test(arguments: [
        "\u{15}\u{3}\u{3}\0\u{2}\u{2}\u{28}", "\u{16}\u{3}\u{3}\0\u{4}\0\0\0\0", "\0\0\0\0\0\0\0\0\0", "SSH-2.0-x\r\n",
    ])
    func `bytes that are not TLS prevent sending`(garbage: String) async throws {
        let hub = try await ScriptedHub.start(greeting: .replyThenClose(garbage)) { _ in .silence }
        let sender = try await Sender(port: hub.port, scheme: .https, host: "localhost")
        let result = await sender.send()
        #expect([.tls, .closedEarly, .reset].contains(result.notSent), "\(result)")
        try await sender.close()
        try await hub.stop()
    }

    @Test func `a truncated TLS reply is unknown, and a body without a length needs a clean close`() async throws {
        let hub = try await ScriptedHub.start(certificate: TestCertificates.localhost) { number in
            number == 0 ? .reset : .replyThenClose("HTTP/1.1 503 Busy\r\n\r\nlater")
        }
        try await Self.withTrustFile { trust in
            let sender = try await Sender(port: hub.port, scheme: .https, host: "localhost", trust: trust)
            let cut = await sender.send()
            #expect(cut.unknown == .reset || cut.unknown == .closedEarly, "\(cut)")
            #expect(await sender.send().reply?.status == 503)
            try await sender.close()
        }
        try await hub.stop()
    }

    @Test(arguments: ["", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
    func `a file without certificates is a problem at set-up`(contents: String) async throws {
        try await Self.withTrustFile(contents) { trust in
            _ = #expect(throws: TrustRootsProblem.self) { try trust.makeContext() }
        }
        #expect(throws: TrustRootsProblem.self) { try TrustRoots.file("/no/such/file.pem").makeContext() }
    }
}
