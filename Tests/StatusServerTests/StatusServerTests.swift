import Foundation
import HTTPServing
import HubEmulator
import HubServer
import Logging
import NewsModel
import PublisherService
import StatusServer
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15)))
struct StatusServerTests {
    @Test
    func `a publisher without partitions is healthy but not ready`() async throws {
        let room = try await StatusRoom(runs: false)
        let health = try await room.get("/healthz")
        #expect(health.status == 200)
        #expect(health.text == #"{"healthy":true,"reasons":[]}"#)
        let readiness = try await room.get("/readyz")
        #expect(readiness.status == 503)
        #expect(readiness.text.contains(#""code":"not-assigned","detail":"lane live: no partitions assigned yet""#))
        #expect(readiness.text.contains(#","lane":"live"}"#))
        try await room.close()
    }

    @Test
    func `the page contains every file that it requests, and may request no others`() async throws {
        let room = try await StatusRoom(runs: false)
        var wanted = ["/", "/dashboard.css", "/dashboard.js"]
        for index in 0... {
            guard index < wanted.count else { break }
            let file = try await room.get(wanted[index])
            #expect(file.status == 200, "\(wanted[index])")
            #expect(file.headers["content-security-policy"]?.contains("default-src 'none'; script-src 'self'") == true)
            for name in file.text.matches(of: /from "\.(\/[a-z]+\.js)"/).map({ String($0.1) })
            where !wanted.contains(name) {
                wanted.append(name)
            }
        }
        #expect(wanted.count > 5)
        #expect(try await room.get("/nothing.js").status == 404)
        try await room.close()
    }

    @Test
    func `the history names the lanes of its points`() async throws {
        let room = try await StatusRoom(runs: false)
        #expect(try await room.get("/api/history").text == #"{"lanes":["live"],"points":[]}"#)
        try await room.close()
    }

