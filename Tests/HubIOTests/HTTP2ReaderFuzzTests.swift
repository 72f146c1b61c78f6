import ByteText
import Testing

@testable import HubIO

@Suite struct HTTP2ReaderFuzzTests {
    /// Complete replies on streams 1, 3 … in random frames, mixed with control frames, and their expected values.
    private func conversation(
        streams: Int, using random: inout SeededRandom
    ) -> (frames: [Frame], replies: [UInt32: WireReply]) {
        var replies: [UInt32: WireReply] = [:]
        var waiting: [[[Frame]]] = []
        for stream in (0..<UInt32(streams)).map({ $0 * 2 + 1 }) {
            let body = String(repeating: "b", count: Int.random(in: 0...40, using: &random))
            let status = [201, 400, 429, 503][Int.random(in: 0..<4, using: &random)]
            let id = "NH-\(Int.random(in: 0...99, using: &random))"
            var fields = [(":status", "\(status)"), ("trackingid", "t-\(stream)"), ("location", "/messages/\(id)")]
            if Bool.random(using: &random) { fields.append(("content-length", "\(body.utf8.count)")) }
            replies[stream] = WireReply(
                status: status, notificationID: id, trackingID: "t-\(stream)", body: Array(body.utf8))
            var parts: [[Frame]] = []
            if Bool.random(using: &random) { parts.append([.headers(stream, [(":status", "100")], ends: false)]) }
            let hasTrailers = Bool.random(using: &random)
            let endsAtOnce = body.isEmpty && !hasTrailers && Bool.random(using: &random)
            let block = encoded(fields, huffman: Bool.random(using: &random))
            let cut = Int.random(in: 0...block.count, using: &random)
            let flags: UInt8 = endsAtOnce ? 1 : 0
            if Bool.random(using: &random) {
                parts.append([
                    Frame(kind: 1, flags: flags, stream: stream, payload: Array(block.prefix(cut))),
                    Frame(kind: 9, flags: 4, stream: stream, payload: Array(block.dropFirst(cut))),
                ])
            } else {
                parts.append([Frame(kind: 1, flags: flags | 4, stream: stream, payload: block)])
            }
            if !endsAtOnce {
                let half = Int.random(in: 0...body.utf8.count, using: &random)
                parts.append([.data(stream, String(body.prefix(half)), ends: false)])
                parts.append([.data(stream, String(body.dropFirst(half)), ends: !hasTrailers)])
                if hasTrailers { parts.append([.headers(stream, [("x-sum", "1")])]) }
            }
            waiting.append(parts)
        }
        var frames = [Frame.settings([(3, 100)])]
        while !waiting.isEmpty {
            switch Int.random(in: 0..<12, using: &random) {
            case 0: frames.append(.windowUpdate(0, 9))
            case 1: frames.append(Frame(kind: 6, payload: Array(repeating: 7, count: 8)))
            case 2: frames.append(Frame(kind: 77, stream: 4, payload: [1, 2, 3]))
            default:
                let index = Int.random(in: 0..<waiting.count, using: &random)
                frames += waiting[index].removeFirst()
                if waiting[index].isEmpty { waiting.remove(at: index) }
            }
        }
        return (frames, replies)
    }

    private func pieces(of bytes: [UInt8], using random: inout SeededRandom) -> [Int] {
        let longest = [1, 9, 60][Int.random(in: 0..<3, using: &random)]
        return bytes.map { _ in Int.random(in: 1...longest, using: &random) }
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `a valid conversation yields every reply, in pieces of any size`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for round in 0..<100 {
            let streams = Int.random(in: 1...20, using: &random)
            let (frames, replies) = conversation(streams: streams, using: &random)
            let bytes = frames.flatMap(\.bytes)
            let ids = (0..<UInt32(streams)).map { $0 * 2 + 1 }
            var reader = HTTP2Reader.make(opening: ids)
            let whole = reader.readAll(bytes)
            #expect(reader.openCount == 0)
            var read: [UInt32: WireReply] = [:]
            for case .reply(let stream, let reply) in whole { read[stream] = reply }
            #expect(read == replies, "seed \(seed), round \(round)")
            reader = HTTP2Reader.make(opening: ids)
            let cut = reader.readAll(bytes, pieces: pieces(of: bytes, using: &random))
            #expect(cut == whole, "seed \(seed), round \(round)")
        }
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `mutated conversations never trap and read the same in pieces of any size`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for round in 0..<500 {
            let bytes = mutated(conversation(streams: 4, using: &random).frames, using: &random)
            var reader = HTTP2Reader.make(headMax: 160, bodyMax: 60, opening: [1, 3, 5, 7])
            let whole = reader.readAll(bytes)
            reader = HTTP2Reader.make(headMax: 160, bodyMax: 60, opening: [1, 3, 5, 7])
            let cut = reader.readAll(bytes, pieces: pieces(of: bytes, using: &random))
            #expect(cut == whole, "seed \(seed), round \(round): \(bytes)")
            #expect(reader.bufferedBytes <= 2 * (16_384 + 9))
        }
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func `random bytes behind the settings never trap`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<2_000 {
            var reader = HTTP2Reader.make()
            let tail = (0..<Int.random(in: 1...64, using: &random)).map { _ in
                UInt8.random(in: .min ... .max, using: &random)
            }
            let kind = UInt8.random(in: 0...10, using: &random)
            let frame = Frame(kind: kind, flags: tail[0], stream: UInt32(tail[0] % 6), payload: tail)
            _ = reader.readAll(Frame.settings().bytes + frame.bytes + tail)
        }
    }

    private func mutated(_ frames: [Frame], using random: inout SeededRandom) -> [UInt8] {
        var frames = frames
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            let place = Int.random(in: 0..<frames.count, using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: frames[place].kind = UInt8.random(in: 0...10, using: &random)
            case 1: frames[place].flags ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 2: frames[place].stream = UInt32.random(in: 0...9, using: &random)
            case 3: frames[place].payload = Array(frames[place].payload.dropLast())
            case 4: frames.insert(frames[Int.random(in: 0..<frames.count, using: &random)], at: place)
            default: frames.remove(at: place)
            }
            if frames.isEmpty { frames = [.settings()] }
        }
        var bytes = frames.flatMap(\.bytes)
        for _ in 0..<Int.random(in: 0...2, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: bytes[place] = UInt8.random(in: .min ... .max, using: &random)
            case 1: bytes.remove(at: place)
            default: bytes.insert(UInt8.random(in: .min ... .max, using: &random), at: place)
            }
        }
        return bytes.isEmpty ? [0] : bytes
    }
}
