import HubServer
import KafkaIO
import NewsModel
import PublishEngine
import PublisherService
import TestSupport
import Testing

struct DeadLetterTests {
    @Test func `a record that is not news ends as a dead letter with its original bytes, key and headers`() async throws
    {
        let newsroom = try await Newsroom()
        let bad: [(key: [UInt8]?, value: [UInt8]?, headers: [RecordHeader])] = [
            (Array("tombstone".utf8), nil, []),
            (Array("empty".utf8), [], []),
            (Array("utf8".utf8), [0x7b, 0xff, 0xfe, 0x7d], [RecordHeader(name: "x-desk", value: [0, 1, 2])]),
            (nil, Array(#"{"id":"1","headline":"#.utf8), []),
            (Array("deep".utf8), Array(String(repeating: "[", count: 10_000).utf8), []),
            (
                Array("nowhere".utf8), Array(#"{"id":"nowhere","headline":"No category"}"#.utf8),
                [RecordHeader("traceparent", "00-1-2-03")]
            ),
            ([0xff], Array(#"{"headline":"No id","category":"World"}"#.utf8), []),
        ]
        try newsroom.topics.publish(bad)
        try await newsroom.publisher(newsroom.settings()).run(untilCaughtUp: true)

        let results = try newsroom.topics.results()
        #expect(results.count == bad.count)
        #expect(results.filter { $0.outcome == .undecodable }.count == bad.count - 1)
        #expect(results.filter { $0.outcome == .unroutable }.map(\.eventID) == ["nowhere"])
        #expect(results.allSatisfy { $0.error != nil })
        let letters = try newsroom.topics.deadLetters()
        #expect(letters.count == bad.count)
        for original in bad {
            let letter = try #require(letters.first { $0.key == original.key && $0.value == original.value })
            #expect(original.headers.allSatisfy(letter.headers.contains))
            #expect(letter.headers.contains { $0.name == HeaderName.source })
            #expect(letter.headers.contains { $0.name == HeaderName.reason })
            let outcome = letter.headers.first { $0.name == HeaderName.outcome }?.text
            #expect(outcome == (original.key == Array("nowhere".utf8) ? "unroutable" : "undecodable"))
        }
        #expect(newsroom.hub.receivedCount == 0)
        let carried = try newsroom.topics.read(Topics.results).first { $0.record.key == Array("nowhere".utf8) }
        #expect(carried?.record.headers.contains(RecordHeader("traceparent", "00-1-2-03")) == true)
        await newsroom.close()
    }
}
