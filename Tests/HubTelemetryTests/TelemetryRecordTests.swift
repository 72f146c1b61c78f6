import Foundation
import HubTelemetry
import NewsModel
import NotificationHub
import TestSupport
import Testing

struct TelemetryRecordTests {
    @Test func `examples read and write back as equal JSON`() throws {
        let examples = try JSONSchema.examples("news-telemetry.")
        #expect(examples.count >= 4)
        for (name, bytes) in examples {
            let record = try TelemetryRecord(decoding: bytes)
            let expected = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? NSDictionary)
            let again = try #require(try JSONSerialization.jsonObject(with: Data(record.json)) as? NSDictionary)
            #expect(again == expected, "\(name)")
            #expect(try TelemetryRecord(decoding: record.json) == record)
        }
    }

    @Test(.enabled(if: JSONSchema.isReadable, JSONSchema.need))
    func `the schema accepts the examples and refuses what the decoder refuses`() async throws {
        let examples = try JSONSchema.examples("news-telemetry.").map { String(decoding: $0.bytes, as: UTF8.self) }
        let good = try #require(examples.first { $0.contains("Completed") })
        let bad = [
            "{}", good.replacing("\"Completed\"", with: "\"Done\""),
            good.replacing("\"template\"", with: "\"symbian\""),
            good.replacing("32377", with: "\"soon\""), good.replacing("10412", with: "-1"),
            good.replacing("\"attempt\"", with: "\"try\""), good.replacing("true", with: "1"),
        ]
        for text in bad {
            #expect(text != good)
            #expect(throws: Undecodable.self) { try TelemetryRecord(decoding: Array(text.utf8)) }
        }
        #expect(try await JSONSchema.misjudged("news-telemetry", good: examples, bad: bad) == "")
    }

    @Test func `targets exclude repeated registrations and unmatched sends`() throws {
        var record = try Self.record()
        record.counts = [
            .init(
                platform: "apns",
                outcomes: [
                    .init(name: "Success", count: 5), .init(name: "Skipped", count: 2),
                    .init(name: "BadChannel", count: 1),
                ]),
            .init(platform: "wns", outcomes: [.init(name: "NoTargets", count: 1), .init(name: "Success", count: 3)]),
        ]
        #expect(record.targets == 9 && record.successes == 8)
    }

    @Test func `a state from the hub outranks a missing one, in any order`() throws {
        var said = try Self.record()
        (said.attempt, said.state, said.isFinal) = (2, .completed, true)
        var silent = said
        (silent.attempt, silent.state) = (8, .unknown)
        var partial = said
        (partial.attempt, partial.state, partial.isFinal) = (3, .processing, false)
        #expect(said.supersedes(silent) && !silent.supersedes(said))
        #expect(said.supersedes(partial) && !partial.supersedes(said))
        #expect(silent.supersedes(partial) && !partial.supersedes(silent))
        #expect(said.supersedes(said))
    }

    static func record() throws -> TelemetryRecord {
        try TelemetryRecord(decoding: try #require(try JSONSchema.examples("news-telemetry.completed").first).bytes)
    }
}
