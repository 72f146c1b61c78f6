import Foundation
import HTTPServing
import NewsModel
import NotificationHub
import StatusServer
import TestSupport
import Testing

@testable import HubTelemetry

/// Tests health, metrics and page of a process that polls the hub about sends.
@Suite(.timeLimit(.minutes(15)))
struct TelemetryStatusServerTests {
    private static let now = Instant(milliseconds: 1_780_000_000_000)

    /// The last record of a send.
    private static func record(
        _ state: TelemetryRecord.State = .completed, lane: String = "live", took seconds: Int = 1,
        polled ago: Int = 60, _ counts: [String: [String: Int64]] = [:]
    ) -> TelemetryRecord {
        let accepted = now - .seconds(ago + seconds + 10)
        return TelemetryRecord(
            eventID: "e", platform: .template, notificationID: "n", lane: lane, attempt: 1, state: state, isFinal: true,
            polledAt: now - .seconds(ago), age: .seconds(seconds + 10), acceptedAt: accepted,
            endedAt: accepted + .seconds(seconds),
            counts: counts.sorted { $0.key < $1.key }.map { platform, outcomes in
                .init(
                    platform: platform,
                    outcomes: outcomes.sorted { $0.key < $1.key }.map { .init(name: $0.key, count: $0.value) })
            })
    }

    private static let figures: TelemetryFigures = {
        var figures = TelemetryFigures()
        for took in [1, 1, 4, 4, 25] {
            figures.count(
                record(took: took, ["apns": ["Success": 90, "WrongToken": 10], "fcmv1": ["Success": 200]]), tags: [])
        }
        figures.count(record(polled: 3_000, ["wns": ["InvalidCredentials": 40]]), tags: [])
        figures.count(record(polled: 120, ["wns": ["InvalidCredentials": 2]]), tags: [])
        figures.count(record(lane: "backfill", took: 2_000, ["apns": ["Success": 30, "Throttled": 90]]), tags: [])
        for ago in [30, 600, 20] { figures.count(record(.noTargetFound, polled: ago), tags: ["Wrold"]) }
        figures.count(record(.noTargetFound, polled: 40), tags: ["<b>Sprots</b>"])
        figures.count(record(.abandoned), tags: [])
        for _ in 0..<14 { figures.count(.details) }
        for _ in 0..<3 { figures.count(.nothing) }
        figures.count(.notSampled)
        return figures
    }()

    static func serve(
        _ figures: TelemetryFigures = figures, open: Int = 3, problem: TelemetryProblem? = nil,
        _ body: (Int) async throws -> Void
    ) async throws {
        let report = TelemetryReport(
            at: now, startedAt: now - .seconds(3_600), figures: figures, open: open, oldest: .seconds(95),
            problem: problem, isAssigned: true)
        let running = try await ReportServer.start(.patient(), telemetry: { report })
        do { try await body(running.port) } catch { Issue.record(error) }
        await running.stop()
    }

    private struct Status: Decodable {
        var sends: [Sends]
        var outcomes: [Outcome]
        var withoutTargetCount: Int
        var withoutTarget: [Tag]

        struct Sends: Decodable {
            var lane: String
            var states: [String: Int]
            var targets: Int
            var successes: Int
            var timed: Int
            var secondsWithin: [String: Double]
        }

        struct Outcome: Decodable {
            var lane: String
            var platform: String
            var outcome: String
            var devices: Int
            var last: String
        }

        struct Tag: Decodable, Equatable {
            var tag: String
            var sends: Int
            var last: String
        }
    }

    private func status(_ port: Int, _ query: String = "") async throws -> Status {
        try JSONDecoder().decode(
            Status.self, from: Data(try await RawClient.call(port, "GET", "/api/status" + query).text.utf8))
    }

