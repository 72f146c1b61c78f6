import ByteText
import NewsModel
import Testing

@Test(arguments: [1, 2, 3, 4] as [UInt64])
func `damaged examples are decoded or refused, never a trap`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let decoder = NewsDecoder()
    let headers = [
        [], [RecordHeader("ce_specversion", "1.0"), RecordHeader("ce_id", "x")],
        [RecordHeader("content-type", "application/cloudevents")],
    ]
    var refused = 0
    let originals = try examples().map { try example($0) }
    for original in originals {
        for _ in 0..<400 {
            let value = damaged(original, using: &random)
            let record = SourceRecord(offset: 0, value: value, headers: headers[Int.random(in: 0..<3, using: &random)])
            switch decoder.attempt(record) {
            case .success(let event):
                #expect(!event.id.isEmpty && event.id.utf8.count <= EventLimits.id)
                #expect(
                    (event.status != .usable || !event.headline.isEmpty)
                        && event.headline.utf8.count <= EventLimits.headline)
            case .failure(let undecodable):
                refused += 1
                #expect(undecodable.detail.utf8.count < 400)
            }
            _ = try? ResultRecord(decoding: value)
        }
    }
    // Both outcomes must occur; otherwise the damage is too light or too heavy to prove anything.
    #expect((originals.count * 40..<originals.count * 398).contains(refused))
}

@Test func `every prefix of every example is decoded or refused`() throws {
    let decoder = NewsDecoder()
    for name in try examples("n") + examples("c") {
        let bytes = try example(name)
        let closing = bytes.lastIndex(of: UInt8(ascii: "}")) ?? 0
        for end in 1...closing {
            guard case .failure(let undecodable) = decoder.attempt(SourceRecord(offset: 0, value: Array(bytes[..<end])))
            else { throw Accepted(event: try decode(Array(bytes[..<end]))) }
            #expect(undecodable.reason == .truncatedJSON || undecodable.reason == .invalidUTF8, "\(name) \(end)")
        }
    }
}

@Test func `random bytes are refused`() {
    var random = SeededRandom(seed: 77)
    let decoder = NewsDecoder()
    let alphabet = Array(#"{}[]":,\u0d8 1e-.truefalsn"#.utf8)
    for round in 0..<20_000 {
        let value = (0..<Int.random(in: 1...80, using: &random)).map { _ in
            round % 2 == 0 ? UInt8.random(in: 0...255, using: &random) : alphabet.randomElement(using: &random) ?? 0
        }
        guard case .failure = decoder.attempt(SourceRecord(offset: 0, value: value)) else {
            Issue.record("\(value) is an event")
            return
        }
    }
}

private func damaged(_ original: [UInt8], using random: inout SeededRandom) -> [UInt8] {
    var bytes = original
    for _ in 0..<Int.random(in: 1...3, using: &random) where !bytes.isEmpty {
        let place = Int.random(in: bytes.indices, using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1: bytes[place] = UInt8.random(in: 0...255, using: &random)
        case 2: bytes.insert(UInt8.random(in: 0...127, using: &random), at: place)
        case 3: bytes.remove(at: place)
        case 4: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...20, using: &random)))
        default:
            let piece = original[..<Int.random(in: 1...original.count, using: &random)].suffix(24)
            bytes.insert(contentsOf: piece, at: place)
        }
    }
    return bytes
}
