import HTTPServing
import NewsModel
import StatusServer
import TestSupport
import Testing

@testable import Feeds

/// Tests health, metrics and page of a process that follows feeds.
@Suite(.timeLimit(.minutes(15)))
struct FeedStatusServerTests {
    private static let now = Instant(milliseconds: 1_780_000_000_000)

    private static func status(_ name: String, _ change: (inout FeedState) -> Void = { _ in }) -> FeedStatus {
        var state = FeedState()
        state.primedAt = now - .seconds(9_000)
        state.lastSuccessAt = now - .seconds(45)
        state.lastNewAt = now - .seconds(300)
        change(&state)
        var status = FeedStatus(FeedRules(name: name, url: "https://\(name).example/feed.xml"), state, at: now)
        status.lastPollAt = now - .seconds(45)
        status.nextPollAt = now + .seconds(255)
        status.because = "limited by the publisher's max-age of 300 s"
        var counts = FeedCounts()
        (counts.polls, counts.unchanged, counts.bytes) = (40, 30, 123_456)
        counts[.alert] = 7
        counts[.noise] = 3
        counts.rekeyed = 5
        status.counts = counts
        return status
    }

    static let feeds = [
        status("world"),
        status("sport") { state in
            state.medianGap = .seconds(60)
            state.lastNewAt = now - .seconds(9_000)
        },
        status("dpa") { state in
            state.failures = 4
            state.failingSince = now - .seconds(7_300)
            state.failure = "the publisher asks for credentials (401); set headers: {Authorization: …} for this feed"
        },
        status("old") { $0.isGone = true },
        status("quote\"d") { $0.retryUntil = now + .seconds(600) },
        status("afp") { state in
            state.failures = 1
            state.failingSince = now - .seconds(70)
            state.failure = "no answer within 20 s"
        },
    ]

    static func serve(
        _ feeds: [FeedStatus] = feeds, notReady: [ReadinessReason] = [], _ body: (Int) async throws -> Void
    ) async throws {
        let report = IngestReport(at: now, startedAt: now - .seconds(3_600), feeds: feeds, notReady: notReady)
        let running = try await ReportServer.start(.patient(), feeds: { report })
        do { try await body(running.port) } catch { Issue.record(error) }
        await running.stop()
    }

    @Test func `the status lists each feed, the newest problem first`() async throws {
        try await Self.serve { port in
            let status = try await RawClient.call(port, "GET", "/api/status").text
            let order = ["afp", "dpa", "old", "quote", "sport", "world"]
            let places = try order.map { name in try #require(status.firstRange(of: "{\"name\":\"\(name)")).lowerBound }
            #expect(places == places.sorted())
            #expect(status.contains(#""because":"limited by the publisher's max-age of 300 s""#))
            #expect(status.contains(#""entries":{"alert":7,"update":0,"noise":3,"#))
        }
    }

    @Test func `a page requests as many feeds as it can show, and receives their number`() async throws {
        try await Self.serve { port in
            let status = try await RawClient.call(port, "GET", "/api/status?limit=2").text
            #expect(status.contains(#""feedCount":6,"problemCount":3,"feeds":[{"name":"afp""#))
            #expect(status.contains(#""name":"dpa""#) && !status.contains(#""name":"old""#))
            for wrong in ["0", "-1", "x", ""] {
                #expect(try await RawClient.call(port, "GET", "/api/status?limit=\(wrong)").status == 400, "\(wrong)")
            }
        }
    }

    @Test func `every metric has its help and type, and a label cannot break a line`() async throws {
        try await Self.serve { port in
            let text = try await RawClient.call(port, "GET", "/metrics").text
            let samples = Samples(text)
            #expect(samples[#"newswire_feed_entries_total{feed="world",decision="alert"}"#] == 7)
            #expect(samples[#"newswire_feed_state{feed="dpa",state="failing"}"#] == 1)
            #expect(samples[#"newswire_feed_state{feed="dpa",state="primed"}"#] == 0)
            #expect(samples[#"newswire_feed_state{feed="quote\"d",state="waiting"}"#] == 1)
            #expect(samples[#"newswire_feed_problem{feed="old"}"#] == 1)
            #expect(samples[#"newswire_feed_next_poll_timestamp_seconds{feed="world"}"#] == 1_780_000_255)
            #expect(samples[#"newswire_feed_bytes_total{feed="world"}"#] == 123_456)
            #expect(samples[#"newswire_feed_rekeyed_entries_total{feed="world"}"#] == 5)
            #expect(samples[#"newswire_feed_quiet{feed="world"}"#] == 0)
            #expect(samples[#"newswire_feed_quiet{feed="sport"}"#] == 1)
            #expect(samples[#"newswire_feed_usual_gap_seconds{feed="sport"}"#] == 60)
            #expect(samples["newswire_ready"] == 1)
            let families = Set(
                text.split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }.map { $0.split(separator: " ")[2] })
            for line in text.split(separator: "\n") where !line.hasPrefix("#") {
                #expect(families.contains(line.prefix { $0 != "{" && $0 != " " }), "\(line)")
            }
        }
    }

