import ByteText
import Testing

@testable import HubIO

@Suite struct ReplyReaderFuzzTests {
    @Test(arguments: 0..<8 as Range<UInt64>)
    func `mutated replies never trap and read the same in pieces of any size`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let seeds = ReplyReaderTests.replies.map(\.text) + ReplyReaderTests.malformed.map(\.text)
        for round in 0..<2_000 {
            let bytes = mutated(Array(seeds[Int.random(in: 0..<seeds.count, using: &random)].utf8), using: &random)
            let whole = read(bytes, thenEnds: true, headMax: 160, bodyMax: 40)
            let pieces = (0..<bytes.count).map { _ in Int.random(in: 1...9, using: &random) }
            var cut = read(bytes, pieces: pieces, thenEnds: true, headMax: 160, bodyMax: 40)
            // After a cut exactly at the end of a reply, the reader cannot know that more bytes follow.
            if whole == .malformed(.bytesAfterReply), case .reply = cut { cut = whole }
            #expect(
                cut == whole, "seed \(seed), round \(round): \(String(decoding: bytes, as: UTF8.self).debugDescription)"
            )
        }
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func `random bytes never trap`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<2_000 {
            let tail = (0..<Int.random(in: 1...64, using: &random)).map { _ in
                UInt8.random(in: .min ... .max, using: &random)
            }
            _ = read(tail, thenEnds: true)
            _ = read(Array("HTTP/1.1 201 C\r\n".utf8) + tail, thenEnds: true)
            _ = read(Array("HTTP/1.1 201 C\r\nTransfer-Encoding: chunked\r\n\r\n".utf8) + tail, thenEnds: true)
        }
    }

    private func mutated(_ original: [UInt8], using random: inout SeededRandom) -> [UInt8] {
        var bytes = original
        for _ in 0..<Int.random(in: 0...4, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes[place] = UInt8.random(in: .min ... .max, using: &random)
            case 1: bytes.insert(Array("\r\n \t:;,0aF\0".utf8)[Int.random(in: 0..<11, using: &random)], at: place)
            case 2: bytes.remove(at: place)
            case 3: bytes.removeLast(bytes.count - place)
            default: bytes.insert(contentsOf: original.prefix(place), at: place)
            }
        }
        return bytes.isEmpty ? [0] : bytes
    }
}