    @Test func `the status has the number of reached devices, the times and the lanes`() async throws {
        try await Self.serve { port in
            let sends = try await status(port).sends
            #expect(sends.map(\.lane) == ["backfill", "live"])
            let (backfill, live) = (try #require(sends.first), try #require(sends.last))
            #expect(live.states == ["Completed": 7, "NoTargetFound": 4, "Abandoned": 1])
            #expect((live.targets, live.successes) == (5 * 300 + 42, 5 * 290))
            // Of the twelve sends, nine took a second, two at most five, and one half a minute.
            #expect((live.timed, live.secondsWithin) == (12, ["p50": 1, "p90": 5]))
            // The time exceeds the last bound.
            #expect((backfill.timed, backfill.secondsWithin) == (1, [:]))
        }
    }

    @Test func `an outcome has its number of devices and its latest time`() async throws {
        try await Self.serve { port in
            let dead = try #require(try await status(port).outcomes.first { $0.outcome == "InvalidCredentials" })
            #expect((dead.platform, dead.lane, dead.devices) == ("wns", "live", 42))
            #expect(dead.last == (Self.now - .seconds(120)).description)
        }
    }

    @Test func `tags without devices are listed up to the page's limit, the latest first`() async throws {
        try await Self.serve { port in
            let all = try await status(port)
            #expect(all.withoutTarget.map(\.tag) == ["Wrold", "<b>Sprots</b>"])
            #expect(
                all.withoutTarget.first == .init(tag: "Wrold", sends: 3, last: (Self.now - .seconds(20)).description))
            let one = try await status(port, "?limit=1")
            #expect((one.withoutTargetCount, one.withoutTarget.count) == (2, 1))
        }
    }

    @Test func `metrics agree with the status, and those for alerts exist at 0`() async throws {
        try await Self.serve { port in
            let samples = Samples(try await RawClient.call(port, "GET", "/metrics").text)
            let live = #"{lane="live",platform="template"}"#
            #expect(samples["newswire_telemetry_targets_total" + live] == 1_542)
            #expect(samples["newswire_telemetry_successes_total" + live] == 1_450)
            #expect(samples["newswire_telemetry_dead_credentials_total"] == 42)
            #expect(samples[#"newswire_telemetry_no_target_total{tag="Wrold"}"#] == 3)
            #expect(samples[#"newswire_telemetry_end_seconds_bucket{lane="live",platform="template",le="5.0"}"#] == 11)
            #expect(samples["newswire_telemetry_open"] == 3)
        }
        try await Self.serve(TelemetryFigures()) { port in
            let samples = Samples(try await RawClient.call(port, "GET", "/metrics").text)
            #expect(samples["newswire_telemetry_dead_credentials_total"] == 0)
            #expect(samples[#"newswire_telemetry_problem{reason="unreachable"}"#] == 0)
        }
    }

    @Test func `a process without permission is healthy but not ready, and gives the reason`() async throws {
        try await Self.serve(problem: .notAllowed) { port in
            let ready = try await RawClient.call(port, "GET", "/readyz")
            #expect(ready.status == 503 && ready.text.contains("Standard tier"))
            #expect(try await RawClient.call(port, "GET", "/healthz").status == 200)
        }
        try await Self.serve(problem: .throttled) { port in
            let ready = try await RawClient.call(port, "GET", "/readyz")
            #expect(ready.status == 200, "a pause is normal")
        }
    }

    @Test func `only the page and the figures are served, read-only`() async throws {
        try await Self.serve { port in
            for path in ["/", "/telemetry.js", "/report.js", "/format.js", "/dashboard.css"] {
                let reply = try await RawClient.call(port, "GET", path)
                #expect(reply.status == 200 && !reply.body.isEmpty)
                #expect(reply.headers["content-security-policy"]?.hasPrefix("default-src 'none'") == true)
            }
            for path in ["/feeds.js", "/dashboard.js", "/telemetry.html", "/api/results"] {
                #expect(try await RawClient.call(port, "GET", path).status == 404)
            }
            #expect(try await RawClient.call(port, "POST", "/api/status").status == 405)
            let foreign = try await RawClient.call(port, "GET", "/api/status", headers: [("Host", "evil.example")])
            #expect(foreign.status == 403, "a page of another site that resolves to this machine")
        }
    }
}
