import FeedIO
import Feeds
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
    func `any other certificate gets no request`(certificate: String, host: String, isTrusted: Bool) async throws {
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

    @Test func `https to a port without TLS says so`() async throws {
        try await withPublisher { _ in
            .text("HTTP/1.1 400 Bad Request\r\n\r\n")
        } _: { publisher, fetcher in
            // The publisher waits for the end of a request, which a TLS greeting has not.
            let limited = try TestFetcher(.short)
            let silent = try await limited.get("https://localhost:\(publisher.port)/").failure
            #expect(silent?.reason == .timeout)
            await limited.close()
        }
    }

    @Test func `a body without a length needs the end that TLS demands, or a cut would go unnoticed`() async throws {
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
