import Foundation
import KafkaIO
import KafkaModel
import NewsModel
import NewswireCommands
import Testing

/// A broker with the topic `t`, and a folder that is removed at the end.
private final class Room {
    let broker: EmbeddedBroker
    let folder = FileManager.default.temporaryDirectory.appending(path: "publication-\(UUID().uuidString)")
    /// What was reported.
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
        onReport: @escaping (StopFlag) -> Void = { _ in }
    ) throws -> FilePublication.Summary {
        var publication = FilePublication(path: path, topic: "t")
        publication.progress = keepsProgress ? try ProgressFile(for: path) : nil
        publication.isStrict = isStrict
        publication.waitMax = waitMax
        reports = []
        let stop = StopFlag()
        var bar = ProgressBar(Terminal(descriptor: -1), at: .now)
        let publisher = try RecordPublisher(settings: broker.settings(group: "g"), skipsRefused: true)
        return try publication.run(
            publisher, stop: stop,
            report: {
                self.reports.append($0)
                onReport(stop)
            }, bar: &bar)
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

    @Test func `a strict publication stops at the bad line and goes on when it is mended`() throws {
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

    @Test func `an event that the broker refuses is a bad line, and is tried again by the same command`() throws {
        let room = try Room()
        try room.write([event(1)])
        room.broker.failNext(.produce, .messageTooLarge)
        #expect(try room.publish() == .init(bad: 1))
        #expect(room.reports.first?.hasPrefix("\(room.path):1: the broker refuses it: ") == true)
        #expect(try room.publish() == .init(published: 1))
        #expect(try room.keys() == ["1"])
    }

    @Test func `without progress, an interruption does not promise to continue`() throws {
        let room = try Room()
        try room.write([event(1), "bad", event(3)])
        #expect(try room.publish(keepsProgress: false) { $0.raise() }.isInterrupted)
        #expect(room.reports.last?.contains("the same command starts again from the beginning") == true)
    }

    @Test func `a broker that does not answer is waited for in bounds, and the rest is published later`() throws {
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

    @Test func `the key is the story, or the id without one`() throws {
        let review = EventReview()
        func key(_ json: String) throws -> String {
            let record = try review.record(EventFileItem(line: 1, content: .event(Array(json.utf8))), topic: "t").get()
            return String(decoding: try #require(record.key), as: UTF8.self)
        }
        #expect(try key("{\"id\":\"1\",\"headline\":\"h\"}") == "1")
        #expect(try key("{\"id\":\"1\",\"headline\":\"h\",\"story\":\"s\"}") == "s")
    }
}