    @Test
    func `the reported start time is constant`() async throws {
        let room = try await StatusRoom(runs: false)
        var starts: Set<String> = []
        for _ in 0..<20 {
            let text = try await room.get("/api/status").text
            starts.insert(String(try #require(text.firstMatch(of: /"startedAt":"([^"]+)"/)).1))
        }
        #expect(starts.count == 1)
        try await room.close()
    }

    @Test
    func `a port in use is reported with its number`() async throws {
        let room = try await StatusRoom(runs: false)
        let server = StatusServer(
            StatusServerSettings(port: room.server.port), publisher: room.publisher,
            log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let problem = try #require(await #expect(throws: ListenFailure.self) { _ = try await server.start() })
        #expect("\(problem)" == "127.0.0.1:\(room.server.port) is in use by another process")
        try await room.close()
    }

    @Test
    func `readiness reports a hub that refuses the key, with a remedy`() async throws {
        let room = try await StatusRoom()
        _ = try await room.status { $0.ready }
        #expect(try await room.get("/readyz").text == #"{"ready":true,"reasons":[]}"#)

        var fault = HubFault()
        fault.status = 401
        room.newsroom.hub.add(fault)
        try room.newsroom.topics.publish([#"{"id":"a","headline":"A ferry","category":"World"}"#])
        let halted = try await room.status { !$0.ready }
        #expect(halted.halts.map(\.reason) == ["key-refused"])
        #expect(halted.limitedBy == ["halt"])
        #expect(halted.healthy)
        let readiness = try await room.get("/readyz")
        #expect(readiness.status == 503)
        #expect(readiness.text.contains(#""code":"hub-key-refused""#))
        #expect(readiness.text.contains("check hub.connectionString"))
        #expect(try await room.get("/healthz").status == 200)
        #expect(try await room.get("/metrics").text.contains(#"newswire_halted{reason="key-refused"} 1"#))

        room.newsroom.hub.clearFaults()
        let after = try await room.status { $0.ready && $0.settled == 1 }
        #expect(after.halts.isEmpty)
        #expect(try await room.get("/readyz").status == 200)
        #expect(room.newsroom.hub.receivedCount == 1)

        room.publisher.drain()
        #expect(try await room.get("/readyz").text.contains(#""code":"shutting-down""#))
        try await room.close()
    }

    @Test
    func `metrics agree with the results on the topic`() async throws {
        let room = try await StatusRoom()
        let good = (0..<200).map { #"{"id":"g\#($0)","headline":"Ferry \#($0)","category":"World"}"# }
        let both = (0..<20).map { #"{"id":"b\#($0)","headline":"Match \#($0)","categories":["Sports","Business"]}"# }
        let bad = ["", "{", "[]", #"{"id":"x"}"#, #"{"id":"u","headline":"Nowhere","category":"No \"such\"\nplace"}"#]
        let late = [#"{"id":"e","headline":"Old","category":"World","expiresAt":"2020-01-01T00:00:00Z"}"#]
        let events = good + both + bad + late + Array(good.prefix(10))
        try room.newsroom.topics.publish(events)
        _ = try await room.status { $0.settled == events.count && $0.lanes.first?.lag == 0 }

        let results = try room.newsroom.topics.results()
        #expect(results.count == events.count)
        let samples = Samples(try await room.get("/metrics").text)
        for outcome in Outcome.allCases {
            let series = #"newswire_deliveries_total{lane="live",outcome="\#(outcome.rawValue)"}"#
            #expect(samples[series] == Double(results.count { $0.outcome == outcome }), "\(series)")
        }
        for category in ["World", "Sports", "Business", "Politics"] {
            let series = #"newswire_category_deliveries_total{category="\#(category)",outcome="accepted"}"#
            let wanted = results.count { $0.outcome == .accepted && $0.categories.contains(category) }
            #expect(samples[series] == Double(wanted), "\(series)")
        }
        let dead = samples.values { $0.hasPrefix("newswire_dead_letters_total{") }
        #expect(dead.reduce(0, +) == Double(results.count { $0.outcome.isDeadLettered }))
        #expect(samples["newswire_hub_requests_total"] == Double(results.reduce(0) { $0 + $1.attempts }))
        for (name, latency) in [
            ("queue", \ResultRecord.Latency.queue), ("hub", \.hub), ("delivery", \.total),
        ] {
            let known = results.compactMap { $0.latency[keyPath: latency] }
            #expect(samples[#"newswire_\#(name)_seconds_count{lane="live"}"#] == Double(known.count))
            let sum = known.reduce(Duration.zero, +)
            let written = try #require(samples[#"newswire_\#(name)_seconds_sum{lane="live"}"#])
            // The results are written in whole microseconds.
            #expect(abs(written - Double(sum.nanoseconds) / 1e9) < 0.001)
        }
        #expect(samples[#"newswire_consumer_lag_events{lane="live"}"#] == 0)
        #expect(samples[#"newswire_assigned_partitions{lane="live"}"#] == 2)
        #expect(try #require(samples["process_open_fds"]) > 3)
        #expect(try #require(samples["process_resident_memory_bytes"]) > 1_000_000)

        let found = try await room.get("/api/results?event=b7")
        #expect(found.text.contains(#""eventId":"b7""#))
        #expect(!found.text.contains(#""eventId":"b8""#))
        #expect(try await room.get("/api/results?event=%22%00").text == #"{"results":[]}"#)
        #expect(try await room.get("/api/results?limit=3").text.components(separatedBy: "eventId").count == 4)
        try await room.close()
    }

    @Test
    func `a paused lane waits until it is resumed, and the log names the caller`() async throws {
        let room = try await StatusRoom()
        _ = try await room.status { $0.ready }
        #expect(try await room.call("POST", "/api/lanes/live/pause").text == #"{"lane":"live","paused":true}"#)
        _ = try await room.status { $0.lanes.first?.paused == true }
        try room.newsroom.topics.publish([#"{"id":"a","headline":"A ferry","category":"World"}"#])
        let waiting = try await room.status { $0.lanes.first?.held == 1 }
        #expect(waiting.limitedBy == ["pause"])
        #expect(waiting.settled == 0)
        #expect(try await room.get("/readyz").status == 200)
        #expect(try await room.call("POST", "/api/lanes/live/resume").status == 200)
        _ = try await room.status { $0.settled == 1 }
        #expect(
            room.log.all == [
                "operator action action=pause as=loopback caller=127.0.0.1 lane=live",
                "operator action action=resume as=loopback caller=127.0.0.1 lane=live",
            ])
        try await room.close()
    }
}

/// The samples of a metrics page by their whole series name.
struct Samples {
    private var all: [String: Double] = [:]

    init(_ text: String) {
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            guard let space = line.lastIndex(of: " ") else { continue }
            all[String(line[..<space])] = Double(line[space...].dropFirst())
        }
    }

    subscript(series: String) -> Double? { all[series] }

    func series(where isWanted: (String) -> Bool) -> [String] { all.keys.filter(isWanted).sorted() }

    func values(where isWanted: (String) -> Bool) -> [Double] { all.filter { isWanted($0.key) }.map(\.value) }
}