    @Test func `readers of the status do not see keys in addresses`() {
        let url = "https://user:SECRET@agency.example:8443/g2?api_key=SECRET#SECRET"
        let status = FeedStatus(FeedRules(name: "agency", url: url), nil, at: Self.now)
        #expect(status.url == "https://agency.example:8443/g2?…")
        #expect(!String(decoding: status.json, as: UTF8.self).contains("SECRET"))
    }

    @Test func `readers of the status do not see the path of an address that was filled in`() {
        var rules = FeedRules(name: "agency", url: "https://agency.example:8443/SECRET/feed?key=SECRET")
        rules.isURLSecret = true
        var state = FeedState()
        let move = PermanentMove(from: rules.url, to: "https://new.example/SECRET/feed")
        state.move = MovedAddress(restoring: move, since: .distantPast, polls: MovedAddress.pollsNeeded)
        state.webSub.learn(PushSource(hub: "https://hub.example/?token=SECRET", topic: rules.url), at: Self.now)
        let status = FeedStatus(rules, state, at: Self.now)
        #expect(status.url == "https://agency.example:8443/…")
        #expect(status.movedTo == "https://new.example/…")
        #expect(status.push.hub == "https://hub.example/?…")
    }

    @Test func `a process that cannot follow feeds is healthy but not ready, and gives the reason`() async throws {
        let reason = ReadinessReason(code: "kafka", detail: "no broker answers", remedy: "start one")
        try await Self.serve([], notReady: [reason]) { port in
            let ready = try await RawClient.call(port, "GET", "/readyz")
            #expect(ready.status == 503)
            #expect(
                ready.text
                    == #"{"ready":false,"reasons":[{"code":"kafka","detail":"no broker answers","remedy":"start one"}]}"#
            )
            #expect(try await RawClient.call(port, "GET", "/healthz").status == 200)
        }
        try await Self.serve { port in
            let ready = try await RawClient.call(port, "GET", "/readyz")
            #expect(ready.status == 200 && ready.text == #"{"ready":true,"reasons":[]}"#)
        }
    }

    @Test func `only the page and the figures are served, read-only`() async throws {
        try await Self.serve { port in
            for path in ["/", "/feeds.js", "/feedrows.js", "/format.js", "/report.js", "/dashboard.css"] {
                let reply = try await RawClient.call(port, "GET", path)
                #expect(reply.status == 200 && !reply.body.isEmpty)
                #expect(reply.headers["content-security-policy"]?.hasPrefix("default-src 'none'") == true)
            }
            for path in ["/dashboard.js", "/api/results", "/api/lanes/live/pause", "/feeds.html", "/telemetry.js"] {
                let reply = try await RawClient.call(port, "POST", path)
                #expect(reply.status == 404)
            }
            let reply = try await RawClient.call(port, "POST", "/api/status")
            #expect(reply.status == 405 && reply.headers["allow"] == "GET, HEAD")
            let foreign = try await RawClient.call(port, "GET", "/api/status", headers: [("Host", "evil.example")])
            #expect(foreign.status == 403, "a page of another site that resolves to this machine")
        }
    }
}
