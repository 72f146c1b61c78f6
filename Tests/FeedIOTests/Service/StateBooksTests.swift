import Feeds
import KafkaModel
import NewsModel
import Testing

@testable import FeedIO

struct StateBooksTests {
    private let books = StateBooks(layout: StateLayout(partitions: 2), topic: "news.feeds")
    private let missing = KafkaFailure(code: "UNKNOWN_TOPIC_OR_PART", detail: "The topic does not exist")

    @Test func `a process with an empty share is ready, but not if the topic is missing`() {
        #expect(!books.isRestored)
        _ = books.translate(.assigned([], Generation(1)))
        #expect(books.isRestored)
        books.note(missing)
        _ = books.translate(.revoked([0]))
        _ = books.translate(.assigned([], Generation(1)))
        #expect(!books.isRestored && books.isTopicMissing)
    }

    @Test func `a topic that was created again is used again`() {
        books.note(missing)
        _ = books.translate(.assigned([1], Generation(1)))
        #expect(!books.isTopicMissing && !books.isRestored)
        _ = books.translate(.restored(partition: 1))
        #expect(books.isRestored)
    }

    @Test func `removed records are reported before their partition is restored`() {
        _ = books.translate(.assigned([1], Generation(1)))
        let events: [SharedStateEvent] = [.removed(partition: 1, below: 7), .restored(partition: 1)]
        #expect(events.flatMap(books.translate) == [.removed(partition: 1, below: 7), .restored(partition: 1)])
    }

    @Test func `the layout is written again if it is removed while the process runs`() throws {
        _ = books.translate(.assigned([0], Generation(1)))
        let record = SourceRecord(
            offset: 0, timestamp: nil, key: Array(StateLayout.key.utf8), value: StateLayout(partitions: 2).value,
            headers: [])
        let read: [SharedStateEvent] = [.records(partition: 0, [record]), .restored(partition: 0)]
        for event in read { _ = books.translate(event) }
        #expect(books.missingLayout() == nil)
        _ = books.translate(.removed(partition: 0, below: 1))
        #expect(books.missingLayout()?.partition == 0)
        #expect(books.missingLayout() == nil)
    }

    @Test func `another failure does not mean that the topic is missing`() {
        _ = books.translate(.assigned([], Generation(1)))
        books.note(.standstill)
        #expect(books.isRestored)
    }
}
