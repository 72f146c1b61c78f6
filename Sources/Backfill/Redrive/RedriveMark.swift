import ByteText

/// Records which dead letters of one partition were returned to their lanes, in one committed offset and its metadata.
///
/// The offset is the first dead letter not yet returned. The metadata has a bit for every later one that was. Runs with
/// different filters therefore respect each other, and no other store is needed.
package struct RedriveMark: Sendable {
    /// The offsets that the metadata covers, counted back from the newest returned dead letter: 4,000 bytes of base64.
    static let reach: Int64 = 24_000

    private let start: Int64
    private var next: Int64
    private var gone: Set<Int64> = []
    /// Offsets that were seen and not returned, ascending.
    private var left: [Int64] = []

    /// - Parameters:
    ///   - offset: the committed offset; 0 before the first run.
    ///   - metadata: its metadata. Foreign metadata counts as empty.
    package init(offset: Int64 = 0, metadata: String = "") {
        // No partition has larger offsets, and the sums below cannot overflow.
        start = min(max(offset, 0), .max / 2)
        next = start
        guard let bytes = Base64.decode(metadata), bytes.count <= Self.reach / 8 else { return }
        for (index, byte) in bytes.enumerated() {
            for bit in 0..<8 where byte & (1 << bit) != 0 {
                gone.insert(start + Int64(index * 8 + bit))
            }
        }
    }

    /// The offset to read from.
    package var first: Int64 { start }

    package func isGone(_ offset: Int64) -> Bool { offset < start || gone.contains(offset) }

    /// Marks a dead letter as returned. Offsets must ascend, and those before the start change nothing.
    package mutating func putBack(_ offset: Int64) {
        guard offset >= start, offset <= .max / 2 else { return }
        next = max(next, offset + 1)
        gone.insert(offset)
    }

    package mutating func leave(_ offset: Int64) {
        guard offset >= start, offset <= .max / 2, !gone.contains(offset) else { return }
        next = max(next, offset + 1)
        left.append(offset)
    }

    /// The offset and the metadata to commit, and the number of dead letters that the metadata does not reach. Later runs skip
    /// these unless they start from the beginning.
    package var committed: (offset: Int64, metadata: String, outOfReach: Int) {
        let newest = gone.max() ?? start
        let reachable = left.drop { newest - $0 >= Self.reach }
        var offset = reachable.first ?? next
        if reachable.isEmpty { while gone.contains(offset) { offset += 1 } }
        var bits = [UInt8](repeating: 0, count: newest > offset ? Int((newest - offset) / 8) + 1 : 0)
        for one in gone where one > offset {
            bits[Int((one - offset) / 8)] |= 1 << UInt8((one - offset) % 8)
        }
        return (offset, Base64.encode(bits), left.count - reachable.count)
    }
}
