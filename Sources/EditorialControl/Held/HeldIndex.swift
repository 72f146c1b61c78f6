import KafkaModel
import NewsModel

/// The held events in compact form: 48 bytes per event, and at most 12 to find it by story and to sort it by time.
struct HeldIndex: Sendable {
    /// Identifies an entry as long as it exists.
    typealias Slot = UInt32

    struct Entry: Sendable {
        /// A hash of the story. Among a million stories, a lookup finds a wrong one once in 10¹³ times.
        let story: UInt64
        private let packedPlace: UInt64
        /// The offset of the original on its source topic, and a part of its identity.
        private let packedOriginal: UInt64
        private var ownRelease: Instant
        let version: VersionRank
        fileprivate var rank = Rank.absent
        let source: UInt16
        var reason = ReturnReason.due
        var state = State.waiting

        enum State: UInt8, Sendable {
            /// Waiting for its time.
            case waiting
            /// Followed by `returned` or `waiting`.
            case returning
            /// Its tombstone is in flight.
            case returned
            /// The record is being written again. Followed by `waiting`.
            case rewriting
            /// The slot has no entry.
            case free
        }

        init(
            story: UInt64, place: HeldPlace, release: Instant, version: VersionRank, source: UInt16,
            original: HeldOriginal? = nil
        ) {
            self.story = story
            packedOriginal = original?.packed ?? .max
            packedPlace = UInt64(bitPattern: place.offset) << 16 | UInt64(UInt16(truncatingIfNeeded: place.partition))
            ownRelease = release
            self.version = version
            self.source = source
        }

        var place: HeldPlace { HeldPlace(Int32(packedPlace & 0xFFFF), Int64(packedPlace >> 16)) }

        /// `nil` if the original could not be recognized on its source topic.
        var original: HeldOriginal? { HeldOriginal(packed: packedOriginal) }

        /// Time of release, by the embargo's clock. An event requested back does not wait.
        var release: Instant { reason == .due ? ownRelease : .distantPast }

        /// Returns true for a newer version. If one has no version, the later event on the same source partition is newer.
        func isLater(than other: Entry) -> Bool {
            if let isNewer = version.isNewer(than: other.version) { return isNewer }
            guard version.isNone || other.version.isNone, source == other.source, let original,
                let former = other.original
            else { return false }
            return original.offset > former.offset
        }

        /// Returns true if one of the two is newer, or if both have the same version, so that one of them is enough.
        func hasOrder(with other: Entry) -> Bool {
            isLater(than: other) || other.isLater(than: self) || !version.isNone && version.isCovered(by: other.version)
        }

        /// Sorts by time, then by arrival.
        fileprivate static func < (one: Entry, other: Entry) -> Bool {
            one.release != other.release ? one.release < other.release : one.packedPlace < other.packedPlace
        }

        /// Kafka's offsets and partitions stay far below these bounds.
        static func hasRoom(for place: HeldPlace) -> Bool {
            (0..<1 << 48).contains(place.offset) && (0..<1 << 16).contains(place.partition)
        }
    }

    private var entries: [Entry] = []
    private var free: [Slot] = []
    /// Open addressing with linear probing. A story held in several partitions has several entries.
    private var table: [Slot] = Array(repeating: Self.none, count: 16)
    /// The queue of each lane, by its index.
    private var queues: [Queue] = []
    /// Original offsets of rewritten records. Rewrites are rare.
    private var origins: [Slot: Int64] = [:]
    /// The versions that entries without a version have replaced. Few stories mix both.
    private var replaced: [Slot: VersionRank] = [:]
    private(set) var count = 0

    private static let none = Slot.max

    static func hash(_ story: String) -> UInt64 {
        var fingerprint = Fingerprint()
        fingerprint.mix(story)
        return fingerprint.value
    }

    subscript(slot: Slot) -> Entry { entries[Int(slot)] }

    /// Every entry, in memory order.
    var slots: [Slot] { entries.indices.lazy.filter { entries[$0].state != .free }.map { Slot($0) } }

    func slots(in partition: Int32) -> [Slot] { slots.filter { self[$0].place.partition == partition } }

    func slots(of story: UInt64) -> [Slot] {
        var found: [Slot] = []
        var bucket = home(of: story)
        while table[bucket] != Self.none {
            if self[table[bucket]].story == story { found.append(table[bucket]) }
            bucket = next(bucket)
        }
        return found
    }

    func find(_ story: UInt64, _ partition: Int32) -> Slot? {
        slots(of: story).first { self[$0].place.partition == partition }
    }

    /// The offset at which the record was first written.
    func since(_ slot: Slot) -> Int64 { origins[slot] ?? self[slot].place.offset }

