import FeedIO
import Testing

struct FetchLimitsTests {
    @Test func `connecting may not take longer than the whole fetch`() {
        #expect(FetchLimits().connect < FetchLimits().whole)
    }
}
