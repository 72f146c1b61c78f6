import EditorialControl
import KafkaModel
import NewsModel
import TestSupport
import Testing

private let start = Instant(milliseconds: 1_795_255_200_000)
private let later = start + .seconds(3_600)

private func given(_ id: String, _ scope: ControlScope, lifts: Bool = false, after seconds: Int64 = 0) -> AuditEntry {
    Instruction(id: id, scope: scope, lifts: lifts, at: start + .seconds(seconds), by: "m").auditEntry()
}

private func applied(_ entry: AuditEntry, by replica: String, waiting: Int = 0) -> AuditEntry {
    var answer = entry
    answer.at = entry.at + .milliseconds(100)
    answer.replica = replica
    if entry.action.isEnd { answer.order = entry.scope }
    answer.applied = AppliedOrder(order: entry.scope, waiting: waiting)
    return answer
}

private func view(_ orders: Order...) -> ControlView {
    var view = ControlView()
    for (offset, order) in orders.enumerated() {
        let record = ControlRecord.stands(order).record(on: "c")
        view.apply(SourceRecord(offset: Int64(offset), key: record.key, value: record.value))
    }
    return view
}

struct AuditTrailTests {
    private let hub = ControlScope.stop(.hub)

    private func neverApplied(_ entries: [AuditEntry], _ view: ControlView, at wall: Instant = later) -> [Bool] {
        var trail = AuditTrail()
        for entry in entries { trail.apply(entry) }
        return trail.lines(view, at: wall).map(\.cameToNothing)
    }

    @Test func `an order that never reached the control topic is marked`() {
        let stop = given("o1", hub)
        #expect(neverApplied([stop], view()) == [true])
        #expect(neverApplied([stop, applied(stop, by: "a")], view()) == [false, false])
        // No process ran, but the order is in force.
        #expect(neverApplied([stop], view(Order(id: "o1", scope: hub, at: start, by: "m"))) == [false])
        // The order may be in flight.
        #expect(neverApplied([stop], view(), at: start + .seconds(1)) == [false])
    }

    @Test func `an end that never reached the control topic is marked while the order is in force`() {
        let stop = given("o1", hub)
        let resume = given("o2", hub, lifts: true, after: 60)
        let answered = [stop, applied(stop, by: "a"), resume]
        #expect(neverApplied(answered, view(Order(id: "o1", scope: hub, at: start, by: "m"))) == [false, false, true])
        #expect(neverApplied(answered, view()) == [false, false, false])
    }

    @Test func `the last orders are listed newest first, each with its effects in all processes`() {
        let recall = given("o1", .recall(story: "S"))
        let stop = given("o2", hub, after: 60)
        var trail = AuditTrail()
        for entry in [recall, applied(recall, by: "a", waiting: 3), applied(recall, by: "b", waiting: 4), stop] {
            trail.apply(entry)
        }
        trail.apply(applied(stop, by: "a"))
        let recent = trail.recent(20, view(), at: later)
        #expect(recent.map(\.line.entry.scope) == ["stop/hub", "recall/story/S"])
        #expect(recent.map(\.processes) == [1, 2])
        #expect(recent.map(\.met.waiting) == [0, 7])
        #expect(trail.recent(1, view(), at: later).count == 1)
    }

    @Test(arguments: [Int64(40), -40, 3_600])
    func `answers are matched to an order whatever the clock of its sender says`(ahead: Int64) {
        var trail = AuditTrail()
        let stop = given("o1", hub, after: ahead)
        var answer = applied(given("o1", hub), by: "a", waiting: 2)
        answer.at = start
        for entry in [stop, answer] { trail.apply(entry) }
        #expect(trail.recent(20, view(), at: later + .seconds(ahead)).map(\.processes) == [1])
        let resume = given("o2", hub, lifts: true, after: -ahead)
        var end = applied(resume, by: "a")
        end.at = start + .seconds(1)
        for entry in [resume, end] { trail.apply(entry) }
        #expect(trail.lines(view(), at: later + .seconds(7_200)).allSatisfy { !$0.cameToNothing })
    }