    /// The version of the entry, or the one that it has replaced: an older version that arrives afterwards is still older.
    func version(_ slot: Slot) -> VersionRank { replaced[slot] ?? self[slot].version }

    /// Compares versions. Versions that cannot be compared are ordered by arrival.
    func isNewer(_ entry: Entry, since: Int64?, than slot: Slot) -> Bool {
        entry.version.isNewer(than: version(slot)) ?? ((since ?? entry.place.offset) >= self.since(slot))
    }

    // MARK: Changes

    mutating func insert(_ entry: Entry, since: Int64?) -> Slot {
        let slot: Slot
        if let reused = free.popLast() {
            slot = reused
            entries[Int(slot)] = entry
        } else {
            slot = Slot(entries.count)
            entries.append(entry)
        }
        // The entry may have been queued in another index.
        entries[Int(slot)].rank = .absent
        count += 1
        if count * 4 > table.count * 3 { rehash(table.count * 2) } else { put(slot) }
        origins[slot] = since
        return slot
    }

    /// - Parameter entry: an entry of the same story and partition.
    mutating func replace(_ slot: Slot, by entry: Entry, since: Int64?) {
        dequeue(slot)
        let former = version(slot)
        replaced[slot] = entry.version.isNone && !former.isNone ? former : nil
        entries[Int(slot)] = entry
        origins[slot] = since
    }

    mutating func remove(_ slot: Slot) {
        dequeue(slot)
        unlink(slot)
        (origins[slot], replaced[slot]) = (nil, nil)
        entries[Int(slot)].state = .free
        free.append(slot)
        count -= 1
    }

    mutating func removeAll(in partition: Int32) {
        for slot in slots(in: partition) { remove(slot) }
    }

    /// Changes the reason or state. The entry must be queued again afterwards.
    mutating func change(_ slot: Slot, _ body: (inout Entry) -> Void) {
        dequeue(slot)
        body(&entries[Int(slot)])
    }

    // MARK: The order of time

    /// Number of queued entries.
    var queued: Int { queues.reduce(0) { $0 + $1.slots.count } }

    /// The lanes with a queue, the most urgent one first.
    var lanes: [LaneID] { queues.indices.map { LaneID($0) } }

    /// The queued entry with the earliest release.
    var first: (slot: Slot, release: Instant)? { lanes.compactMap { first(in: $0) }.min { $0.release < $1.release } }

    /// The lane's queued entry with the earliest release.
    func first(in lane: LaneID) -> (slot: Slot, release: Instant)? {
        queues[lane.index].slots.first.map { ($0, self[$0].release) }
    }

    /// Adds an entry to the queue of its lane.
    mutating func enqueue(_ slot: Slot, in lane: LaneID) {
        let index = min(lane.index, Rank.queuesMax - 1)
        if let former = self[slot].rank.queue {
            if former == index { return }
            dequeue(slot)
        }
        while queues.count <= index { queues.append(Queue(number: queues.count)) }
        queues[index].insert(slot, &entries)
    }

    /// Removes an entry from its queue, if it is in one.
    mutating func dequeue(_ slot: Slot) {
        if let queue = self[slot].rank.queue { queues[queue].remove(slot, &entries) }
    }

    /// The place of an entry: its queue in 4 bits, and its rank there.
    fileprivate struct Rank: Sendable {
        private var bits: UInt32

        static let absent = Rank(bits: .max)
        static let queuesMax = 15
        private static let rankBits: UInt32 = 28

        private init(bits: UInt32) { self.bits = bits }

        init(queue: Int, rank: Int) {
            bits = UInt32(truncatingIfNeeded: queue) << Self.rankBits | UInt32(truncatingIfNeeded: rank)
        }

        var queue: Int? { bits == .max ? nil : Int(bits >> Self.rankBits) }
        var rank: Int { Int(bits & (1 << Self.rankBits - 1)) }
    }

    /// A binary heap whose members know their ranks.
    private struct Queue: Sendable {
        let number: Int
        var slots: [Slot] = []

        mutating func insert(_ slot: Slot, _ entries: inout [Entry]) {
            slots.append(slot)
            rise(slots.count - 1, &entries)
        }

        mutating func remove(_ slot: Slot, _ entries: inout [Entry]) {
            let rank = entries[Int(slot)].rank.rank
            entries[Int(slot)].rank = .absent
            let last = slots.removeLast()
            guard last != slot else { return }
            put(last, rank, &entries)
            sink(rank, &entries)
            rise(entries[Int(last)].rank.rank, &entries)
        }

        private mutating func rise(_ start: Int, _ entries: inout [Entry]) {
            let slot = slots[start]
            var rank = start
            while rank > 0, case let above = (rank - 1) / 2, entries[Int(slot)] < entries[Int(slots[above])] {
                put(slots[above], rank, &entries)
                rank = above
            }
            put(slot, rank, &entries)
        }

