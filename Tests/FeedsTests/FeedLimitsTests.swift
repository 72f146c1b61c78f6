import Feeds
import Testing

struct FeedLimitsTests {
    @Test func `no more entries are used than are read`() {
        #expect(FeedLimits.entriesUsed <= FeedLimits.entriesRead)
    }
}
