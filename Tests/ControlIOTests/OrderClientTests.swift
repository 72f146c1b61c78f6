import ControlIO
import EditorialControl
import Foundation
import KafkaIO
import KafkaModel
import NewsModel
import NotificationHub
import Synchronization
import TestSupport
import Testing

/// Two desks that give orders at the same time, on a broker.
@Suite(.timeLimit(.minutes(2))) struct OrderClientTests {
    private let topics: Topics
    private static let now = Instant(milliseconds: 1_795_428_000_000)
    private static let results = "news.results"

    init() throws {
        let broker = try EmbeddedBroker(topics: [
            (Topics.events, 1), (Self.results, 1), ("news.control", 1), ("news.audit", 1),
        ])
        self.broker = broker
        topics = Topics(kafka: broker.settings(group: "desks"), partitions: 1)
    }

    private let broker: EmbeddedBroker

    private func client() throws -> OrderClient {
        try OrderClient(topics.kafka, ControlTopics()) { Moment(steady: Instant(milliseconds: 0), wall: Self.now) }
    }

    private func recall(_ id: String, by desk: String) -> Instruction {
        Instruction(
            id: id, scope: .recall(story: "quake"), at: Self.now, by: desk, reason: "r",
            replacement: "Withdrawn by \(desk)")
    }

    private func replace(_ client: OrderClient, _ recall: Instruction) throws -> WrittenReplacement {
        let order = try #require(recall.order)
        return try client.replace(
            "Withdrawn by \(recall.by)", for: order, results: Self.results, lanes: [Topics.events], inFlight: 0,
            environment: nil, patience: .zero)
    }

    private func accept() throws { try publishAccepted(story: nil, eventID: "quake") }

    private func publishAccepted(
        story: String?, eventID: String,
        at source: ResultRecord.Source = .init(
            partition: TopicPartition(topic: Topics.events, partition: 0), offset: 0)
    ) throws {
        let result = ResultRecord(
            eventID: eventID, story: story, platform: .template, outcome: .accepted, categories: ["World"],
            tags: ["Welt"],
            lane: "live", source: source, settledAt: Self.now
        )
        var value: [UInt8] = []
        result.encode(into: &value)
        try topics.publish([(nil, value, [])], to: Self.results)
    }

    @Test func `of two desks that recall a story at once, only the later one's replacement is written`() throws {
        try accept()
        let (first, second) = (try client(), try client())
        let (lost, won) = (recall("1", by: "anna"), recall("2", by: "ben"))
        #expect(try first.give(lost, patience: .zero).answers.successor == nil)
        #expect(try second.give(won, patience: .zero).answers.applied == 0)
        let loser = try replace(first, lost)
        #expect(loser.successor.map { if case .stands(let order) = $0 { order.by } else { "" } } == "ben")
        #expect(loser.reach.isEmpty && loser.topics.isEmpty)
        let winner = try replace(second, won)
        #expect(winner.successor == nil && winner.reach == ["World"])
        let written = try topics.read(Topics.events).map(\.record)
        #expect(written.map { $0.headers.first { $0.name == HeaderName.replacement }?.text } == ["2"])
    }

    @Test func `a replacement is for the readers of the desk's group, and other groups are named`() throws {
        try accept()
        for (replica, group) in [("a", "desks"), ("b", "sport")] {
            let process = ControlRecord.ProcessDescription(version: "1", shards: nil, group: group, hub: nil)
            try write(ControlRecord.Beat(replica: replica, at: Self.now, process: process))
        }
        let (desk, order) = (try client(), recall("1", by: "anna"))
        _ = try desk.give(order, patience: .zero)
        let replaced = try replace(desk, order)
        #expect(replaced.otherGroups == ["sport"])
        #expect(replaced.events.map(\.event.categories) == [["World"]] && replaced.events.map(\.tags) == [["Welt"]])
        let written = try topics.read(Topics.events).map(\.record)
        #expect(written.map { $0.headers.first { $0.name == HeaderName.group }?.text } == ["desks"])
    }

    @Test func `an order that only running processes know is lifted after a beat has shown it`() throws {
        try recreateControl()
        let desk = try OrderClient(topics.kafka, ControlTopics()) {
            Moment(steady: Instant(milliseconds: 0), wall: Self.now)
        }
        var waits = 0
        desk.onWait = {
            waits += 1
            try? beat()
        }
        let lift = Instruction(id: "1", scope: .stop(.hub), lifts: true, at: Self.now, by: "anna")
        #expect(try desk.give(lift, patience: .zero).answers.applied == 0)
        #expect(waits == 1 && desk.view.lacksOrders)
    }

    @Test
    func `an order on a recreated topic is given at once, and a process that is heard later must answer`() throws {
        // The broker dates the order's record.
        let start = Instant(nanoseconds: Int64(Date().timeIntervalSince1970 * 1e9))
        try recreateControl(at: start)
        let clock = SteppingClock(start: start)
        let desk = try OrderClient(topics.kafka, ControlTopics()) { clock.now }
        var stored: [Int] = []
        desk.onWait = {
            stored.append((try? topics.read("news.control").count) ?? 0)
            try? beat(at: start)
        }
        let stop = Instruction(id: "1", scope: .stop(.hub), at: Self.now, by: "anna")
        let answers = try desk.give(stop, patience: .zero).answers
        #expect(stored == [1] && answers.missing.map(\.replica) == ["a"])
    }

    /// A clock whose wall time advances by 100 milliseconds whenever it is read.
    private final class SteppingClock: Sendable {
        private let wall: Mutex<Instant>

        init(start: Instant) { wall = Mutex(start) }

        var now: Moment {
            wall.withLock { wall in
                wall = wall + .milliseconds(100)
                return Moment(steady: Instant(milliseconds: 0), wall: wall)
            }
        }
    }

    @Test func `a reader waits for the beats of running processes if the topic may have lost orders`() throws {
        try recreateControl()
        var waits = 0
        let view = try ControlReading(topics.kafka, ControlTopics()).view(awaitingBeats: { Self.now }) {
            waits += 1
            try? beat()
        }
        #expect(waits == 1 && view.lacksOrders)
        // Without a line on the audit topic that is older, nothing was lost.
        let others = ControlTopics(control: "news.control", audit: Self.results)
        _ = try ControlReading(topics.kafka, others).view(awaitingBeats: { Self.now }) { waits += 1 }
        #expect(waits == 1)
    }

    /// The audit topic has a line of an hour ago, and the control topic is empty.
    private func recreateControl(at time: Instant = Self.now) throws {
        let publisher = try RecordPublisher(settings: topics.kafka)
        var line = AuditEntry(at: time, scope: "process/a", action: .start).record(on: "news.audit")
        line.timestamp = time - .seconds(3_600)
        try publisher.publish(line)
        try publisher.flush()
    }

    /// Writes the beat of a process that obeys an order.
    private func beat(at time: Instant = Self.now) throws {
        try write(ControlRecord.Beat(replica: "a", at: time, logTime: .seconds(60), appliedTo: 0, orders: 1))
    }

    private func write(_ beat: ControlRecord.Beat) throws {
        let publisher = try RecordPublisher(settings: topics.kafka)
        var record = ControlRecord.beat(beat).record(on: "news.control")
        record.timestamp = beat.at
        try publisher.publish(record)
        try publisher.flush()
    }

    @Test func `a replacement is not written once its recall was lifted`() throws {
        try accept()
        let desk = try client()
        let order = recall("1", by: "anna")
        _ = try desk.give(order, patience: .zero)
        var lift = order
        (lift.id, lift.lifts, lift.replacement) = ("2", true, nil)
        _ = try client().give(lift, patience: .zero)
        #expect(try replace(desk, order).successor == .lifted(order.scope))
        #expect(try topics.read(Topics.events).isEmpty)
    }

    @Test func `a send in flight is found by its id, and leaves a doubt until its outcome is stored`() throws {
        let line = AuditEntry.send(
            NewsEvent(id: "quake", headline: "h"), at: Self.now, by: "anna", reason: nil, despite: [],
            requests: AnnouncedRequests(story: "quake", group: "desks", count: 1))
        let publisher = try RecordPublisher(settings: topics.kafka)
        try publisher.publish(line.record(on: "news.audit"))
        try publisher.flush()
        var names = NamedTopics(results: Self.results, held: "news.held", lanes: [])
        names.audit = "news.audit"
        let search = try NameLookup.search("quake", topics.kafka, names, ControlView(), at: Self.now)
        #expect(search.meaning == .story)
        let (desk, order) = (try client(), recall("1", by: "ben"))
        _ = try desk.give(order, patience: .zero)
        #expect(try desk.history(of: "quake", results: Self.results).sends.inFlight == 1)
        let written = try replace(desk, order)
        #expect(written.doubtful == [Replacement.openSends] && written.leavesDoubt(StoryDoubts()))
        try publishAccepted(
            story: nil, eventID: "quake",
            at: .init(partition: TopicPartition(topic: "news.audit", partition: 0), offset: 0))
        #expect(try desk.history(of: "quake", results: Self.results).sends.inFlight == 0)
        let again = try replace(desk, order)
        #expect(again.reach == ["World"] && !again.leavesDoubt(StoryDoubts()))
    }

    @Test func `an event that a lane has processed without a result is found, unlike one that waits`() throws {
        let texts = ["quake", "flood"].map { #"{"id":"\#($0)","headline":"h","category":"World"}"# }
        try topics.publish(texts.map { (nil, Array($0.utf8), []) }, to: Topics.events)
        let lane = NamedTopics.Waiting(topic: Topics.events, group: "desks.live")
        let place = TopicPartition(topic: Topics.events, partition: 0)
        try GroupOffsets(settings: topics.kafka, group: lane.group).commit([place: .init(offset: 1)])
        let names = NamedTopics(results: Self.results, held: "news.held", lanes: [lane])
        let view = ControlView()
        #expect(try NameLookup.search("quake", topics.kafka, names, view, at: Self.now).meaning == .story)
        func wasProcessed(_ story: String) throws -> Bool {
            try NameLookup.wasProcessed(story, topics.kafka, names, view, at: Self.now)
        }
        #expect(try wasProcessed("quake"))
        #expect(try !wasProcessed("flood"))
        #expect(try !wasProcessed("storm"))
        try accept()
        #expect(try client().history(of: "quake", results: Self.results).hasResults)
    }

    @Test func `a story's history has the later news that waits behind the committed offset`() throws {
        let texts = ["a", "b", "c", "d"].map {
            #"{"id":"\#($0)","story":"quake","headline":"h","category":"World"}"#
        }
        try topics.publish(texts.map { (nil, Array($0.utf8), []) }, to: Topics.events)
        let lane = NamedTopics.Waiting(topic: Topics.events, group: "desks.live")
        let place = TopicPartition(topic: Topics.events, partition: 0)
        try GroupOffsets(settings: topics.kafka, group: lane.group).commit([place: .init(offset: 2)])
        // It has left, but what is before it still waits.
        try publishAccepted(story: "quake", eventID: "d", at: .init(partition: place, offset: 3))
        let names = NamedTopics(results: Self.results, held: "news.held", lanes: [lane])
        let ended = ResultRecord(
            eventID: "a", story: "quake", platform: .template, outcome: .canceled, categories: ["World"],
            lane: "live", source: .init(partition: place, offset: 0), settledAt: Self.now)
        let desk = try client()
        #expect(try desk.history(of: "quake", results: Self.results).later(than: ended) == ["d"])
        let history = try desk.history(of: "quake", results: Self.results, waitingOn: names)
        #expect(history.later(than: ended) == ["c", "d"])
    }

    @Test func `the end of a category's stop ends its stops by all names`() throws {
        let desk = try client()
        let rules = OrderRules(lanes: [], categories: ["Global"], aliases: ["world": "Global", "earth": "Global"])
        func order(_ id: String, _ name: String, lifts: Bool = false) -> Instruction {
            Instruction(id: id, scope: .stop(.category(name)), lifts: lifts, at: Self.now, by: "desk")
        }
        // Each name was the category's name once.
        for name in ["World", "WORLD", "Earth", "Other"] { _ = try desk.give(order(name, name), patience: .zero) }
        let end = try client().give(try rules.checked(order("end", "Global", lifts: true)), patience: .zero)
        #expect(end.alsoEnded.map(\.id) == ["WORLD", "World"])
        #expect(try client().view.orders.stopped == [.category("Other")])
        let lines = try topics.read("news.audit").compactMap { AuditEntry($0.record) }.filter { $0.action == .resume }
        #expect(lines.map(\.former?.id) == ["WORLD", "World", "Earth"])
    }

    @Test func `a story is found in the results under both of its spellings in Unicode`() throws {
        let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
        try publishAccepted(story: composed, eventID: "1")
        try publishAccepted(story: decomposed, eventID: "2")
        for name in [composed, decomposed] {
            let history = try client().history(of: name, results: Self.results)
            #expect(history.accepted.map(\.eventID).sorted() == ["1", "2"])
        }
        let ascii = try client().history(of: "cafe", results: Self.results)
        #expect(ascii.accepted.isEmpty)
    }
}
