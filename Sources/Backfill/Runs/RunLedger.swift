package import KafkaModel
package import NewsModel
package import NotificationHub

/// The deliveries of one run, one by one: those that are open, and those that reached the hub more than once.
///
/// Memory: 9 bytes for each record on a lane's topic (25 if no two of them are neighbours) and 2 for each of its platforms.
/// Each delivery that reached the hub or was held takes 8 more. Growing arrays may take twice that. 5,000,000 events on one
/// platform take 95 to 190 MB.
package struct RunLedger: Sendable {
    /// Maximum number of records, which takes about 1 GB. Further records are only counted.
    package static let recordsMax = 50_000_000

    private let platforms: [Platform]
    private let allPlatforms: Set<Platform>
    private var partitions: [TopicPartition: RunPartition] = [:]
    /// Fingerprints of deliveries that the hub has taken, or may have taken.
    private var rung: [UInt64] = []
    /// Fingerprints of held deliveries, and of settled ones whose originals returned from the held topic.
    private var held: [UInt64] = [], brought: [UInt64] = []
    private var records = 0
    /// The number of deliveries without any result.
    private var open = 0

    package private(set) var tally = RunTally()
    /// The number of deliveries of one record that the hub took, or may have taken, from two owners of its partition. A crash
    /// can cause that for requests in flight.
    package private(set) var repeated = 0
    /// The first results that `repeated` counts.
    package private(set) var repeats: [RunResult] = []
    /// Repeats from one owner of the partition. It knew the first result, so no crash explains the second.
    package private(set) var unexplained = 0
    /// The first results that `unexplained` counts.
    package private(set) var unexplainedRepeats: [RunResult] = []

    /// The numbers of owners, by the owner's text.
    private var owners: [String: UInt16] = [:]
    /// Repeats whose owners are not known. Older versions did not name owners, so one crash may explain as many repeats as
    /// there were requests in flight.
    private var unowned = 0
    private let inFlightMax: Int
    /// The number of records beyond `recordsMax`.
    package private(set) var ignored = 0

    /// Maximum number of missing, doubled or repeated deliveries that are named.
    package static let namesMax = 20

    /// - Parameters:
    ///   - platforms: the platforms of the settings. Every record has a result for each of them, whatever its outcome.
    ///   - inFlightMax: the maximum number of requests that one process has in flight.
    package init(platforms: [Platform], inFlightMax: Int) {
        self.platforms = platforms
        allPlatforms = Set(platforms)
        self.inFlightMax = inFlightMax
    }

    /// Adds a record of the run. Records of one partition must come in the order of their offsets. Known ones change nothing.
    ///
    /// - Parameter identity: distinguishes the record from one at the same place of a former topic of that name.
    package mutating func append(_ source: RunSource, _ identity: RecordIdentity, at place: ResultRecord.Source) {
        // A record that names none of today's platforms is for all of them, as in the engine.
        let named = source.platforms?.intersection(allPlatforms) ?? []
        let chosen = named.isEmpty ? allPlatforms : named
        var wanted: UInt16 = 0
        for (index, platform) in platforms.prefix(UInt16.bitWidth).enumerated() where chosen.contains(platform) {
            wanted |= 1 << UInt16(index)
        }
        guard records < Self.recordsMax else {
            ignored += 1
            return
        }
        guard
            partitions[place.partition, default: RunPartition(platforms: platforms.count)].append(
                place.offset, source.way, identity, wanted)
        else {
            return
        }
        records += 1
        open += wanted.nonzeroBitCount
        tally.add(RunSource(way: source.way, platforms: chosen))
    }

    package var topics: Set<String> { Set(partitions.keys.map(\.topic)) }

    /// True if the result is about a record of this run.
    package func has(_ result: RunResult) -> Bool {
        let source = result.coordinates.source
        return partitions[source.partition]?.index(of: source.offset, result.identity) != nil
    }

    /// Applies a result, which may belong to any run.
    ///
    /// - Returns: `true` if it is the first result of a delivery of this run.
    @discardableResult
    package mutating func apply(_ result: RunResult) -> Bool {
        guard let platform = platforms.firstIndex(of: result.coordinates.platform), platform < UInt16.bitWidth else {
            return false
        }
        let source = result.coordinates.source
        let ring = result.mayHaveRung ? number(of: result.owner) : nil
        guard
            let settled = partitions[source.partition]?.settle(source.offset, result.identity, platform, ring)
        else { return false }
        if let before = settled.ringBefore {
            note(repeat: result, after: before, by: ring ?? Self.unknownOwner)
            if ring == Self.unknownOwner {
                partitions[source.partition]?.mark(source.offset, platform, Self.repeatedByUnknown)
            }
        } else if result.mayHaveRung, !settled.way.isRedriven {
            // A delivery that an operator has redriven may ring again.
            rung.append(result.delivery)
        }
        guard settled.isFirst else { return false }
        open -= 1
        tally.add(result)
        if result.outcome == .held { held.append(result.delivery) }
        if settled.way.isReturned, result.outcome != .held { brought.append(result.delivery) }
        return true
    }

    /// Numbers for unknown owners. An owner also counts as unknown if all other numbers are used.
    private static let unknownOwner = UInt16.max, repeatedByUnknown = UInt16.max - 1

    private mutating func number(of owner: String?) -> UInt16 {
        guard let owner else { return Self.unknownOwner }
        if let known = owners[owner] { return known }
        guard owners.count < Int(Self.repeatedByUnknown) else { return Self.unknownOwner }
        let number = UInt16(owners.count)
        owners[owner] = number
        return number
    }

    /// Counts a second result of a delivery. A crash explains it only if another owner wrote the one before, because an owner
    /// sends nothing that it has a result of. A new owner has read all earlier owners' results that were stored by then.
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

    /// The number of published events whose records were not read.
    ///
    /// - Parameter published: the number of events that are known to be published.
    package func unread(of published: Int) -> Int { max(published - tally.published - ignored, 0) }

    /// True if every delivery has its last outcome. Sorts if all have a result and some were held.
    package mutating func isComplete() -> Bool { open == 0 && stillHeld().isEmpty }

    /// The number of deliveries without any result.
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

    /// Deliveries that were held and did not return, ascending, each once.
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

    /// Deliveries that the hub took, or may have taken, for more than one record. Ascending, each once.
    package mutating func doubled() -> [UInt64] {
        rung.sort()
        var doubled: [UInt64] = []
        for (one, next) in zip(rung, rung.dropFirst()) where one == next && doubled.last != one { doubled.append(one) }
        return doubled
    }
}
