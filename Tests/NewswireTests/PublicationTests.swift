import Foundation
import KafkaIO
import KafkaModel
import NewsModel
import NewswireCommands
import Testing

/// Passes a new folder that is removed at the end.
private func withFolder(_ body: (URL) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "publication-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder)
}

private func publish(_ path: String, _ broker: EmbeddedBroker, topic: String = "t", stopAfter: Int? = nil) throws
    -> FilePublication.Summary
{
    var publication = FilePublication(file: try EventFile(path: path), topic: topic)
    publication.progressPath = path
    let stop = StopFlag()
    var bar = ProgressBar(Terminal(descriptor: -1), at: .now)
    // A complaint raises the flag, at a known line.
    return try publication.run(
        try RecordPublisher(settings: broker.settings(group: "g")), stop: stop, report: { _ in stop.raise() }, bar: &bar
    )
}

private func records(_ broker: EmbeddedBroker) throws -> [String] {
    let reader = try TopicReader(settings: broker.settings(group: "g"), topic: "t")
    var keys: [String] = []
    while !reader.isAtEnd {
        keys += try reader.next().compactMap { $0.record.key.map { String(decoding: $0, as: UTF8.self) } }
    }
    return keys.sorted()
}

@Test func `an interrupted file continues where it stopped, and nothing is published twice`() throws {
    let broker = try EmbeddedBroker(topics: [("t", 1)])
    try withFolder { folder in
        let path = folder.appending(path: "e.ndjson").path
        let lines = (1...9).map { $0 == 4 ? "bad" : "{\"id\":\"\($0)\",\"headline\":\"h\"}" }
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: path))

        let first = try publish(path, broker)
        #expect(first == .init(published: 3, bad: 1, resumed: 0, isInterrupted: true))
        #expect(try PublishProgress.load(for: path)?.events == 3)

        #expect(throws: EventFile.Failure.self) { try publish(path, broker, topic: "other") }

        // The bad line interrupts again: nothing before it is sent a second time.
        #expect(try publish(path, broker) == .init(published: 0, bad: 1, resumed: 3, isInterrupted: true))
        var publication = FilePublication(file: try EventFile(path: path), topic: "t")
        publication.progressPath = path
        var bar = ProgressBar(Terminal(descriptor: -1), at: .now)
        let last = try publication.run(
            try RecordPublisher(settings: broker.settings(group: "g")), stop: StopFlag(), report: { _ in }, bar: &bar)
        #expect(last == .init(published: 5, bad: 1, resumed: 3, isInterrupted: false))
        #expect(try PublishProgress.load(for: path) == nil)
        #expect(try records(broker) == ["1", "2", "3", "5", "6", "7", "8", "9"])
    }
}

@Test func `a file that changed since the interruption is not continued`() throws {
    let broker = try EmbeddedBroker(topics: [("t", 1)])
    try withFolder { folder in
        let path = folder.appending(path: "e.ndjson").path
        try Data("{\"id\":\"1\",\"headline\":\"h\"}\nbad\n{}\n".utf8).write(to: URL(fileURLWithPath: path))
        #expect(try publish(path, broker).isInterrupted)
        try Data("{\"id\":\"1\",\"headline\":\"changed\"}\n".utf8).write(to: URL(fileURLWithPath: path))
        #expect { try publish(path, broker) } throws: {
            "\($0)"
                == "\(path): has changed since it was interrupted; remove \(path).newswire-progress to start again from the beginning"
        }
        try Data("nonsense".utf8).write(to: URL(fileURLWithPath: path + ".newswire-progress"))
        #expect(throws: EventFile.Failure.self) { try publish(path, broker) }
    }
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
