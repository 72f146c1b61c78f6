import KafkaModel

struct RunPartition: Sendable {
    /// Ranges of neighbouring offsets: the first offset, and the index of its record.
    private var ranges: [(offset: Int64, index: Int)] = []
    /// The platforms whose result is missing (`wanted`) or that may have rung (`rung`), as bits, by index.
    private var wanted: [UInt16] = []
    private var rung: [UInt16] = []
    /// The last owner by which a delivery may have rung, by index and platform.
    private var owners: [UInt16] = []
    private let platforms: Int
    private var ways: [RunSource.Way] = []
    /// A part of each record's identity, by index.
    private var identities: [UInt32] = []
    private var next = Int64.min

    init(platforms: Int) { self.platforms = min(platforms, UInt16.bitWidth) }

    /// - Returns: `false` if the record is known.
    mutating func append(
        _ offset: Int64, _ way: RunSource.Way, _ identity: RecordIdentity, _ platforms: UInt16
    ) -> Bool {
        guard offset >= next, offset < .max else { return false }
        if offset != next || ranges.isEmpty { ranges.append((offset, wanted.count)) }
        next = offset + 1
        wanted.append(platforms)
        rung.append(0)
        owners.append(contentsOf: repeatElement(0, count: self.platforms))
        ways.append(way)
        identities.append(Self.part(identity))
        return true
    }

    private static func part(_ identity: RecordIdentity) -> UInt32 { UInt32(truncatingIfNeeded: identity.hash) }

    /// - Parameter identity: the identity of the record; `nil` for any.
    func index(of offset: Int64, _ identity: RecordIdentity?) -> Int? {
        guard let index = index(of: offset) else { return nil }
        return identity.map { Self.part($0) == identities[index] } ?? true ? index : nil
    }

    private func index(of offset: Int64) -> Int? {
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].offset <= offset { low = middle + 1 } else { high = middle }
        }
        guard low > 0 else { return nil }
        let range = ranges[low - 1]
        let count = (low < ranges.count ? ranges[low].index : wanted.count) - range.index
        // Offsets in Kafka are not negative, but these come from outside.
        let (distance, overflow) = offset.subtractingReportingOverflow(range.offset)
        return !overflow && distance < count ? range.index + Int(distance) : nil
    }

    /// - Parameter owner: the owner by which the delivery may have rung; `nil` if it has not rung.
    /// - Returns: `nil` if the run has no such delivery. `ringBefore` is the owner by which it may have rung before.
    mutating func settle(
        _ offset: Int64, _ identity: RecordIdentity?, _ platform: Int, _ owner: UInt16?
    ) -> (way: RunSource.Way, isFirst: Bool, ringBefore: UInt16?)? {
        guard let index = index(of: offset, identity) else { return nil }
        let bit = UInt16(1) << UInt16(platform)
        let isFirst = wanted[index] & bit != 0
        wanted[index] &= ~bit
        guard let owner else { return (ways[index], isFirst, nil) }
        let slot = index * platforms + platform
        let before = rung[index] & bit != 0 ? owners[slot] : nil
        rung[index] |= bit
        owners[slot] = owner
        return (ways[index], isFirst, before)
    }

    /// Changes the owner by which a delivery of the run has rung.
    mutating func mark(_ offset: Int64, _ platform: Int, _ owner: UInt16) {
        if let index = index(of: offset) { owners[index * platforms + platform] = owner }
    }

    /// The first records with open deliveries.
    func open(max limit: Int) -> [(offset: Int64, platforms: UInt16)] {
        var found: [(Int64, UInt16)] = []
        for (number, range) in ranges.enumerated() {
            let end = number + 1 < ranges.count ? ranges[number + 1].index : wanted.count
            for index in range.index..<end where wanted[index] != 0 {
                guard found.count < limit else { return found }
                found.append((range.offset + Int64(index - range.index), wanted[index]))
            }
        }
        return found
    }
}
