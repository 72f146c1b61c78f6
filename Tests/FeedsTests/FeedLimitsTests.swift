import Feeds
import Testing

struct FeedLimitsTests {
    @Test func `no more entries are used than are read`() {
        #expect(FeedLimits.entriesUsed <= FeedLimits.entriesRead)
    }

    /// The items of the last document that were left out are kept until the next one.
    @Test func `the id of an item that is left out is cut`() throws {
        let id = String(repeating: "i", count: 1 << 20)
        let item = "<conceptItem guid=\"\(id)\"/>"
        let document = try Samples.read(
            "<newsMessage xmlns=\"http://iptc.org/std/nar/2006-10-01/\"><itemSet>\(item)</itemSet></newsMessage>")
        #expect(document.skipped.map { $0.id?.utf8.count } == [512])
    }
}
