import FeedIO
import Feeds
import Foundation
import NIOCore
import TestSupport
import Testing

struct FetcherTLSTests {
    @Test(arguments: ["localhost", "127.0.0.1"])
    func `a trusted certificate for the host is accepted`(host: String) async throws {
        try await withPublisher(certificate: TestCertificates.localhost) {
            _ in
            .status(200, body: Array(smallFeed.utf8))
        } _: { publisher, fetcher in
            let result = try await fetcher.get(publisher.url("/", host: host))
            #expect(result.answer?.bodyBytes == smallFeed.utf8.count)
        }
    }

    @Test(
        arguments: [
            (TestCertificates.elsewhere, "localhost", true), (TestCertificates.elsewhere, "127.0.0.1", true),
            (TestCertificates.expired, "localhost", true), (TestCertificates.localhost, "localhost", false),
        ])
    func `any other certificate prevents the request`(certificate: String, host: String, isTrusted: Bool) async throws {
        try await withPublisher(certificate: certificate) { _ in
            .status(200)
        } _: { publisher, _ in
            let fetcher = try TestFetcher(trustsTests: isTrusted)
            let failure = try #require(await fetcher.get(publisher.url("/", host: host)).failure)
            #expect(failure.reason == .tls)
            #expect(failure.detail.contains("certificate"), "\(failure.detail)")
            #expect(publisher.requests.isEmpty)
            await fetcher.close()
        }
    }

    /// Without such a variable, only the system's authorities are trusted.
    @Test(arguments: [("SSL_CERT_FILE", true), ("SSL_CERT", false)])
    func `the authorities that the environment names are trusted`(variable: String, isTrusted: Bool) async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).pem")
        try Data(TestCertificates.authority.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try await withPublisher(certificate: TestCertificates.localhost) { _ in
            .status(200)
        } _: { publisher, _ in
            var settings = FetcherSettings()
            settings.limits = .patient
            settings.trustCertificates(of: ["SSL_CERT_DIR": "", variable: file.path()])
            let fetcher = TestFetcher(try Fetcher(settings, lookUp: systemLookUp))
            let result = try await fetcher.get(publisher.url("/"))
            #expect((result.answer?.status == 200) == isTrusted && (result.failure?.reason == .tls) == !isTrusted)
            await fetcher.close()
        }
    }

    @Test(
        arguments: [
            (TestCertificates.elsewhere, "hub.elsewhere.example", true),
            // The certificate is valid for the connected address, but not for the requested name.
            (TestCertificates.localhost, "news.example", false),
        ])
    func `a certificate must have the name in the address`(certificate: String, host: String, isGood: Bool)
        async throws
    {
        try await withPublisher(certificate: certificate) { _ in
            .status(200)
        } _: { publisher, _ in
            let fetcher = try TestFetcher { _, port in [try SocketAddress(ipAddress: "127.0.0.1", port: port)] }
            let result = try await fetcher.get(publisher.url("/", host: host), allow: [host])
            #expect((result.answer?.status == 200) == isGood)
            #expect((result.failure?.reason == .tls) == !isGood)
            #expect(publisher.requests.count == (isGood ? 1 : 0))
            await fetcher.close()
        }
    }

    @Test(
        arguments: [.text("HTTP/1.1 400 Bad Request\r\n\r\n"), .text("\0\0\0\0\0\0"), .silence]
            as [ScriptedPublisher.Answer])
    func `https to a port without TLS ends with advice, or at the limit`(answer: ScriptedPublisher.Answer) async throws
    {
        let publisher = try await ScriptedPublisher.start(greeting: answer) { _ in .close }
        let fetcher = try TestFetcher(
            FetchLimits.patient.with { if case .silence = answer { $0.whole = .milliseconds(400) } })
        let failure = try #require(await fetcher.get("https://localhost:\(publisher.port)/").failure)
        if case .silence = answer {
            #expect(failure.reason == .timeout)
        } else {
            #expect(failure.reason == .tls)
            #expect(failure.detail.contains("TLS"))
        }
        await fetcher.close()
        await publisher.stop()
    }

    @Test func `a body without a length needs the end that TLS demands, so that a cut is noticed`() async throws {
        try await withPublisher(certificate: TestCertificates.localhost) {
            _ in
            .text("HTTP/1.1 200 OK\r\n\r\n\(smallFeed)")
        } _: { publisher, fetcher in
            let result = try await fetcher.get(publisher.url("/"))
            #expect(result.answer?.bodyBytes == smallFeed.utf8.count)
        }
        try await withPublisher(certificate: TestCertificates.localhost) {
            _ in
            .text("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n\(smallFeed)")
        } _: { publisher, fetcher in
            let result = try await fetcher.get(publisher.url("/"))
            #expect(result.failure?.reason == .disconnected)
        }
    }
}
