import Foundation
import KafkaIO
import PublisherService
import TestSupport
import Testing

struct VersionTests {
    @Test func `the program tells its version, its commit and librdkafka's version`() async throws {
        let ended = try await Program.run(["--version"])
        #expect(ended.status == 0)
        let form = /newswire ([0-9.]+) \(commit ([0-9a-f]{12}|unknown), librdkafka ([0-9.]+)\)\n/
        let parts = try #require(ended.output.wholeMatch(of: form), "\(ended.output)")
        #expect(parts.1 == ServiceVersion.text)
        #expect(parts.3 == KafkaLibrary.version)
    }

    @Test(arguments: [
        ("README.md", "This is version "), ("deploy/kubernetes/newswire.yaml", "image: newswire:"),
        ("deploy/kubernetes/ingest.yaml", "image: newswire:"), ("deploy/kubernetes/telemetry.yaml", "image: newswire:"),
        ("deploy/kubernetes/second-hub.yaml", "image: newswire:"),
    ])
    func `other files name the same version`(path: String, before: String) throws {
        let text = try String(contentsOf: repository.appending(path: path), encoding: .utf8)
        #expect(text.contains(before + ServiceVersion.text))
    }
}
