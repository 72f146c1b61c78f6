import Foundation
import KafkaIO
import KafkaModel
import NewsModel
import NotificationHub
import Testing

/// `newswire results` over thirty results, one a minute, on two partitions.
struct ResultsTests {
    private static let count = 30

    @Test func `all results are shown without options, and filters select among them`() async throws {
        let room = try await room()
        #expect(try await shown(room).sorted() == (0..<Self.count).map { $0 })
        #expect(try await shown(room, "--outcome", "unroutable").sorted() == [0, 5, 10, 15, 20, 25])
        #expect(try await shown(room, "--event", "e7", "--event", "e9").sorted() == [7, 9])
        #expect(try await shown(room, "--event", "e7", "--outcome", "unroutable") == [])
        #expect(try await shown(room, "--limit", "3").count == 3)
        await room.close()
    }

    @Test func `the last results are shown by time, even if filters lead far back`() async throws {
        let room = try await room()
        #expect(try await shown(room, "--tail", "4") == [26, 27, 28, 29])
        #expect(try await shown(room, "--tail", "3", "--outcome", "unroutable") == [15, 20, 25])
        #expect(try await shown(room, "--tail", "2", "--event", "e0") == [0])
        #expect(try await shown(room, "--tail", "0") == [])
        #expect(try await shown(room, "--tail", "10000") == Array(0..<Self.count))
        #expect(try await shown(room, "--tail", "5", "--limit", "2") == [25, 26])
        await room.close()
    }

    @Test func `results since a time are shown, given as a duration or as an instant`() async throws {
        let room = try await room()
        // The newest is an hour old.
        #expect(try await shown(room, "--since", "65m30s").sorted() == [24, 25, 26, 27, 28, 29])
        #expect(try await shown(room, "--since", "65m30s", "--outcome", "unroutable") == [25])
        #expect(try await shown(room, "--since", "65m30s", "--tail", "2") == [28, 29])
        #expect(try await shown(room, "--since", "59m") == [])
        #expect(try await shown(room, "--since", "2020-01-01T00:00:00Z").count == Self.count)
        await room.close()
    }

    @Test func `following begins at the last ten results and continues with new ones`() async throws {
        let room = try await room()
        let running = try room.start("results", "--follow", "--json")
        _ = try await running.printed(#""eventId":"e29""#)
        try Self.write([result(30, at: Date().timeIntervalSince1970)], to: room)
        _ = try await running.printed(#""eventId":"e30""#)
        running.terminate()
        let ended = try await running.ended()
        #expect(ended.status == 0, "\(ended.errors)")
        #expect(try Self.numbers(ended.output) == Array(20...30))
        await room.close()
    }

    @Test func `a record that could not be read shows its place`() async throws {
        let room = try await ProgramRoom()
        var broken = result(4, at: 0)
        broken.outcome = .undecodable
        broken.error = .init(code: "wrong-type", detail: "headline must be a string")
        var nameless = broken
        nameless.eventID = nil
        try Self.write([broken, nameless], to: room)
        let ended = try await room.run("results", "--outcome", "undecodable")
        let rows = ended.output.split(separator: "\n").dropFirst()
        #expect(rows.count == 2)
        #expect(rows.first?.contains("  e4  ") == true)
        #expect(rows.first?.hasSuffix("  at news.events/0/4; wrong-type: headline must be a string") == true)
        #expect(rows.last?.contains("  news.events/0/4  ") == true)
        await room.close()
    }

    private func room() async throws -> ProgramRoom {
        let room = try await ProgramRoom()
        let first = Date().timeIntervalSince1970 - 3600 - Double(Self.count - 1) * 60
        try Self.write((0..<Self.count).map { result($0, at: first + Double($0) * 60) }, to: room)
        return room
    }

    /// - Parameter time: seconds since 1970.
    private func result(_ number: Int, at time: Double) -> ResultRecord {
        ResultRecord(
            eventID: "e\(number)", platform: .template,
            outcome: number.isMultiple(of: 5) ? .unroutable : .accepted, lane: "live",
            source: .init(
                partition: TopicPartition(topic: "news.events", partition: Int32(number % 2)), offset: Int64(number)),
            settledAt: Instant(milliseconds: Int64(time * 1000)))
    }

    private static func write(_ results: [ResultRecord], to room: ProgramRoom) throws {
        let publisher = try RecordPublisher(settings: room.broker.settings(group: "test"))
        for result in results {
            var json: [UInt8] = []
            result.encode(into: &json)
            try publisher.publish(
                ProducedRecord(
                    topic: "news.results", partition: result.source.partition.partition, value: json,
                    timestamp: result.settledAt))
        }
        try publisher.flush()
    }

    /// The numbers of the results, as they are printed.
    private func shown(_ room: ProgramRoom, _ options: String...) async throws -> [Int] {
        let ended = try await Program.run(
            ["results", "--json", "--config", room.path("newswire.yaml")] + options, environment: room.environment)
        #expect(ended.status == 0, "\(ended.errors)")
        return try Self.numbers(ended.output)
    }

    private static func numbers(_ output: String) throws -> [Int] {
        try output.split(separator: "\n").map { line in
            try #require(try ResultRecord(decoding: Array(line.utf8)).eventID.flatMap { Int($0.dropFirst()) })
        }
    }
}
