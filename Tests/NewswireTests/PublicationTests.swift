import Backfill
import Foundation
import KafkaIO
import KafkaModel
import NewsModel
import NewswireCommands
import PublishEngine
import Synchronization
import TestSupport
import Testing

/// A broker with the topic `t`, and a folder that is removed at the end.
private final class Room {
    let broker: EmbeddedBroker
    let folder = FileManager.default.temporaryDirectory.appending(path: "publication-\(UUID().uuidString)")
    /// The texts that the publication has reported.
    var reports: [String] = []

    init() throws {
        broker = try EmbeddedBroker(topics: [("t", 1)])
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    var path: String { folder.appending(path: "e.ndjson").path }

    func write(_ lines: [String]) throws {
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: path))
    }

    /// - Parameter onReport: called with the flag that stops the publication.
    func publish(
        isStrict: Bool = false, keepsProgress: Bool = true, waitMax: Duration = .seconds(10),
        onReport: @escaping (StopFlag) -> Void = { _ in }, change: (inout FilePublication) -> Void = { _ in }
    ) throws -> FilePublication.Summary {
        var publication = FilePublication(path: path, topic: "t")
        publication.progress = keepsProgress ? try ProgressFile(for: path) : nil
        publication.isStrict = isStrict
        publication.waitMax = waitMax
        change(&publication)
        reports = []
        let stop = StopFlag()
        let bar = ProgressBar(Terminal(descriptor: -1), at: .now)
        let publisher = try RecordPublisher(settings: broker.settings(group: "g"), skipsRefused: true)
        return try publication.run(publisher, stop: stop, bar: bar) {
            self.reports.append($0)
            onReport(stop)
        }
    }

    /// The keys on the topic, in their order.
    func keys() throws -> [String] {
        let reader = try TopicReader(settings: broker.settings(group: "g"), topic: "t")
        var keys: [String] = []
        while !reader.isAtEnd {
            keys += try reader.next().compactMap { $0.record.key.map { String(decoding: $0, as: UTF8.self) } }
        }
        return keys
    }
}

private func event(_ id: Int) -> String { "{\"id\":\"\(id)\",\"headline\":\"h\"}" }

struct PublicationTests {
    @Test func `an interrupted file continues where it stopped, and nothing is published twice`() throws {
        let room = try Room()
        try room.write((1...9).map { $0 == 4 ? "bad" : event($0) })
        // The bad line interrupts, at a known place.
        let first = try room.publish { $0.raise() }
        #expect(first == .init(published: 3, bad: 1, isInterrupted: true))
        #expect(room.reports.last?.contains("interrupted with 3 events on the topic; the same command") == true)
        #expect(try ProgressFile(for: room.path).earlier?.published == 3)
        #expect(try room.publish() == .init(published: 5, bad: 1, resumed: 3))
        #expect(try room.keys() == ["1", "2", "3", "5", "6", "7", "8", "9"])
        #expect(try room.publish() == .init(published: 0, bad: 1, resumed: 8))
    }

    @Test(arguments: [true, false])
    func `events that a killed command wrote last are found on the topic and not published again`(
        looks: Bool
    ) throws {
        let room = try Room()
        try room.write([event(1), event(2), "bad", event(3), event(3), event(4)])
        func publish(onReport: @escaping (StopFlag) -> Void = { _ in }) throws -> FilePublication.Summary {
            try room.publish(onReport: onReport) { publication in
                publication.review = EventReview(run: RunID("r"))
                guard looks else { return }
                publication.findOnTopic = { since in
                    let settings = room.broker.settings(group: "g")
                    return try EventsOnTopic(settings, topic: "t", run: "r", since: since, stop: StopFlag())
                }
            }
        }
        #expect(try publish { $0.raise() }.isInterrupted)
        let progress = URL(fileURLWithPath: ProgressFile.path(for: room.path))
        let lastWord = try Data(contentsOf: progress)
        #expect(try publish() == .init(published: 3, bad: 1, resumed: 2))
        // Restores the earlier progress, as if the command had been killed before it could save.
        try lastWord.write(to: progress)
        let again = try publish()
        #expect(again == .init(published: looks ? 0 : 3, bad: 1, resumed: looks ? 5 : 2))
        #expect(try room.keys().count == (looks ? 5 : 8))
        #expect(try publish() == .init(published: 0, bad: 1, resumed: 5))
    }

