import Feeds
import Testing

struct OracleTests {
    @Test func `what is not a feed is refused`() {
        #expect(throws: NotAFeed.self) { try FeedReader.read(Array("no feed".utf8), from: DocumentSource(address: "")) }
    }
}
