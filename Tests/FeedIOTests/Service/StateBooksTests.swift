import Feeds
import KafkaModel
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

    @Test func `another failure does not mean that the topic is missing`() {
        _ = books.translate(.assigned([], Generation(1)))
        books.note(.standstill)
        #expect(books.isRestored)
    }
}
