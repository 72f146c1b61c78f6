import ByteText
import FeedIO
import Feeds
import NIOCore
import NIOSSL
import TestSupport

/// A fetcher that trusts the tests' own certificates, with requests to publishers on the loopback.
struct TestFetcher {
    let fetcher: Fetcher

    init(_ fetcher: Fetcher) { self.fetcher = fetcher }

    init(
        _ limits: FetchLimits = .patient, bodies: Int? = nil, contact: String? = nil, trustsTests: Bool = true,
        lookUp: @escaping LookUp = systemLookUp
    ) throws {
        var settings = FetcherSettings()
        settings.limits = limits
        if let bodies { settings.bodies = bodies }
        settings.contact = contact
        if trustsTests {
            settings.trust = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(TestCertificates.authority.utf8)))
        }
        fetcher = try Fetcher(settings, lookUp: lookUp)
    }

    func get(
        _ url: String, validators: Validators? = nil, headers: [HeaderField] = [],
        allow: [String] = ["127.0.0.1", "localhost"], known: BodyHash? = nil
    ) async throws -> FetchResult {
        let request = FetchRequest(
            url: url, validators: validators, headers: headers, allowPrivate: allow, knownBodyHash: known)
        return try await fetcher.fetch(request).result.get()
    }

    func close() async { await fetcher.close() }
}

extension FetchResult {
    var answer: FetchAnswer? { if case .answered(let answer) = self { answer } else { nil } }
    var failure: FetchFailure? { if case .failed(let failure) = self { failure } else { nil } }
}

extension FetchLimits {
    /// Limits for answers that never end: long enough to begin, short enough to wait for.
    static let short = FetchLimits().with { $0.whole = .milliseconds(400) }
    /// Limits for answers that arrive. No machine is busy enough to exceed them.
    static let patient = FetchLimits().with {
        $0.connect = .seconds(120)
        $0.whole = .seconds(240)
    }

    func with(_ change: (inout FetchLimits) -> Void) -> FetchLimits {
        var limits = self
        change(&limits)
        return limits
    }
}

/// Runs a publisher and a fetcher for the duration of a test.
func withPublisher<R>(
    _ limits: FetchLimits = .patient, certificate: String? = nil,
    script: @escaping @Sendable (ScriptedPublisher.Request) -> ScriptedPublisher.Answer,
    _ body: (ScriptedPublisher, TestFetcher) async throws -> R
) async throws -> R {
    let publisher = try await ScriptedPublisher.start(certificate: certificate, script: script)
    let fetcher = try TestFetcher(limits)
    let result = try await body(publisher, fetcher)
    await fetcher.close()
    await publisher.stop()
    return result
}

let smallFeed = """
    <?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>T</title><id>urn:f</id>
    <entry><id>urn:1</id><title>One</title><updated>2026-01-01T00:00:00Z</updated></entry></feed>
    """
