import ByteText
import Feeds
import NewsModel
import Testing

struct FeedFuzzTests {
    @Test(arguments: Samples.all)
    func `a document that is cut off has only whole entries`(sample: String) throws {
        let bytes = Array(sample.utf8)
        let whole = try Samples.read(bytes).entries
        for length in 0..<bytes.count {
            guard let cut = try? Samples.read(Array(bytes[..<length])) else { continue }
            #expect(cut.entries.allSatisfy { whole.contains($0) }, "cut at \(length)")
        }
    }

    @Test(arguments: Samples.all)
    func `no mutation causes a trap, and the result is within the limits`(sample: String) {
        var random = SeededRandom(seed: UInt64(sample.utf8.count))
        let pieces = Samples.all.map { Array($0.utf8) }
        for _ in 0..<600 {
            var bytes = Array(sample.utf8)
            for _ in 0..<Int.random(in: 1...8, using: &random) { mutate(&bytes, with: pieces, &random) }
            check(bytes)
        }
    }

    @Test func `random bytes are read or refused`() {
        var random = SeededRandom(seed: 1)
        let alphabet = Array("<>/!?[]-\"'=&;#x:ab \n{}\u{0}é".utf8)
        for round in 0..<600 {
            let start = round % 2 == 0 ? Array("<rss><channel><item>".utf8) : []
            let bytes = (0..<200).map { _ in
                round % 3 == 0
                    ? UInt8.random(in: .min ... .max, using: &random) : alphabet.randomElement(using: &random) ?? 0
            }
            check(start + bytes)
        }
    }

    private func mutate(_ bytes: inout [UInt8], with pieces: [[UInt8]], _ random: inout SeededRandom) {
        guard !bytes.isEmpty else { return }
        let place = Int.random(in: 0..<bytes.count, using: &random)
        let end = min(place + Int.random(in: 0...40, using: &random), bytes.count)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: bytes[place] = UInt8.random(in: .min ... .max, using: &random)
        case 1: bytes.removeSubrange(place..<end)
        case 2: bytes.insert(contentsOf: bytes[place..<end], at: Int.random(in: 0...bytes.count, using: &random))
        case 3: bytes[place] = Array("<>\"'&;/]".utf8).randomElement(using: &random) ?? 0
        default:
            let other = pieces.randomElement(using: &random) ?? []
            let from = Int.random(in: 0..<max(other.count - 60, 1), using: &random)
            bytes.insert(contentsOf: other.dropFirst(from).prefix(60), at: place)
        }
    }

    private func check(_ bytes: [UInt8]) {
        guard let feed = try? Samples.read(bytes) else { return }
        #expect(feed.entries.count <= FeedLimits.entriesRead)
        for entry in feed.entries {
            for text in [entry.headline, entry.summary, entry.id].compactMap(\.self) {
                #expect(!text.isEmpty && text.utf8.count <= EventLimits.summary)
                #expect(text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F })
            }
            for link in [entry.link, entry.image].compactMap(\.self) {
                #expect(link.hasPrefix("http://") || link.hasPrefix("https://"))
            }
        }
    }
}
