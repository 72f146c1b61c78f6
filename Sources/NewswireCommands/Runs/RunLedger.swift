import KafkaModel
package import NewsModel

/// The deliveries of one run, one by one: which are open, which reached the hub more than once.
///
/// Memory: 5 bytes for each record on a lane's topic (21 if no two of them are neighbours) and 2 for each of its platforms,
/// and 8 for each delivery that reached the hub or was held; arrays that grow may take twice that. 5,000,000 events on one
/// platform: 75 to 150 MB.
package struct RunLedger: Sendable {
    /// More records than this are not taken: about 1 GB.
    package static let recordsMax = 50_000_000

    private let platforms: [Platform]
    private var partitions: [TopicPartition: RunPartition] = [:]
    /// Fingerprints of deliveries that the hub has taken, or may have.
    private var rung: [UInt64] = []
    /// Fingerprints of what was held, and of what came of originals that were brought back.
    private var held: [UInt64] = [], brought: [UInt64] = []
    private var records = 0
    /// Results without which the run is not over, but for what is held.
    private var open = 0

    package private(set) var tally = RunTally()
    /// Deliveries of one record that the hub took, or may have taken, from two owners of its partition: what a crash may do
    /// to requests in flight.
    package private(set) var repeated = 0
    /// The first of them.
    package private(set) var repeats: [RunResult] = []
    /// The same from one owner, who knew its first result: no crash explains those.
    package private(set) var unexplained = 0
    /// The first of them.
    package private(set) var unexplainedRepeats: [RunResult] = []

    /// By the owner's text.
    private var owners: [String: UInt16] = [:]
    /// Repeats whose owners are not known. Older versions did not name them, so one crash may explain as many as there were
    /// requests in flight.
    private var unowned = 0
    private let inFlightMax: Int
    /// Records beyond `recordsMax`.
    package private(set) var ignored = 0

    /// Of missing, doubled and repeated ones so many are named.
    package static let namesMax = 20

    /// - Parameters:
    ///   - platforms: those of the settings: every record has a result for each, whatever its outcome.
    ///   - inFlightMax: the requests that one process has in flight at most.
    package init(platforms: [Platform], inFlightMax: Int) {
        self.platforms = platforms
        self.inFlightMax = inFlightMax
    }

    /// A record of the run; those of one partition in the order of their offsets. What is known already changes nothing.
    package mutating func take(_ source: RunSource, at place: ResultRecord.Source) {
        var wanted: UInt16 = 0
        for index in platforms.indices.prefix(UInt16.bitWidth)
        where source.platform == nil || source.platform == platforms[index] {
            wanted |= 1 << UInt16(index)
        }
        guard records < Self.recordsMax else {
            ignored += 1
            return
        }
        guard
            partitions[place.partition, default: RunPartition(platforms: platforms.count)].append(
                place.offset, source.way, wanted)
        else {
            return
        }
        records += 1
        open += wanted.nonzeroBitCount
        tally.add(source)
    }

    /// The topics that its records stand on.
    package var topics: Set<String> { Set(partitions.keys.map(\.topic)) }

    /// The run has a record there.
    package func has(_ place: ResultRecord.Source) -> Bool {
        partitions[place.partition]?.index(of: place.offset) != nil
    }

    /// A result of whatever run.
    ///
    /// - Returns: whether it is one of this run, and the first of its delivery.
    @discardableResult
    package mutating func take(_ result: RunResult) -> Bool {
        guard let platform = platforms.firstIndex(of: result.coordinates.platform), platform < UInt16.bitWidth else {
            return false
        }
        let source = result.coordinates.source
        let ring = result.mayHaveRung ? number(of: result.owner) : nil
        guard let settled = partitions[source.partition]?.settle(source.offset, platform, ring) else { return false }
        if let before = settled.ringBefore {
            note(repeat: result, after: before, by: ring ?? Self.unknownOwner)
            if ring == Self.unknownOwner {
                partitions[source.partition]?.mark(source.offset, platform, Self.repeatedByUnknown)
            }
        } else if result.mayHaveRung, settled.way != .redriven {
            // What an operator puts back may ring again.
            rung.append(result.delivery)
        }
        guard settled.isFirst else { return false }
        open -= 1
        tally.add(result)
        if result.outcome == .held { held.append(result.delivery) }
        if settled.way == .returned, result.outcome != .held { brought.append(result.delivery) }
        return true
    }

    /// Numbers in place of owners. More of them than there are numbers for are not known.
    private static let unknownOwner = UInt16.max, repeatedByUnknown = UInt16.max - 1

    private mutating func number(of owner: String?) -> UInt16 {
        guard let owner else { return Self.unknownOwner }
        if let known = owners[owner] { return known }
        guard owners.count < Int(Self.repeatedByUnknown) else { return Self.unknownOwner }
        let number = UInt16(owners.count)
        owners[owner] = number
        return number
    }

    /// A second result of a delivery is a crash's if another owner wrote it than the one before: an owner sends nothing that it
    /// has a result of, and a new one has read all results of those before that were stored by then.
    private mutating func note(repeat result: RunResult, after before: UInt16, by owner: UInt16) {
        let isKnown = before < Self.repeatedByUnknown && owner < Self.repeatedByUnknown
        if !isKnown { unowned += 1 }
        let isExplained = isKnown ? before != owner : before != Self.repeatedByUnknown && unowned <= inFlightMax
        if isExplained {
            repeated += 1
            if repeats.count < Self.namesMax { repeats.append(result) }
        } else {
            unexplained += 1
            if unexplainedRepeats.count < Self.namesMax { unexplainedRepeats.append(result) }
        }
    }

    /// Every delivery has its last outcome. Costs sorting once all have one, if some were held.
    package mutating func isComplete() -> Bool { open == 0 && stillHeld().isEmpty }

    /// Deliveries without any result.
    package var missing: Int { open }

    /// Records of the first deliveries without a result, in the order of their places.
    package var missingPlaces: [SourceCoordinates] {
        var places: [SourceCoordinates] = []
        for (partition, records) in partitions.sorted(by: { $0.key < $1.key }) {
            for (offset, left) in records.open(max: Self.namesMax - places.count) {
                for (index, platform) in platforms.enumerated()
                where index < UInt16.bitWidth && left & 1 << UInt16(index) != 0 && places.count < Self.namesMax {
                    places.append(
                        SourceCoordinates(source: .init(partition: partition, offset: offset), platform: platform))
                }
            }
            if places.count >= Self.namesMax { break }
        }
        return places
    }

    /// What was held and did not come back, ascending, each once.
    package mutating func stillHeld() -> [UInt64] {
        brought.sort()
        held.sort()
        var left: [UInt64] = []
        var index = 0
        for delivery in held where left.last != delivery {
            while index < brought.count, brought[index] < delivery { index += 1 }
            if index == brought.count || brought[index] != delivery { left.append(delivery) }
        }
        return left
    }

    /// Deliveries that the hub took, or may have taken, for more than one record: each once, ascending.
    package mutating func doubled() -> [UInt64] {
        rung.sort()
        var doubled: [UInt64] = []
        for (one, next) in zip(rung, rung.dropFirst()) where one == next && doubled.last != one { doubled.append(one) }
        return doubled
    }
}

