import ByteText
import ControlIO
import EditorialControl
import Foundation
import HTTPServing
import KafkaIO
import Logging
import NewsModel
import PublisherService
import StatusServer
import TestSupport
import Testing

/// Orders given and shown over HTTP, in a process whose publisher is not running.
struct ControlMonitorTests {
    private struct Known: Decodable {
        var known: Bool
        var problem: String?
        var standing: Int
        var orders: [Order]
        var recent: [Order]

        struct Order: Decodable {
            var scope: String
            var `do`: String
            var by: String
            var reason: String?
            var former: Former?
        }

        struct Former: Decodable {
            var by: String
        }
    }

    private func known(_ room: StatusRoom, where isWanted: (Known) -> Bool) async throws -> Known {
        while true {
            let reply = try await room.get("/api/control")
            let known = try JSONDecoder().decode(Known.self, from: Data(reply.text.utf8))
            if isWanted(known) { return known }
        }
    }

    @Test func `an order is given by a local POST, and shown with its author`() async throws {
        let room = try await StatusRoom(runs: false, controls: true)
        let stopped = try await room.call(
            "POST", "/api/control/stop?what=hub&reason=wrong%20alert&by=M.%20Mustermann")
        #expect(stopped.status == 200, "\(stopped.text)")
        #expect(stopped.text.contains(#""scope":"stop/hub","do":"stop","processes":0,"applied":0"#))
        #expect(try await room.get("/api/control").text.contains(#""known":true"#), "also to a caller that asks once")
        let shown = try await known(room) { $0.standing == 1 && $0.recent.count == 1 }
        #expect(shown.orders.map(\.scope) == ["stop/hub"])
        #expect(shown.recent.map(\.by) == ["M. Mustermann (dashboard, 127.0.0.1)"])
        #expect(shown.recent.map(\.reason) == ["wrong alert"])

        let again = try await room.call("POST", "/api/control/stop?what=hub&reason=maintenance&by=ops")
        #expect(again.text.contains(#","reason":"wrong alert"}"#), "\(again.text)")
        let replaced = try await known(room) { $0.recent.count == 2 && $0.orders.first?.reason == "maintenance" }
        #expect(replaced.orders.map(\.reason) == ["maintenance"])
        #expect(replaced.recent.map(\.former?.by) == ["M. Mustermann (dashboard, 127.0.0.1)", nil])

        #expect(try await room.call("POST", "/api/control/resume?what=hub").status == 200)
        #expect(try await known(room) { $0.recent.count == 3 && $0.orders.isEmpty }.standing == 0)
        #expect(try await room.call("POST", "/api/control/resume?what=hub").status == 409)
        // The second resume found nothing to lift.
        let lines = room.log.all.filter { $0.contains("scope=stop/hub") }
        #expect(lines.count { $0.contains("order given") && $0.contains("applied=0 of 0") } == 3, "\(lines)")
        #expect(lines.count { $0.contains("order not given") && $0.contains("nothing to lift") } == 1, "\(lines)")
        #expect(lines.count == 4)
        try await room.close()
    }

    /// `URLSearchParams` writes a space as `+`, and most programs as `%20`.
    @Test(arguments: ["+", "%20"])
    func `every field of an order arrives as it was typed`(space: String) async throws {
        func encoded(_ text: String) -> String { text.percentEncoded.replacing("%20", with: space) }
        let room = try await StatusRoom(runs: false, controls: true)
        let text = "100% Grüße + ✓ a=b&c"
        let order = "reason=\(encoded("r " + text))&by=\(encoded("n " + text))"
        for (verb, subject) in [("recall", "story"), ("stop", "what")] {
            let value = verb == "stop" ? "feed:\(text)" : text
            let unseen = verb == "recall" ? "&unseen=true" : ""
            let target = "/api/control/\(verb)?\(subject)=\(encoded(value))&\(order)\(unseen)"
            #expect(try await room.call("POST", target).status == 200)
        }
        let shown = try await known(room) { $0.standing == 2 && $0.recent.count == 2 }
        #expect(shown.orders.map(\.scope).sorted() == ["recall/story/\(text)", "stop/feed/\(text)"])
        #expect(Set(shown.recent.map(\.reason)) == ["r " + text])
        #expect(Set(shown.recent.map(\.by)) == ["n \(text) (dashboard, 127.0.0.1)"])
        for (verb, value) in [("lift", "story=\(encoded(text))"), ("resume", "what=\(encoded("feed:" + text))")] {
            #expect(try await room.call("POST", "/api/control/\(verb)?\(value)").status == 200)
        }
        #expect(try await known(room) { $0.recent.count == 4 }.standing == 0)
        try await room.close()
    }

