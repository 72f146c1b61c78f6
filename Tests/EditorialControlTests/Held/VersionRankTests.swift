import NewsModel
import Testing

@testable import EditorialControl

@Suite struct VersionRankTests {
    private func rank(_ text: String) -> VersionRank { VersionRank(NewsEvent.Version(text)) }

    @Test(arguments: [
        ("9", "10"), ("1.5", "2"), ("9.5", "10.5"), ("9007199254740992", "9007199254740993"),
        ("1795348800123456789", "1795348800123456790"), ("7", "2026-11-20"), ("2026-11-20", "2026-11-25"),
        ("2026-11-20T10:00:00Z", "2026-11-20T10:00:01Z"), ("10.5", "beta"), ("alpha", "beta"),
    ])
    func `a rank compares like its version`(older: String, newer: String) {
        #expect(NewsEvent.Version(older) < NewsEvent.Version(newer))
        #expect(rank(newer).isNewer(than: rank(older)) == true && rank(older).isNewer(than: rank(newer)) == false)
        #expect(rank(older).isCovered(by: rank(newer)) && !rank(newer).isCovered(by: rank(older)))
    }

    @Test func `texts with the same beginning cannot be compared, and cover only themselves`() {
        let (first, second) = (rank("edition-1"), rank("edition-2"))
        #expect(first.isNewer(than: second) == nil && second.isNewer(than: first) == nil)
        #expect(!first.isCovered(by: second) && !second.isCovered(by: first) && first.isCovered(by: first))
    }

    @Test(arguments: ["-5", "-0.5", "0", "99999999999999999999999", "123456789012345678.5"])
    func `extreme numbers are ranks, too`(text: String) {
        #expect(!rank(text).isNone && rank("2026-11-20").isNewer(than: rank(text)) == true)
    }
}
