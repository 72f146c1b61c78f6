import Dispatch
import FeedIO
import Feeds
import NIOCore
import Synchronization
import TestSupport
import Testing

/// Addresses that must not be fetched, over real sockets. The publisher plays a service that attackers look for.
struct FetcherAddressTests {
    /// An address that counts as public and leads nowhere, because IANA has not assigned it.
    private static let nowhere = "3000::1"

    @Test(arguments: ["127.0.0.1", "localhost", "127.1", "0x7f.0.0.1", "2130706433", "[::ffff:127.0.0.1]", "0.0.0.0"])
    func `no spelling of the loopback address is fetched unless it is allowed`(host: String) async throws {
        try await withPublisher { _ in
            .status(200)
        } _: { publisher, fetcher in
            let failure = try #require(await fetcher.get(publisher.url("/", host: host), allow: []).failure)
            #expect(failure.reason == .forbiddenAddress, "\(failure)")
            #expect(failure.detail.contains("allowPrivate: [\""))
            #expect(publisher.accepted == 0)
        }
    }

    @Test func `a redirect to a private address is not followed`() async throws {
        let inside = try await ScriptedPublisher.start { _ in .status(200) }
        for target in ["http://127.0.0.1:\(inside.port)/", "http://internal.example:\(inside.port)/admin"] {
            try await withPublisher { _ in
                .redirect(302, to: target)
            } _: { publisher, _ in
                let fetcher = try TestFetcher(FetchLimits.patient.with { $0.ports.insert(inside.port) }) { host, port in
                    // The feed's own host is allowed; both lead to the loopback.
                    [try SocketAddress(ipAddress: "127.0.0.1", port: port)]
                }
                let failure = try await fetcher.get(publisher.url("/", host: "news.example"), allow: ["news.example"])
                    .failure
                #expect(failure?.reason == .forbiddenAddress)
                await fetcher.close()
            }
        }
        #expect(inside.accepted == 0)
        await inside.stop()
    }

    @Test(
        arguments: [
            ("ftp://127.0.0.1/", .forbiddenAddress), ("file:///etc/passwd", .forbiddenAddress),
            ("gopher://127.0.0.1:70/x", .forbiddenAddress), ("http://name:hush@127.0.0.1/", .forbiddenAddress),
            ("http://127.0.0.1:22/", .forbiddenAddress), ("http://[::1", .badAddress), ("http://", .badAddress),
        ] as [(String, FetchFailure.Reason)])
    func `a redirect to another scheme, a strange port or with user info is refused`(
        target: String, reason: FetchFailure.Reason
    ) async throws {
        try await withPublisher { _ in
            .redirect(301, to: target)
        } _: { publisher, fetcher in
            let failure = try #require(await fetcher.get(publisher.url("/")).failure)
            #expect(failure.reason == reason)
            #expect(!failure.detail.contains("hush"))
            #expect(publisher.accepted == 1)
        }
    }

    @Test func `a redirect from https to http is refused`() async throws {
        let plain = try await ScriptedPublisher.start { _ in .status(200) }
        try await withPublisher(certificate: TestCertificates.localhost) {
            _ in
            .redirect(301, to: plain.url("/"))
        } _: { publisher, _ in
            let fetcher = try TestFetcher(FetchLimits.patient.with { $0.ports.insert(plain.port) })
            #expect(try await fetcher.get(publisher.url("/")).failure?.reason == .downgrade)
            #expect(plain.accepted == 0)
            await fetcher.close()
        }
        await plain.stop()
    }

    @Test func `an address is checked again when the name server changes its answer`() async throws {
        try await withPublisher { _ in
            .status(200)
        } _: { publisher, _ in
            let lookups = Mutex(0)
            let fetcher = try TestFetcher(FetchLimits.patient.with { $0.connect = .milliseconds(200) }) { _, port in
                let count = lookups.withLock { count in
                    count += 1
                    return count
                }
                return [try SocketAddress(ipAddress: count == 1 ? Self.nowhere : "127.0.0.1", port: port)]
            }
            let url = publisher.url("/", host: "rebinding.example")
            let first = try #require(await fetcher.get(url, allow: []).failure)
            #expect([.connectFailed, .timeout].contains(first.reason))
            #expect(lookups.withLock { $0 } == 1, "the connection uses the addresses that were checked")
            #expect(try await fetcher.get(url, allow: []).failure?.reason == .forbiddenAddress)
            #expect(publisher.accepted == 0)
            await fetcher.close()
        }
    }

    @Test func `only the public addresses of a name are tried`() async throws {
        try await withPublisher { _ in
            .status(200)
        } _: { publisher, _ in
            let fetcher = try TestFetcher(FetchLimits.patient.with { $0.connect = .milliseconds(200) }) { _, port in
                try ["127.0.0.1", "::1", Self.nowhere].map { try SocketAddress(ipAddress: $0, port: port) }
            }
            let failure = try #require(await fetcher.get(publisher.url("/", host: "mixed.example"), allow: []).failure)
            #expect([.connectFailed, .timeout].contains(failure.reason))
            #expect(publisher.accepted == 0)
            await fetcher.close()
        }
    }

    @Test func `a name without an address and a failed lookup are not reported as refusals`()
        async throws
    {
        for addresses in [nil, []] as [[SocketAddress]?] {
            let fetcher = try TestFetcher { _, _ in
                guard let addresses else { throw FetchFailure(.unknownHost, "no.example cannot be found") }
                return addresses
            }
            #expect(try await fetcher.get("http://no.example/").failure?.reason == .unknownHost)
            await fetcher.close()
        }
    }

    @Test func `a slow name server delays no other fetch`() async throws {
        try await withPublisher { _ in
            .status(200)
        } _: { publisher, _ in
            let gate = DispatchSemaphore(value: 0)
            let fetcher = try TestFetcher { host, port in
                if host == "slow.example" { gate.wait() }
                return [try SocketAddress(ipAddress: "127.0.0.1", port: port)]
            }
            async let slow = fetcher.get("http://slow.example/")
            let quick = try await fetcher.get(publisher.url("/", host: "quick.example"), allow: ["quick.example"])
            #expect(quick.answer?.status == 200)
            gate.signal()
            #expect(try await slow.failure?.reason == .forbiddenAddress)
            await fetcher.close()
        }
    }
}
