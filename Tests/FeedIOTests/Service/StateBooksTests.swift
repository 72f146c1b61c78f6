import Feeds
import KafkaModel
import Testing

@testable import FeedIO

struct StateBooksTests {
    private let books = StateBooks(layout: StateLayout(partitions: 2), topic: "news.feeds")
    private let missing = KafkaFailure(code: "UNKNOWN_TOPIC_OR_PART", detail: "The topic does not exist")

    @Test func `a process with an empty share is ready, but not if the topic is missing`() {
        #expect(!books.isRestored)
        _ = books.take(.assigned([]))
        #expect(books.isRestored)
        books.take(missing)
        _ = books.take(.revoked([0]))
        _ = books.take(.assigned([]))
        #expect(!books.isRestored && books.isTopicMissing)
    }

    @Test func `a topic that was created again is used again`() {
        books.take(missing)
        _ = books.take(.assigned([1]))
        #expect(!books.isTopicMissing && !books.isRestored)
        _ = books.take(.restored(partition: 1))
        #expect(books.isRestored)
    }

    @Test func `another failure does not mean that the topic is missing`() {
        _ = books.take(.assigned([]))
        books.take(.standstill)
        #expect(books.isRestored)
    }
}