    @Test func `a command killed before it has met these events again leaves them to the next search`() throws {
        let room = try Room()
        try room.write([event(1), event(2), "bad", event(3)])
        var since: [Instant] = []
        func publish(_ found: Int, onReport: @escaping (StopFlag) -> Void = { _ in }) throws {
            _ = try room.publish(onReport: onReport) { publication in
                publication.findOnTopic = { time in
                    since.append(time)
                    var events = EventsOnTopic()
                    for number in 0..<found { events.add(Array("another \(number)".utf8)) }
                    return events
                }
            }
        }
        try publish(0) { $0.raise() }
        try publish(1)
        try room.write([event(1), event(2), "bad", event(3), event(4)])
        try publish(0)
        try room.write([event(1), event(2), "bad", event(3), event(4), event(5)])
        try publish(0)
        #expect(since.count == 3 && since[0] == since[1] && since[1] < since[2], "\(since)")
    }

    @Test func `events of a command that was killed before it recorded any are found on the topic`() throws {
        let room = try Room()
        try room.write(["bad", event(1), event(2)])
        let progress = URL(fileURLWithPath: ProgressFile.path(for: room.path))
        // The progress when the bad line is reported, before the first record.
        var beginning: Data?
        func publish() throws -> FilePublication.Summary {
            try room.publish(onReport: { _ in beginning = beginning ?? (try? Data(contentsOf: progress)) }) {
                $0.review = EventReview(run: RunID("r"))
                $0.findOnTopic = { since in
                    let settings = room.broker.settings(group: "g")
                    return try EventsOnTopic(settings, topic: "t", run: "r", since: since, stop: StopFlag())
                }
            }
        }
        #expect(try publish() == .init(published: 2, bad: 1))
        try #require(beginning).write(to: progress)
        #expect(try publish() == .init(published: 0, bad: 1, resumed: 2))
        #expect(try room.keys() == ["1", "2"])
    }

    @Test(arguments: [true, false])
    func `a search that may lack removed records is reported, and the file is published`(mayLackSome: Bool) throws {
        let room = try Room()
        try room.write([event(1)])
        #expect(try room.publish() == .init(published: 1))
        try room.write([event(1), event(2)])
        let summary = try room.publish(change: {
            $0.findOnTopic = { _ in
                var events = EventsOnTopic()
                events.mayLackSome = mayLackSome
                return events
            }
        })
        #expect(summary == .init(published: 1, resumed: 1))
        #expect(room.reports.contains { $0.contains("records were removed from t") } == mayLackSome, "\(room.reports)")
    }

    @Test func `the topic is searched only for a file of which something is left to publish`() throws {
        let room = try Room()
        var searches = 0
        func publish(_ events: ClosedRange<Int>) throws -> FilePublication.Summary {
            try room.write(events.map(event))
            return try room.publish(change: {
                $0.findOnTopic = { _ in
                    searches += 1
                    return EventsOnTopic()
                }
            })
        }
        #expect(try publish(1...2) == .init(published: 2))
        #expect(try publish(1...2) == .init(resumed: 2))
        #expect(searches == 0)
        #expect(try publish(1...3) == .init(published: 1, resumed: 2))
        #expect(searches == 1)
    }

    @Test func `a mended line is published by the same command, alone`() throws {
        let room = try Room()
        try room.write([event(1), "bad", event(3), "bad", "bad", event(6)])
        #expect(try room.publish() == .init(published: 3, bad: 3))
        try room.write([event(1), event(2), event(3), "bad", event(5), event(6)])
        #expect(try room.publish() == .init(published: 2, bad: 1, resumed: 3))
        try room.write([event(1), event(2), event(3), event(4), event(5), event(6), event(7)])
        #expect(try room.publish() == .init(published: 2, resumed: 5))
        #expect(try room.keys() == ["1", "3", "6", "2", "5", "4", "7"])
    }

