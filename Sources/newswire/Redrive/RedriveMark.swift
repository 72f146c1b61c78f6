import Foundation
import KafkaIO

/// Which dead letters of one partition were put back, as one committed offset and its metadata.
///
/// The offset is the first dead letter still there; the metadata has a bit for every later one that is gone. So runs with
/// different filters do not forget each other, and nothing but Kafka keeps it.
struct RedriveMark: Sendable {
    /// Offsets behind the newest put back that can be told apart: metadata of at most 4,000 bytes.
    static let reach: Int64 = 24_000

    private let start: Int64
    private var next: Int64
    private var gone: Set<Int64> = []
    /// Seen and left there, ascending.
    private var left: [Int64] = []

    /// - Parameter committed: `nil` before the first run. Metadata in another form counts as empty.
    init(_ committed: GroupOffsets.Position?) {
        // No partition gets this far; it keeps the sums below from overflowing.
        start = min(max(committed?.offset ?? 0, 0), .max / 2)
        next = start
        guard let text = committed?.metadata, let bytes = Data(base64Encoded: text), bytes.count <= Self.reach / 8 else {
            return
        }
        for (index, byte) in bytes.enumerated() {
            for bit in 0..<8 where byte & (1 << bit) != 0 {
                gone.insert(start + Int64(index * 8 + bit))
            }
        }
    }

    /// Where to read from.
    var first: Int64 { start }

    func isGone(_ offset: Int64) -> Bool { offset < start || gone.contains(offset) }

    /// Offsets come ascending; those before the start change nothing.
    mutating func putBack(_ offset: Int64) {
        guard offset >= start, offset <= .max / 2 else { return }
        next = max(next, offset + 1)
        gone.insert(offset)
    }

    mutating func leave(_ offset: Int64) {
        guard offset >= start, offset <= .max / 2, !gone.contains(offset) else { return }
        next = max(next, offset + 1)
        left.append(offset)
    }

    /// What to commit, and how many of those left are too far behind for the metadata: a later run meets them only when
    /// told to begin again.
    var committed: (mark: GroupOffsets.Position, outOfReach: Int) {
        let newest = gone.max() ?? start
        let reachable = left.drop { newest - $0 >= Self.reach }
        var offset = reachable.first ?? next
        if reachable.isEmpty { while gone.contains(offset) { offset += 1 } }
        var bits = [UInt8](repeating: 0, count: newest > offset ? Int((newest - offset) / 8) + 1 : 0)
        for one in gone where one > offset {
            bits[Int((one - offset) / 8)] |= 1 << UInt8((one - offset) % 8)
        }
        let mark = GroupOffsets.Position(offset: offset, metadata: Data(bits).base64EncodedString())
        return (mark, left.count - reachable.count)
    }
}