    @Test func `a notification sent by hand has its own line and is not marked as an order that was never applied`() {
        let event = NewsEvent(id: "send-1", headline: "All clear")
        let stop = Order(id: "o", scope: hub, at: start, by: "m")
        let line = AuditEntry.send(event, at: start, by: "m", reason: nil, despite: [stop])
        #expect(neverApplied([line], view()) == [false])
        #expect(
            (line.scope, line.order, line.text, line.despite) == ("send/send-1", "send-1", "All clear", ["stop/hub"]))
        #expect((try? AuditEntry(decoding: line.encode())) == line)
    }

    @Test func `the line about a notification names its requests, which need not be readable`() throws {
        let requests = AnnouncedRequests(story: "send-1", group: "g", count: 3)
        let line = AuditEntry.send(
            NewsEvent(id: "send-1", headline: "h"), at: start, by: "m", reason: nil, despite: [], requests: requests)
        #expect(try AuditEntry(decoding: line.encode()).requests == requests)
        let huge = String(decoding: line.encode(), as: UTF8.self).replacing(#""count":3"#, with: #""count":9000000000"#)
        #expect(try AuditEntry(decoding: Array(huge.utf8)).requests?.count == 100)
        let other = huge.replacing(#""group":"g","#, with: "")
        #expect(try AuditEntry(decoding: Array(other.utf8)).requests == nil)
    }

    @Test func `the line about a scheduled notification does not have its text`() {
        var event = NewsEvent(id: "send-1", headline: "Chancellor resigns")
        event.embargoUntil = later
        let line = AuditEntry.send(event, at: start, by: "m", reason: "r", despite: [])
        #expect((line.order, line.by, line.reason, line.text) == ("send-1", "m", "r", nil))
        #expect(!String(decoding: line.encode(), as: UTF8.self).contains("Chancellor"))
    }

    /// The clock of the desk is days off. The broker stamps records, or keeps the times of their writers.
    @Test(arguments: [-8 * 86_400, 8 * 86_400] as [Int64], [true, false])
    func `a recent order is listed whatever the clock of its sender says`(error: Int64, byBroker: Bool) {
        var trail = AuditTrail(since: start)
        let old = given("o0", hub, after: -7_200)
        trail.apply(old, writtenAt: old.at)
        trail.apply(applied(old, by: "a"), writtenAt: old.at)
        let stop = given("o1", hub, after: error)
        trail.apply(stop, writtenAt: byBroker ? later : stop.at)
        var answer = applied(stop, by: "a")
        answer.at = later
        trail.apply(answer, writtenAt: later)
        let resume = given("o2", hub, lifts: true, after: error)
        trail.apply(resume, writtenAt: byBroker ? later : resume.at)
        var end = applied(resume, by: "a")
        end.at = later
        trail.apply(end, writtenAt: later)
        let lines = trail.lines(view(), at: later)
        #expect(Set(lines.compactMap(\.entry.order)) == ["o1", "o2", "stop/hub"])
        #expect(lines.count { $0.entry.replica == nil } == 2)
    }

    @Test func `lines beyond the capacity are dropped, the oldest first, and counted`() {
        var trail = AuditTrail(capacity: 10)
        for number in 0..<25 { trail.apply(given("o\(number)", hub, after: Int64(number))) }
        #expect(trail.dropped == 10)
        #expect(trail.lines(view(), at: start).first?.entry.order == "o10")
    }
}

struct ControlViewTests {
    @Test func `the orders against a notification are those of the hub, its categories and its story`() {
        let orders = [
            ControlScope.stop(.hub), .stop(.category("World")), .stop(.category("Sports")), .stop(.lane("live")),
            .recall(story: "S"), .recall(story: "T"),
        ].map { Order(id: $0.key, scope: $0, at: start, by: "m") }
        var all = ControlView()
        for order in orders {
            let record = ControlRecord.stands(order).record(on: "c")
            all.apply(SourceRecord(offset: 0, key: record.key, value: record.value))
        }
        #expect(
            Set(all.orders(against: "S", categories: ["WORLD", "Politics"], at: start).map(\.scope.key))
                == ["stop/hub", "stop/category/World", "recall/story/S"])
    }

    @Test func `orders of an unknown kind are named by their keys until a tombstone removes them`() {
        var view = ControlView()
        func apply(_ key: String, _ value: String?) {
            view.apply(SourceRecord(offset: 0, key: Array(key.utf8), value: value.map { Array($0.utf8) }))
        }
        let hidden = "hold/story/a\n\u{202E}b"
        apply(hidden, #"{"do":"hold"}"#)
        apply("hold/x/" + String(repeating: "é", count: 500), #"{"do":"hold"}"#)
        #expect(view.unknownOrders.first == #"hold/story/a\n\u{202E}b"#)
        #expect(view.unknownOrders.count == 2 && view.unknownOrders.allSatisfy { $0.utf8.count <= 128 })
        apply(hidden, nil)
        #expect(view.unknownOrders.count == 1)
    }

    @Test func `a recall that came while a notification was on its way was not known before`() {
        let recall = Order(id: "o", scope: .recall(story: "S"), at: start, by: "m")
        let view = view(recall)
        #expect(view.recall(of: "S", besides: [], at: start)?.id == "o")
        #expect(view.recall(of: "S", besides: ["o"], at: start) == nil)
        #expect(view.recall(of: "T", besides: [], at: start) == nil)
    }

    @Test func `a group whose processes have ended, or whose beats are gone, is still another group`() {
        var view = ControlView()
        func apply(_ written: ControlRecord) {
            let record = written.record(on: "c")
            view.apply(SourceRecord(offset: 0, key: record.key, value: record.value))
        }
        for group in ["ours", "sport", "local"] {
            let process = ControlRecord.ProcessDescription(version: "1", shards: 1, group: group, hub: nil)
            apply(.beat(.init(replica: "of-\(group)", at: start, logTime: .zero, process: process)))
        }
        apply(.ended(replica: "of-sport"))
        apply(.environment(HubEnvironment(name: "production", host: "h", hub: "b", group: "weather"), isFirst: false))
        #expect(view.groups(besides: "ours") == ["local", "sport", "weather"])
        // A week later, groups without a beat were renamed. The environment's record has no time.
        func beat(_ time: Duration) {
            let process = ControlRecord.ProcessDescription(version: "1", shards: 1, group: "ours", hub: nil)
            apply(.beat(.init(replica: "of-ours", at: start, logTime: time, process: process)))
        }
        beat(.seconds(7 * 86_400))
        #expect(view.groups(besides: "ours") == ["local", "sport", "weather"])
        beat(.seconds(7 * 86_400 + 1))
        #expect(view.groups(besides: "ours") == ["weather"])
        #expect(view.groups(besides: "weather") == ["ours"])
    }

    private let lapsing = Order(
        id: "o", scope: .recall(story: "S"), at: start, by: "m", until: start + .seconds(600))

    private func observed(beatAt time: Instant?) -> ControlView {
        var view = view(lapsing)
        guard let time else { return view }
        let beat = ControlRecord.beat(.init(replica: "a", at: time, logTime: .zero)).record(on: "c")
        view.apply(SourceRecord(offset: 1, key: beat.key, value: beat.value))
        return view
    }

    @Test func `a lapsed order is not in force even if its record is on the topic`() {
        let view = observed(beatAt: start + .seconds(595))
        #expect(view.standing(at: start + .seconds(599)) == [lapsing])
        #expect(view.standing(at: start + .seconds(600)) == [])
        #expect(!view.isStanding(lapsing.scope, at: start + .seconds(600)))
        #expect(!view.mayHaveLapsed(lapsing, at: start + .seconds(600)))
    }

    /// The clock of the desk is days ahead, or no process runs that could support it.
    @Test(arguments: [start, nil])
    func `an order that has lapsed by a clock that no process supports is shown as doubtful`(beat: Instant?) {
        let view = observed(beatAt: beat)
        let wall = start + .seconds(8 * 86_400)
        #expect(view.standing(at: wall) == [lapsing])
        #expect(view.isStanding(lapsing.scope, at: wall))
        #expect(view.orders(against: "S", categories: [], at: wall) == [lapsing])
        #expect(view.mayHaveLapsed(lapsing, at: wall))
        #expect(!view.mayHaveLapsed(lapsing, at: start))
        #expect(view.lapseClock(wall) == beat)
    }

    /// The topic was made again: the process has read it all, and obeys orders that it does not have.
    @Test func `a topic lacks orders if a process that has read it all obeys more of them`() {
        func observed(obeyed: Int?, appliedTo: Int64?) -> ControlView {
            var view = view(lapsing)
            let beat = ControlRecord.beat(
                .init(replica: "a", at: start, logTime: .zero, appliedTo: appliedTo, orders: obeyed)
            ).record(on: "c")
            view.apply(SourceRecord(offset: 1, key: beat.key, value: beat.value))
            return view
        }
        #expect(observed(obeyed: 2, appliedTo: 0).lacksOrders)
        #expect(observed(obeyed: 2, appliedTo: 57).lacksOrders)
        #expect(!observed(obeyed: 1, appliedTo: 0).lacksOrders)
        #expect(!observed(obeyed: 2, appliedTo: -1).lacksOrders, "it has not read the record that lifted one of them")
        #expect(!observed(obeyed: nil, appliedTo: 0).lacksOrders)
        #expect(!observed(obeyed: 2, appliedTo: nil).lacksOrders)
    }

    @Test func `a topic from which records were removed may have lost orders, however young the audit topic is`() {
        let cut = ControlView(start: 7)
        #expect(cut.mayLackBeats(at: start))
        for line in [nil, start, start - .seconds(14)] {
            #expect(cut.mayHaveLostOrders(since: line, at: start))
            #expect(!ControlView().mayHaveLostOrders(since: line, at: start), "a new installation")
        }
        #expect(ControlView().mayHaveLostOrders(since: start - .seconds(16), at: start), "the topic was recreated")
    }

    @Test func `records of a widened topic are written to its first partition`() {
        #expect(ControlRecord.stands(lapsing).record(on: "c").partition == 0)
        #expect(ControlRecord.ended(replica: "a").record(on: "c").partition == 0)
        #expect(ControlView().partitions == 1)
    }
}

extension ControlViewTests {
    @Test func `the view takes the hub's environment from the last record`() {
        var view = ControlView()
        let hub = HubEnvironment(name: "production", host: "h", hub: "n")
        for (record, expected) in [(ControlRecord.environment(hub), hub), (.noEnvironment(), nil)] {
            let written = record.record(on: "c")
            view.apply(SourceRecord(offset: 0, key: written.key, value: written.value))
            #expect(view.environments.first == expected)
        }
    }
}

struct ControlSchemaTests {
    private func record(_ bytes: [UInt8], key: String) -> SourceRecord {
        SourceRecord(offset: 0, key: Array(key.utf8), value: bytes)
    }

    @Test func `examples of orders are decoded and encoded without loss`() throws {
        for (name, bytes) in try JSONSchema.examples("control-order.") {
            let key = name.contains("recall") ? "recall/story/quake-1" : "stop/hub"
            let reading = ControlRecord.read(record(bytes, key: key))
            #expect(reading.fault == nil, "\(name)")
            let written = try #require(reading.record?.record(on: "c").value, "\(name)")
            #expect(ControlRecord.read(record(written, key: key)) == reading)
        }
    }

    @Test func `examples of audit lines are decoded and encoded without loss`() throws {
        for (name, bytes) in try JSONSchema.examples("control-audit.") {
            let entry = try AuditEntry(decoding: bytes)
            #expect(try AuditEntry(decoding: entry.encode()) == entry)
            #expect((entry.replica != nil) == (name.contains("applied") || name.contains("start")))
        }
    }

    @Test(arguments: [
        "[]", "{}", #"{"at":"2026-11-21T10:00:00Z","do":"stop"}"#, #"{"at":"now","scope":"stop/hub","do":"stop"}"#,
        #"{"at":"2026-11-21T10:00:00Z","scope":"stop/hub","do":"explode"}"#,
    ])
    func `an invalid audit line is rejected without a crash`(text: String) {
        #expect(throws: Undecodable.self) { try AuditEntry(decoding: Array(text.utf8)) }
    }

    @Test(.enabled(if: JSONSchema.isReadable, JSONSchema.need))
    func `the schemas accept everything written and reject invalid orders`() async throws {
        let recall = Order(id: "o", scope: .recall(story: "S"), at: start, by: "m", reason: "r", until: later)
        let stop = Order(id: "o", scope: .stop(.hub), at: start, by: "m")
        let orders = [recall, stop].compactMap { ControlRecord.stands($0).value }
        let former = Order(id: "o0", scope: .stop(.hub), at: start, by: "n", reason: "flood")
        let lines = [
            Instruction(id: "o", scope: .stop(.hub), at: start, by: "m").auditEntry(inPlaceOf: former),
            given("o", .recall(story: "S")), given("o", .stop(.run("r")), lifts: true),
            applied(given("o", .stop(.hub)), by: "a", waiting: 1),
            AuditEntry.send(
                NewsEvent(id: "e", headline: "h"), at: start, by: "m", reason: "r", despite: [stop],
                requests: AnnouncedRequests(story: "e", group: "g", count: 1)),
            .release(lane: "live", at: start, by: "m", reason: "r"),
            .redrive(group: "newswire", at: start, by: "m", reason: nil),
        ].map { $0.encode() }
        func texts(_ written: [[UInt8]], _ examples: String) throws -> [String] {
            try (written + JSONSchema.examples(examples).map(\.bytes)).map { String(decoding: $0, as: UTF8.self) }
        }
        let notOrder = [
            "{}", #"{"id":"o","do":"explode","at":"2026-11-21T10:00:00Z","by":"m"}"#,
            #"{"id":"o","do":"stop","at":"today","by":"m"}"#,
            #"{"id":"","do":"stop","at":"2026-11-21T10:00:00Z","by":"m"}"#,
        ]
        let notLine = [
            "{}", #"{"at":"2026-11-21T10:00:00Z","scope":"stop/hub","do":"stop","former":{"by":"m"}}"#,
            #"{"at":"2026-11-21T10:00:00Z","scope":"beat/a","do":"stop"}"#,
            #"{"at":"2026-11-21T10:00:00Z","scope":"stop/hub","do":"stop","applied":{"waiting":-1,"inFlight":0},"replica":"a"}"#,
        ]
        let orderFaults = try await JSONSchema.misjudged(
            "control-order", good: try texts(orders, "control-order."), bad: notOrder)
        let lineFaults = try await JSONSchema.misjudged(
            "control-audit", good: try texts(lines, "control-audit."), bad: notLine)
        #expect(orderFaults + lineFaults == "")
    }
}
