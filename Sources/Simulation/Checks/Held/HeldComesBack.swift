import EditorialControl
import NewsModel

/// No held event is lost: the newest event of each story returns to its source partition. Events that it replaced on the held
/// topic, possibly from another lane, need not return. Events that a deleted topic takes along while no process runs are reported
/// as lost, unless the control topic lost its records too. Those whose records are removed from the topic return unless a process
/// starts or ends before they are due. An event that vanished from the topic is written to its lane again once: the process that did it
/// tells the others.
struct HeldComesBack: Checker {
    let promise = Promise.heldComesBack
    /// Items with a result `held`.
    private var held: [Line: [Int]] = [:]
    /// All items that reached the held topic, with or without a result.
    private var onTopic: [Line: [Int]] = [:]
    private var returned: Set<Int> = []
    private var alive: Set<Address> = []
    /// Items on a deleted held topic, with the processes that had read them. They return while one of these lives.
    private var vanished: [Int: Set<Address>] = [:]
    private var mayBeLost: Set<Int> = []
    /// Items whose records were removed. Only a process that has read them knows them.
    private var removed: Set<Int> = []
    /// Items whose loss a process must report, because the control topic said that they were held.
    private var owesReport: Set<Int> = []
    private var isReported = false
    /// Items that were written again without being in the content that the control topic recorded. Each may hide a lost one, because
    /// a report is the difference of two counts.
    private var restoredBeyond: Set<Int> = []
    /// The last process that wrote a vanished item to its lane again, with the time.
    private var restored: [Int: (by: Address, at: Instant)] = [:]
    private var diedAt: [Address: Instant] = [:]
    /// The last record of the held topic, according to the control topic.
    private var recorded: (last: HeldPlace, at: Instant)?
    private var places: [Int: (place: HeldPlace, since: Instant)] = [:]

    /// A place for one event.
    struct Line: Hashable {
        /// The partition of the held topic.
        var partition: Int32?
        var story: String
        /// Each group of single readers has a place of its own.
        var readers: Set<String>

        init(_ partition: Int32?, _ news: NewsItem) {
            (self.partition, story, readers) = (partition, news.story, Set(news.users))
        }
    }

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        switch fact {
        case .stored(let delivery, let result, _) where result.outcome == .held:
            let item = truth.item(of: delivery)
            held[Line(truth.partition(of: delivery)?.partition, truth.news[item]), default: []].append(item)
        case .standsHeld(let item, let partition):
            onTopic[Line(partition, truth.news[item]), default: []].append(item)
            places[item] = (HeldPlace(partition, (truth.held[partition]?.end ?? 0) - 1), truth.now)
        case .controlled(let row):
            guard case .heldTotals(let totals, _) = ControlRecord.read(row.record).record else { break }
            recorded = totals.last.map { ($0.place, truth.now) }
        case .controlTruncated: (recorded, owesReport) = (nil, [])
        case .returned(let copy, let item, let event, _, _, _):
            returned.insert(item)
            let source = event.source.partition
            // Its own partition, or one derived from a partition count that the process may have last read.
            let former = truth.formerCounts[source.topic] ?? []
            if let place = truth.places[copy]?.partition, place != source,
                !former.contains(where: { $0 <= source.partition && Int(source.partition) % $0 == place.partition })
            {
                return "\(truth.news[item].eventID) came back to another partition than it was taken from"
            }
        case .heldDeleted(let items, let unread, let isAttended):
            for item in items { vanished[item] = alive }
            if alive.isEmpty { mayBeLost.formUnion(items) }
            mayBeLost.formUnion(unread)
            guard !isAttended, let (last, at) = recorded else { break }
            owesReport.formUnion(
                items.filter { item in
                    guard let (place, since) = places[item] else { return false }
                    return place.partition == last.partition && place.offset <= last.offset && since <= at
                })
        case .heldTruncated(let items, let unread):
            removed.formUnion(items)
            mayBeLost.formUnion(alive.isEmpty ? items : unread)
        case .heldLost: isReported = true
        case .restoredHeld(_, let item, let address):
            if let former = restored[item], isKnown(former.by, since: former.at, truth) {
                return "\(truth.news[item].eventID) was written to its lane again, and others knew that it was there"
            }
            restored[item] = (address, truth.now)
            returned.insert(item)
            if !owesReport.contains(item) { restoredBeyond.insert(item) }
        case .started(let address):
            alive.insert(address)
            mayBeLost.formUnion(removed)
        case .died(let address):
            alive.remove(address)
            diedAt[address] = truth.now
            mayBeLost.formUnion(removed)
            for (item, known) in vanished where known.contains(address) {
                vanished[item]?.remove(address)
                if known.count == 1 { mayBeLost.insert(item) }
            }
        case .over(isSettled: true, _):
            if owesReport.subtracting(returned).count <= restoredBeyond.count { owesReport = [] }
            for (line, items) in held {
                // It may have been replaced by a process that lost the partition before it could report the result.
                let rivals = items + onTopic[line, default: []]
                for item in items where !returned.contains(item) {
                    if isReported || !owesReport.contains(item), mayBeLost.contains(item) { continue }
                    if vanished[item] != nil || removed.contains(item), truth.places[item]?.isGone == true { continue }
                    guard !rivals.contains(where: { isReplaced(item, by: $0, truth) }) else { continue }
                    let end = owesReport.contains(item) ? "is lost, and nobody reports it" : "never came back"
                    return "\(truth.news[item].eventID) (~\(truth.news[item].serial)~) was held and \(end)"
                }
            }
        default: break
        }
        return nil
    }

    /// Time in which all processes read what one of them writes to the held topic.
    private static let spread = Duration.seconds(5)

    /// Returns true if every process has read that an event is on its lane again: the one that wrote it there lived long enough to tell
    /// the others, and nothing delayed or removed its record.
    private func isKnown(_ address: Address, since time: Instant, _ truth: GroundTruth) -> Bool {
        guard min(diedAt[address] ?? truth.now, truth.now) - time >= Self.spread else { return false }
        return !truth.scenario.faults.contains { fault in
            switch fault.kind {
            case .slowHeld, .recreatedHeld, .truncatedHeld, .freeze: break
            case .unavailable(let partition) where partition.topic == Setting.held: break
            default: return false
            }
            let range = Scenario.start + fault.at...Scenario.start + fault.end + .seconds(30)
            return range.overlaps(time...truth.now)
        }
    }

    private func isReplaced(_ item: Int, by other: Int, _ truth: GroundTruth) -> Bool {
        guard item != other else { return false }
        if let version = truth.news[item].version, let newer = truth.news[other].version, version != newer {
            return newer > version
        }
        guard let place = truth.places[item], let later = truth.places[other] else { return true }
        // Of events published at the same time, the one that reached the held topic later took the place.
        if later.publishedAt == place.publishedAt, let own = places[item], let next = places[other] {
            // Offsets begin again on a topic that was created again.
            return (next.since, next.place.offset) > (own.since, own.place.offset)
        }
        return later.publishedAt > place.publishedAt || returned.contains(other)
    }
}