    @Test func `a strict publication stops at the bad line and continues once it is mended`() throws {
        let room = try Room()
        try room.write([event(1), event(2), "bad", event(4)])
        #expect(throws: EventFile.Failure.self) { try room.publish(isStrict: true) }
        try room.write([event(1), event(2), event(3), event(4)])
        #expect(try room.publish(isStrict: true) == .init(published: 2, resumed: 2))
        #expect(try room.keys() == ["1", "2", "3", "4"])
    }

    @Test func `a file that ends in the middle of an event continues when it is complete`() throws {
        let room = try Room()
        try room.write([event(1), "{\"id\":\"2\",\"head"])
        #expect { try room.publish() } throws: {
            "\($0)" == "\(room.path):2: the file ends in the middle of this event"
        }
        try room.write([event(1), event(2)])
        #expect(try room.publish() == .init(published: 1, resumed: 1))
        #expect(try room.keys() == ["1", "2"])
    }

    @Test(arguments: [
        [event(1), event(9), "bad", event(4)], [event(2), event(1), "bad", event(4)], [event(1)],
        [event(1), event(2), event(4)],
    ])
    func `a file whose published part has changed is not continued`(lines: [String]) throws {
        let room = try Room()
        try room.write([event(1), event(2), "bad", event(4)])
        #expect(try room.publish().published == 3)
        try room.write(lines)
        #expect { try room.publish() } throws: { "\($0)".contains("has changed in the part of which 3 events were") }
        #expect(try room.keys() == ["1", "2", "4"])
    }

    @Test func `a file that changes while it is read is compared by the same command`() throws {
        let room = try Room()
        try room.write([event(1), "bad", event(3)])
        #expect {
            try room.publish { _ in try? room.write([event(1), "bad", event(3), event(4)]) }
        } throws: { "\($0)".contains("was changed while it was read; the same command compares it") }
        #expect(try room.publish().bad == 1)
        #expect(try room.keys() == ["1", "3", "4"])
    }

    @Test func `an event that the broker refuses is a bad line, and the same command retries it`() throws {
        let room = try Room()
        try room.write([event(1)])
        room.broker.failNext(.produce, .messageTooLarge, count: 2)
        #expect(try room.publish() == .init(bad: 1))
        #expect(room.reports.first?.hasPrefix("\(room.path):1: the broker refuses it: ") == true)
        #expect(try room.publish() == .init(published: 1))
        #expect(try room.keys() == ["1"])
    }

    @Test func `a strict publication records none of several refused events as published`() throws {
        let room = try Room()
        try room.write((1...3).map(event))
        room.broker.failNext(.produce, .messageTooLarge, count: 100)
        #expect { try room.publish(isStrict: true) } throws: { "\($0)".contains("the broker refuses it: ") }
        room.broker.serve(.produce)
        #expect(try room.publish(isStrict: true) == .init(published: 3))
        #expect(try room.keys() == ["1", "2", "3"])
    }

    @Test func `without progress, an interruption does not promise to continue`() throws {
        let room = try Room()
        try room.write([event(1), "bad", event(3)])
        #expect(try room.publish(keepsProgress: false) { $0.raise() }.isInterrupted)
        #expect(room.reports.last?.contains("the same command starts again from the beginning") == true)
    }

    @Test func `the wait for a silent broker is bounded, and the rest is published later`() throws {
        let room = try Room()
        try room.write([event(1), "bad", event(3)])
        var isDown = false
        let summary = try room.publish(waitMax: .milliseconds(100)) { stop in
            if !isDown { room.broker.setDown() }
            isDown = true
            stop.raise()
        }
        #expect(summary.isInterrupted)
        #expect(summary.published == 0)
        room.broker.setUp()
        #expect(try room.publish().published == 2)
        #expect(try room.keys() == ["1", "3"])
    }

    // MARK: Another file in its place

    @Test func `a file that became smaller is not continued, although its published part is the same`() throws {
        let room = try Room()
        try room.write((1...5).map(event) + ["bad"])
        // The bad line interrupts. It is then mended, so that no line is open.
        _ = try room.publish { $0.raise() }
        try room.write((1...9).map(event))
        #expect(throws: EventFile.Failure.self) { try room.publish(change: { $0.recordsMax = 2 }) }
        try room.write((1...8).map(event))
        #expect { try room.publish() } throws: {
            "\($0)".contains("is smaller than it was, and 7 events were published")
        }
        #expect(try room.keys().count == 7)
        // The refusal has changed nothing, so the original file can be continued.
        try room.write((1...9).map(event))
        #expect(try room.publish().published == 2)
    }

    @Test func `a file that grew at its end is continued, and one that grew elsewhere is not`() throws {
        let room = try Room()
        try room.write((1...4).map(event))
        #expect(throws: EventFile.Failure.self) { try room.publish(change: { $0.recordsMax = 2 }) }
        try room.write((1...3).map(event) + [event(40), event(5)])
        #expect { try room.publish() } throws: {
            "\($0)".contains("is another file, or was changed elsewhere than at its end")
        }
        try room.write((1...5).map(event))
        #expect(try room.publish() == .init(published: 3, resumed: 2))
    }

    // MARK: Bounds

    @Test func `events beyond a bound are counted, and stay skipped when the command continues`() throws {
        let room = try Room()
        try room.write([event(1), event(2), "bad", event(4), event(5)])
        let bounds = { (publication: inout FilePublication) in
            publication.selection = EventSelection(EventReview(), .init(events: 3), start: .distantPast)
        }
        #expect(
            try room.publish(onReport: { $0.raise() }, change: bounds)
                == .init(published: 2, bad: 1, isInterrupted: true))
        #expect(try room.publish(change: bounds) == .init(published: 1, bad: 1, resumed: 2, skipped: 1))
        #expect(try room.publish(change: bounds) == .init(bad: 1, resumed: 3))
        #expect(try room.keys() == ["1", "2", "4"])
    }

    @Test func `if events cannot be counted first, the event after the last allowed one is an error`() throws {
        let room = try Room()
        try room.write((1...4).map(event))
        #expect { try room.publish(change: { $0.recordsMax = 2 }) } throws: {
            "\($0)".contains("e.ndjson:3: only 2 events are allowed; type the exact number of events after --confirm")
        }
        #expect(try room.keys() == ["1", "2"])
    }

    // MARK: Hours

    /// A clock that advances when somebody waits for it, and by a minute with every reading.
    private final class NightClock: Sendable {
        private let now: Mutex<Instant>

        init(_ now: Instant) { self.now = Mutex(now) }

        var time: Instant { now.withLock { $0 } }

        var wall: PublishClock {
            PublishClock(
                now: {
                    self.now.withLock { now in
                        now = now + .seconds(60)
                        return now
                    }
                }, wait: { time, _ in self.now.withLock { $0 = max($0, time) + .seconds(600) } })
        }
    }

    @Test func `a publication pauses outside its hours, reports that, and continues`() throws {
        let room = try Room()
        try room.write((1...500).map(event))
        let begin = try #require(Instant(rfc3339: "2026-11-22T22:00:00Z"))
        let clock = NightClock(begin)
        let summary = try room.publish(change: {
            $0.schedule = PublishSchedule(between: "01:00-05:00", zone: .utc)
            $0.wall = clock.wall
        })
        #expect(summary == .init(published: 500))
        let pauses = room.reports.filter { $0.contains("pauses until") }
        #expect(pauses.first?.hasSuffix("pauses until 2026-11-23T01:00:00.000Z") == true, "\(room.reports)")
        // Each reading of the clock takes a minute, so at most 240 events fit into a night.
        #expect(pauses.count >= 3 && clock.time - begin > .seconds(48 * 3_600))
        #expect(try room.keys() == (1...500).map(String.init))
    }

    @Test func `a pause ends at once when it is interrupted`() throws {
        let room = try Room()
        try room.write((1...3).map(event))
        let noon = try #require(Instant(rfc3339: "2026-11-22T12:00:00Z"))
        let summary = try room.publish(
            onReport: { $0.raise() },
            change: {
                $0.schedule = PublishSchedule(between: "01:00-05:00", zone: .utc)
                $0.wall = PublishClock(now: { noon }, wait: { _, _ in })
            })
        #expect(summary == .init(isInterrupted: true))
        #expect(try room.keys().isEmpty)
    }
}