/// The records of a run in one partition.
private struct RunPartition: Sendable {
    /// Neighbouring offsets: the first, and the index of its record.
    private var ranges: [(offset: Int64, index: Int)] = []
    /// By index: platforms whose result is missing, as bits; those that may have rung.
    private var wanted: [UInt16] = []
    private var rung: [UInt16] = []
    /// The last owner by whom a delivery may have rung, by index and platform.
    private var owners: [UInt16] = []
    private let platforms: Int
    private var ways: [RunSource.Way] = []
    private var next = Int64.min

    init(platforms: Int) { self.platforms = min(platforms, UInt16.bitWidth) }

    /// - Returns: `false` if it is known.
    mutating func append(_ offset: Int64, _ way: RunSource.Way, _ platforms: UInt16) -> Bool {
        guard offset >= next, offset < .max else { return false }
        if offset != next || ranges.isEmpty { ranges.append((offset, wanted.count)) }
        next = offset + 1
        wanted.append(platforms)
        rung.append(0)
        owners.append(contentsOf: repeatElement(0, count: self.platforms))
        ways.append(way)
        return true
    }

    func index(of offset: Int64) -> Int? {
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].offset <= offset { low = middle + 1 } else { high = middle }
        }
        guard low > 0 else { return nil }
        let range = ranges[low - 1]
        let count = (low < ranges.count ? ranges[low].index : wanted.count) - range.index
        // Offsets are not negative in Kafka, but they come from outside.
        let (distance, overflow) = offset.subtractingReportingOverflow(range.offset)
        return !overflow && distance < count ? range.index + Int(distance) : nil
    }

    /// - Parameter owner: by whom it may have rung; `nil` if it has not.
    /// - Returns: `ringBefore` is the owner by whom it may have rung before; `nil` if the run has no such delivery.
    mutating func settle(
        _ offset: Int64, _ platform: Int, _ owner: UInt16?
    ) -> (way: RunSource.Way, isFirst: Bool, ringBefore: UInt16?)? {
        guard let index = index(of: offset) else { return nil }
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

    /// Changes the owner by whom a delivery of the run has rung.
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