        private mutating func sink(_ start: Int, _ entries: inout [Entry]) {
            let slot = slots[start]
            var rank = start
            while case var below = rank * 2 + 1, below < slots.count {
                if below + 1 < slots.count, entries[Int(slots[below + 1])] < entries[Int(slots[below])] { below += 1 }
                guard entries[Int(slots[below])] < entries[Int(slot)] else { break }
                put(slots[below], rank, &entries)
                rank = below
            }
            put(slot, rank, &entries)
        }

        private mutating func put(_ slot: Slot, _ rank: Int, _ entries: inout [Entry]) {
            slots[rank] = slot
            entries[Int(slot)].rank = Rank(queue: number, rank: rank)
        }
    }

    // MARK: The table

    private func home(of story: UInt64) -> Int { Int(truncatingIfNeeded: story) & (table.count - 1) }
    private func next(_ bucket: Int) -> Int { (bucket + 1) & (table.count - 1) }

    private mutating func put(_ slot: Slot) {
        var bucket = home(of: self[slot].story)
        while table[bucket] != Self.none { bucket = next(bucket) }
        table[bucket] = slot
    }

    private mutating func rehash(_ size: Int) {
        table = Array(repeating: Self.none, count: size)
        for slot in slots { put(slot) }
    }

    /// Removes a slot and closes the gap, so that probing needs no markers of removed slots.
    private mutating func unlink(_ slot: Slot) {
        var gap = home(of: self[slot].story)
        while table[gap] != slot { gap = next(gap) }
        var bucket = next(gap)
        while table[bucket] != Self.none {
            let distance = (bucket - home(of: self[table[bucket]].story)) & (table.count - 1)
            if distance >= (bucket - gap) & (table.count - 1) {
                table[gap] = table[bucket]
                gap = bucket
            }
            bucket = next(bucket)
        }
        table[gap] = Self.none
    }
}

/// A version in eight bytes, because many events are held. Ranks compare like versions: numbers, then dates and times, then other
/// texts. Of these, texts with the same first bytes cannot be compared.
struct VersionRank: Sendable {
    private let rank: UInt64

    private static let times: UInt64 = 1 << 63
    private static let texts: UInt64 = 3 << 62
    /// Bits of a text's hash, behind its first five bytes.
    private static let hashBits: UInt64 = 22

    init(_ version: NewsEvent.Version?) {
        guard let version else {
            rank = 0
            return
        }
        let text = version.text
        if let number = Int64(text) {
            rank = Self.rank(number)
        } else if let number = version.number {
            let isFraction = number > 0 && number < Double(Self.exact)
            let integer = Int64(exactly: number.rounded()) ?? (number > 0 ? .max : 0)
            rank = isFraction ? number.bitPattern + 1 : Self.rank(integer)
        } else if let time = version.time {
            rank = Self.times | UInt64(Swift.min(Swift.max(time.nanoseconds, 0), 1 << 62 - 1))
        } else {
            let first = text.utf8.prefix(5).reduce(into: (bytes: 0 as UInt64, shift: 32 as UInt64)) {
                $0.bytes |= UInt64($1) << $0.shift
                $0.shift = $0.shift &- 8
            }
            rank = Self.texts | first.bytes << Self.hashBits | HeldIndex.hash(text) % (1 << Self.hashBits)
        }
    }

    /// Integers up to this one are floating-point numbers.
    private static let exact: Int64 = 1 << 53

    /// The bits of positive floating-point numbers compare like the numbers. Larger integers follow.
    private static func rank(_ number: Int64) -> UInt64 {
        if number <= exact { return Double(Swift.max(number, 0)).bitPattern + 1 }
        return Swift.min(Double(exact).bitPattern + UInt64(number - exact) + 1, times - 1)
    }

    var isNone: Bool { rank == 0 }

    /// - Returns: `nil` if the versions cannot be compared.
    func isNewer(than other: VersionRank) -> Bool? {
        if rank == 0 || other.rank == 0 || rank == other.rank { return nil }
        let areTexts = rank >= Self.texts && other.rank >= Self.texts
        return areTexts && rank >> Self.hashBits == other.rank >> Self.hashBits ? nil : rank > other.rank
    }

    /// Returns true if this version is certainly not newer than the other one.
    func isCovered(by other: VersionRank) -> Bool { isNewer(than: other).map(!) ?? (rank == other.rank) }
}

extension HeldPart {
    func contains(_ entry: HeldIndex.Entry) -> Bool {
        switch self {
        case .all: true
        case .older(_, let originals) where entry.original.map(originals.contains) ?? entry.version.isNone: true
        case .older where entry.version.isNone: false
        case .older(let last, _): last.map { entry.version.isCovered(by: VersionRank($0)) } ?? false
        }
    }
}
