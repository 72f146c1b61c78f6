import EditorialControl
import Testing

struct HeldKeyTests {
    @Test(arguments: ["match-1", "match-1#fr", "", "é#readers-"])
    func `a key for single readers names its story`(story: String) {
        for hash in [0, 7, UInt64.max] {
            let key = HeldKey.key(of: story, readers: hash)
            #expect(key != story && HeldKey.orderKey(of: key) == story)
        }
    }

    @Test(arguments: [
        "match-1", "", "s#readers-", "s#readers-0123456789abcde", "s#readers-0123456789ABCDEF", "0123456789abcdef",
    ])
    func `another key is its story`(key: String) { #expect(HeldKey.orderKey(of: key) == key) }
}
