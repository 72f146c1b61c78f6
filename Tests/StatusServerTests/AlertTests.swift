import Foundation
import NewsModel
import PublishEngine
import TestSupport
import Testing

/// Tests the shipped alert rules with the metrics that a publisher serves, from its first scrape on.
struct AlertTests {
    @Test
    func `every counter by lane exists at 0 in the first scrape`() async throws {
        let room = try await StatusRoom(runs: false)
        let samples = Samples(try await room.get("/metrics").text)
        for reason in DeadLetterReason.all {
            #expect(samples[#"newswire_dead_letters_total{lane="live",reason="\#(reason)"}"#] == 0, "\(reason)")
        }
        for part in PayloadCuts.allNames {
            #expect(samples[#"newswire_payload_cuts_total{lane="live",part="\#(part)"}"#] == 0, "\(part)")
        }
        for outcome in Outcome.allCases.map(\.rawValue) {
            #expect(samples[#"newswire_deliveries_total{lane="live",outcome="\#(outcome)"}"#] == 0, "\(outcome)")
            let series = #"newswire_category_deliveries_total{category="World",outcome="\#(outcome)"}"#
            #expect(samples[series] == 0, "\(outcome)")
        }
        for name in [
            "newswire_categories_left_out_total", "newswire_delivery_seconds_count",
            "newswire_removed_unread_records_total",
        ] {
            #expect(samples[name + #"{lane="live"}"#] == 0, "\(name)")
        }
        for name in [
            "newswire_hub_requests_total", "newswire_kafka_errors_total", "newswire_partition_restarts_total",
            "newswire_control_alarms", "newswire_control_unreadable_records", "newswire_unaudited_total",
            "newswire_held_events_lost_total",
        ] {
            #expect(samples[name] == 0, "\(name)")
        }
        #expect(samples.values { $0.hasPrefix("newswire_limited_seconds_total{") }.count == Limiter.allCases.count)
        try await room.close()
    }

    @Test(.enabled(if: Promtool.isHere, "needs promtool (Debian: prometheus)"), .timeLimit(.minutes(15)))
    func `the first burst of dead letters triggers an alert for each reason`() async throws {
        let room = try await StatusRoom()
        _ = try await room.status { $0.ready }
        let first = Samples(try await room.get("/metrics").text)
        try room.newsroom.topics.publish([
            "{", "[]", #"{"id":"u","headline":"x","category":"Nowhere"}"#, #"{"id":"n","headline":"x"}"#,
        ])
        let settled = try await room.status { $0.settled == 4 }
        // The status lists only reasons that have occurred.
        #expect(settled.lanes.first?.deadLetters.count == 4)
        let second = Samples(try await room.get("/metrics").text)
        try await room.close()

        // The series have a scrape every ten seconds: five minutes of the first page, then the second page.
        let letters = second.series { $0.hasPrefix("newswire_dead_letters_total{") }
        let input = letters.map { series in
            let before = first[series].map { "\(Int($0))" } ?? "_"
            return "      - {series: '\(series)', values: '\(before)x30 \(Int(second[series] ?? 0))x30'}"
        }
        let alerts = ["no-category", "not-an-object", "truncated-json", "unknown-category"].map {
            #"          - {labels: '{reason="\#($0)"}', value: 1}"#
        }
        let ended = try Promtool.test(
            """
            rule_files: [\(repository.appending(path: "deploy/prometheus/rules.yaml").path)]
            evaluation_interval: 10s
            tests:
              - interval: 10s
                input_series:
            \(input.joined(separator: "\n"))
                promql_expr_test:
                  - {expr: 'ALERTS{alertname="NewswireDeadLetters"}', eval_time: 5m, exp_samples: []}
                  - expr: count by (reason) (ALERTS{alertname="NewswireDeadLetters", alertstate="firing"})
                    eval_time: 6m
                    exp_samples:
            \(alerts.joined(separator: "\n"))
            """)
        #expect(ended.status == 0, "\(ended.output)")
    }
}

/// Runs promtool, Prometheus's own test of rules.
private enum Promtool {
    static var isHere: Bool { (try? run(["--version"]))?.status == 0 }

    static func test(_ text: String) throws -> (status: Int32, output: String) {
        let file = FileManager.default.temporaryDirectory.appending(path: "rules-\(UUID().uuidString).yaml")
        try Data(text.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try run(["test", "rules", file.path])
    }

    private static func run(_ arguments: [String]) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["promtool"] + arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: text, as: UTF8.self))
    }
}