    @Test func `a recall names a story or its event, and an unseen name is refused`() async throws {
        let room = try await StatusRoom(runs: false, controls: true)
        try room.newsroom.topics.publish([#"{"id":"e-1","story":"quake","headline":"h","category":"World"}"#])
        func order(_ query: String) async throws -> RawClient.Reply {
            try await room.call("POST", "/api/control/\(query)")
        }
        let unseen = try await order("recall?story=quake-2&reason=r")
        #expect(unseen.status == 404)
        #expect(unseen.text.contains("quake-2 was not seen"), "\(unseen.text)")
        #expect(unseen.text.contains("unseen=true recalls it all the same."))
        let byEvent = try await order("recall?story=e-1&reason=r")
        #expect(byEvent.text.hasPrefix(#"{"scope":"recall/story/quake""#), "\(byEvent.text)")
        #expect(try await order("recall?story=quake-2&reason=r&unseen=true").status == 200)
        #expect(try await order("recall?story=quake-2&reason=r&unseen=yes").status == 400)
        #expect(try await order("lift?story=e-1").text.hasPrefix(#"{"scope":"recall/story/quake""#))
        #expect(try await known(room) { $0.recent.count == 3 }.orders.map(\.scope) == ["recall/story/quake-2"])
        #expect(room.log.all.count { $0.contains("order not given") } == 1)
        try await room.close()
    }

    private struct Found: Decodable {
        var story: String
        var found: String
        var accepted: [Sent]
        var recalledBy: String?
        var doubts: Doubts

        struct Doubts: Decodable, Equatable {
            var inFlight: Int
            var lacksResults: Bool
        }

        struct Sent: Decodable {
            var eventId: String
            var categories: [String]
        }
    }

    @Test func `a story is found by its event, with its readers, and is replaced for them`() async throws {
        let room = try await StatusRoom(controls: true)
        try room.newsroom.topics.publish([#"{"id":"e-1","story":"quake","headline":"h","category":"World"}"#])
        _ = try await room.status { $0.settled == 1 }
        func find() async throws -> Found {
            try JSONDecoder().decode(Found.self, from: Data(try await room.get("/api/story?name=e-1").text.utf8))
        }
        let found = try await find()
        #expect((found.story, found.found) == ("quake", "event"))
        #expect((found.accepted.map(\.eventId), found.accepted.map(\.categories)) == (["e-1"], [["World"]]))
        #expect(found.doubts == .init(inFlight: 0, lacksResults: false))
        let recall = try await room.call(
            "POST", "/api/control/recall?story=e-1&reason=r&by=desk&replace=Withdrawn%3A%20quake")
        #expect(recall.text.contains(#""replaced":["World"],"notReplaced":[]"#), "\(recall.text)")
        _ = try await room.status { $0.settled == 2 }
        #expect(try await room.get("/api/results").text.contains(#""eventId":"replacement-"#))
        #expect(try await find().recalledBy == "desk (dashboard, 127.0.0.1)")
        #expect(try await room.get("/api/story?name=nobody").status == 404)
        #expect(try await room.get("/api/story").status == 400)
        let foreign = try await room.call("GET", "/api/story?name=e-1", headers: [("Sec-Fetch-Site", "cross-site")])
        #expect(foreign.status == 403, "a look-up reads topics, so it needs the right to act")
        let blank = try await room.call("POST", "/api/control/recall?story=e-1&reason=r&by=desk&replace=%20")
        #expect(blank.status == 400 && blank.text.contains("no text"), "\(blank.text)")
        let line = AuditEntry.send(
            NewsEvent(id: "quake", headline: "h"), at: .init(milliseconds: 0), by: "m", reason: nil, despite: [],
            requests: AnnouncedRequests(story: "quake", group: room.newsroom.kafka.group, count: 2))
        let publisher = try RecordPublisher(settings: room.newsroom.kafka)
        try publisher.publish(line.record(on: ControlTopics().audit))
        try publisher.flush()
        #expect(try await find().doubts.inFlight == 2, "a send without an outcome")
        try await room.close()
    }

    @Test func `look-ups keep no stop from being given`() async throws {
        let room = try await StatusRoom(controls: true)
        let port = room.server.port
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<6 {
                group.addTask { try await RawClient.call(port, "GET", "/api/story?name=n\(number)").status }
            }
            let stop = try await room.call("POST", "/api/control/stop?what=hub&reason=r&by=desk")
            #expect(stop.status == 200, "\(stop.text)")
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.count == 6 && statuses.allSatisfy { $0 == 404 || $0 == 503 })
        try await room.close()
    }

    @Test func `the processes are listed with their version, event loops, group and hub`() async throws {
        let room = try await StatusRoom(controls: true)
        let wanted = #""version":"\#(ServiceVersion.text)","shards":2,"group":"newsroom","hub":"breaking-news""#
        while try await !room.get("/api/control").text.contains(wanted) {}
        let status = try await room.get("/api/status").text
        #expect(status.contains(#""group":"newsroom","hub":{"name":"breaking-news","host":"127.0.0.1"}"#), "\(status)")
        try await room.close()
    }

    @Test func `the status says what a stop holds back`() async throws {
        let room = try await StatusRoom(controls: true)
        _ = try await room.status { $0.ready }
        #expect(try await room.call("POST", "/api/control/stop?what=category:World&by=desk").status == 200)
        try room.newsroom.topics.publish([#"{"id":"e-1","headline":"h","category":"World"}"#])
        let wanted = #""stopped":[{"what":"category:World","events":1,"categories":{"World":1},"oldest":""#
        while try await !room.get("/api/status").text.contains(wanted) {}
        #expect(try await room.call("POST", "/api/control/resume?what=category:World&by=desk").status == 200)
        _ = try await room.status { $0.settled == 1 }
        try await room.close()
    }

    @Test func `a category is stopped by any spelling of its name, and a removed one can be resumed`() async throws {
        let room = try await StatusRoom(runs: false, controls: true)
        let stopped = try await room.call("POST", "/api/control/stop?what=category:wOrLd")
        #expect(stopped.text.contains(#""scope":"stop/category/World""#), "\(stopped.text)")
        let unknown = try await room.call("POST", "/api/control/stop?what=category:Nope")
        #expect(unknown.status == 400)
        #expect(unknown.text.contains("'Nope' is not a category of the configuration. Known: World"), "\(unknown.text)")
        // No stop order for it is in force. The unknown name alone is not refused.
        #expect(try await room.call("POST", "/api/control/resume?what=category:Nope").status == 409)
        #expect(try await room.call("POST", "/api/control/resume?what=category:WORLD").status == 200)
        try await room.close()
    }

    /// World has the alias "international" in the standard table.
    @Test func `a category is stopped by an alias, and resumed by another name`() async throws {
        let room = try await StatusRoom(runs: false, controls: true)
        let stopped = try await room.call("POST", "/api/control/stop?what=category:International")
        #expect(stopped.text.contains(#""scope":"stop/category/World""#), "\(stopped.text)")
        let resumed = try await room.call("POST", "/api/control/resume?what=category:international")
        #expect(resumed.text.contains(#""scope":"stop/category/World""#), "\(resumed.text)")
        try await room.close()
    }

    @Test(arguments: [
        ("GET", "/api/control/stop?what=hub&reason=r", [], 405),
        ("POST", "/api/control/stop?what=category:Nope", [], 400),
        ("POST", "/api/control/stop?what=lane:nope", [], 400),
        ("POST", "/api/control/stop?what=hub&reason=%", [], 400),
        ("POST", "/api/control/stop?what=hub&reason=%ff", [], 400),
        ("POST", "/api/control/stop?what=hub&reason=r&reason=s", [], 400),
        ("POST", "/api/control/recall?story=+&reason=r", [], 400),
        ("POST", "/api/control/recall?story=S&reason=+", [], 400),
        ("POST", "/api/control/recall?story=\(String(repeating: "s", count: 513))&reason=r", [], 400),
        ("POST", "/api/control/recall?story=S&reason=\(String(repeating: "r", count: 513))", [], 400),
        ("POST", "/api/control/recall?story=S&reason=r&by=\(String(repeating: "b", count: 257))", [], 400),
        ("POST", "/api/control/stop?what=hub", [], 400), ("POST", "/api/control/stop?what=galaxy", [], 400),
        ("POST", "/api/control/recall?story=S", [], 400), ("POST", "/api/control/recall?reason=r", [], 400),
        ("POST", "/api/control/stop?what=hub&reason=r&at=yesterday", [], 400),
        ("POST", "/api/control/recall?story=S&reson=r", [], 400), ("POST", "/api/control/explode?what=hub", [], 404),
        ("POST", "/api/control/stop?what=hub&reason=r", [("Origin", "http://evil.example")], 403),
        ("POST", "/api/control/stop?what=hub&reason=r", [("X-Forwarded-For", "10.0.0.7")], 403),
        ("POST", "/api/control/stop?what=hub&reason=r", [("Authorization", "Bearer guess")], 401),
    ])
    func `an invalid or unauthorised order changes nothing`(
        method: String, target: String, headers: [(String, String)], status: Int
    ) async throws {
        let room = try await StatusRoom(runs: false, controls: true)
        #expect(try await room.call(method, target, headers: headers).status == status)
        #expect(try await known(room) { $0.known }.recent.isEmpty)
        try await room.close()
    }

    @Test func `unreadable records raise the metric, and the reason has a remedy`() async throws {
        let room = try await StatusRoom(controls: true)
        try room.newsroom.topics.publish(
            [(Array("recall/story/S".utf8), Array("no order".utf8), [])], to: "news.control")
        while try await !room.get("/metrics").text.contains("\nnewswire_control_alarms 1") {}
        let metrics = try await room.get("/metrics").text
        #expect(metrics.contains("\nnewswire_control_unreadable_records 1"))
        #expect(metrics.contains("\nnewswire_standing_orders{kind=\"stop\"} 0"))
        let ready = try await room.get("/readyz")
        #expect(ready.status == 503)
        #expect(ready.text.contains(#""code":"control-garbage""#) && ready.text.contains("tombstone"), "\(ready.text)")
        try room.newsroom.topics.publish([(Array("recall/story/S".utf8), nil, [])], to: "news.control")
        while try await !room.get("/metrics").text.contains("\nnewswire_control_alarms 0") {}
        try await room.close()
    }

    @Test func `missing topics are reported in the place of orders`() async throws {
        let room = try await StatusRoom(runs: false, controls: true, topics: false)
        #expect(try await known(room) { $0.problem != nil }.problem?.contains("newswire topics --create") == true)
        let refused = try await room.call("POST", "/api/control/stop?what=lane:live")
        #expect(refused.status == 503)
        #expect(refused.text.contains("nothing was ordered"))
        try await room.close()
    }
}
