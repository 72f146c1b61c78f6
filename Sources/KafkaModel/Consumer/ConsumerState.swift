public import NewsModel

/// Every decision of one lane's member of its consumer group, as a plain value: which partitions are read, how much of them,
/// when they are given up, which commits may go out. Its owner talks to the broker and carries the decisions out.
///
/// Nothing is ever paused: a partition that is held, or for which there is no credit, is simply not read.
public struct ConsumerState: Sendable {
    public let lane: LaneID
    public private(set) var generation = Generation.none
    public private(set) var phase = Phase.unassigned
    /// The partitions that are ours, in ascending order; empty unless assigned.
    public internal(set) var slots: [Slot] = []
    /// Of the partitions that were revoked last: commits go out while they are drained.
    private(set) var drainedNotes: [TopicPartition: String] = [:]
    private var shards: [ShardCredit]
    /// The longest time a revoke waits for the shards.
    private let patience: Duration

    public enum Phase: Sendable, Hashable {
        /// Nothing is ours. Follows the start and `draining`; next is `assigned`.
        case unassigned
        case assigned
        /// Revoked; the shards finish what is under way. Next is `unassigned`.
        case draining(waiting: Set<ShardID>, until: Instant)
    }

    /// One partition.
    public struct Slot: Sendable {
        public let partition: TopicPartition
        let shard: ShardID
        var isHeld = true
        /// Its offsets start again: nothing is read until the former incarnation is finished.
        var hasBegunAnew = false
        /// The next offset to read: one past the newest offset handed out, or the end that was reported; `nil` before the
        /// first.
        var next: Int64?
        var watch = IncarnationWatch()
        /// Approximate size of a record here: the mean of the last batch.
        var recordSize = 1024

        init(_ partition: TopicPartition, shard: ShardID) {
            self.partition = partition
            self.shard = shard
        }
    }

    /// The credit of one shard, and the place where its next turn begins.
    private struct ShardCredit: Sendable {
        var records = 0
        var bytes = 0
        /// Its partitions, as indices of `slots`.
        var slots: [Int] = []
        var next = 0
    }

    /// An item of a partition's queue.
    public enum Reading: Sendable {
        case records([SourceRecord])
        /// Nothing stood at the offset.
        case end(offset: Int64)
    }

    /// - Parameter patience: the longest time a revoke waits for the shards before the partitions are given up without them.
    public init(lane: LaneID, shards: Int, patience: Duration) {
        self.lane = lane
        self.patience = patience
        self.shards = Array(repeating: ShardCredit(), count: max(shards, 1))
    }

    // MARK: The group

    /// The group gave us these partitions, and nothing else is ours from now on. They are read from the group's committed
    /// offsets, else from their beginning.
    public mutating func assigned(_ partitions: [TopicPartition], _ events: inout ShardEvents) {
        generation = generation.next
        phase = .assigned
        drainedNotes = [:]
        slots = partitions.sorted().map { Slot($0, shard: ShardID(of: $0.partition, shards: shards.count)) }
        for index in shards.indices {
            shards[index].slots = slots.indices.filter { slots[$0].shard.index == index }
            shards[index].next = 0
        }
        events.addForAll { .assigned(lane, generation, self.partitions(of: $0)) }
    }

    /// The group takes the partitions back.
    ///
    /// - Parameter lost: others may own them already: they are given up at once.
    /// - Returns: `true` to give them up now; else `release` or `expired` will say so.
    public mutating func revoked(lost: Bool, at now: Instant, _ events: inout ShardEvents) -> Bool {
        guard case .assigned = phase else { return true }
        events.addForAll { .revoked(lane, generation, partitions(of: $0), lost: lost) }
        let hadNone = slots.isEmpty
        for slot in slots { drainedNotes[slot.partition] = slot.watch.known?.note }
        clearSlots()
        if lost || hadNone {
            phase = .unassigned
            return true
        }
        phase = .draining(waiting: Set(shards.indices.map(ShardID.init)), until: now + patience)
        return false
    }

    /// A shard is done with a revoked generation.
    ///
    /// - Returns: `true` to give the partitions up now: all shards are done.
    public mutating func release(_ generation: Generation, shard: ShardID) -> Bool {
        guard generation == self.generation, case .draining(var waiting, let until) = phase else { return false }
        waiting.remove(shard)
        phase = waiting.isEmpty ? .unassigned : .draining(waiting: waiting, until: until)
        return waiting.isEmpty
    }

    /// - Returns: `true` to give the partitions up now although some shard is not done.
    public mutating func expired(at now: Instant) -> Bool {
        guard case .draining(_, let until) = phase, until <= now else { return false }
        phase = .unassigned
        return true
    }

    /// Gives up waiting for the shards.
    ///
    /// - Returns: `true` if there was anything to give up.
    public mutating func abandon() -> Bool {
        guard case .draining = phase else { return false }
        phase = .unassigned
        return true
    }

    /// A commit of a generation may go out only while its partitions are ours.
    public func mayCommit(_ generation: Generation) -> Bool {
        guard generation == self.generation else { return false }
        switch phase {
        case .unassigned: return false
        case .assigned: return !slots.isEmpty
        case .draining: return true
        }
    }

    // MARK: Requests of the shards

    public mutating func grant(records: Int, bytes: Int, shard: ShardID) {
        guard shards.indices.contains(shard.index) else { return }
        shards[shard.index].records = shards[shard.index].records.saturating(adding: records)
        shards[shard.index].bytes = shards[shard.index].bytes.saturating(adding: bytes)
    }

    public mutating func hold(_ partition: TopicPartition, _ generation: Generation) {
        guard let slot = slot(partition, generation) else { return }
        slots[slot].isHeld = true
    }

    public mutating func resume(_ partition: TopicPartition, _ generation: Generation) {
        guard let slot = slot(partition, generation) else { return }
        slots[slot].isHeld = false
    }

    /// - Returns: `true` to read the partition from its beginning, once resumed.
    public mutating func rewind(_ partition: TopicPartition, _ generation: Generation) -> Bool {
        guard let slot = slot(partition, generation), slots[slot].hasBegunAnew else { return false }
        slots[slot].hasBegunAnew = false
        slots[slot].isHeld = true
        slots[slot].next = nil
        slots[slot].watch = IncarnationWatch()
        slots[slot].watch.anchor = .none
        slots[slot].watch.isReadWhole = true
        return true
    }

    // MARK: Reading

    /// One turn: every shard is given one batch from each of its partitions that is not held, as far as credit goes.
    ///
    /// - Parameter take: reads at most `limit` records (at least 1) of the slot's partition, without waiting.
    /// - Returns: `true` if more may be ready.
    public mutating func read(
        batch: Int, _ events: inout ShardEvents, take: (_ slot: Int, _ limit: Int) -> [Reading]
    ) -> Bool {
        var hasMore = false
        for shard in shards.indices where shards[shard].records > 0 && shards[shard].bytes > 0 {
            let count = shards[shard].slots.count
            for turn in 0..<count where shards[shard].records > 0 && shards[shard].bytes > 0 {
                let slot = shards[shard].slots[(shards[shard].next + turn) % count]
                if slots[slot].isHeld || slots[slot].hasBegunAnew { continue }
                let fitting = max(1, shards[shard].bytes / slots[slot].recordSize)
                let limit = min(shards[shard].records, fitting, batch)
                if hand(take(slot, limit), of: slot, &events) >= limit { hasMore = true }
            }
            if count > 0 { shards[shard].next = (shards[shard].next + 1) % count }
        }
        return hasMore
    }

    /// Hands out the records read of a partition.
    ///
    /// - Returns: the number of records and ends.
    @discardableResult
    public mutating func hand(_ readings: [Reading], of slot: Int, _ events: inout ShardEvents) -> Int {
        let partition = slots[slot].partition
        var records = 0
        var ends = 0
        var bytes = 0
        for reading in readings where !slots[slot].hasBegunAnew {
            switch reading {
            case .records(let batch):
                guard let first = batch.first, let last = batch.last else { continue }
                // Offsets only rise in one incarnation. Records of the new one are read again after the rewind.
                if let next = slots[slot].next, first.offset < next {
                    beginAnew(slot, &events)
                    continue
                }
                if slots[slot].next == nil { slots[slot].watch.begin(at: first.offset, first) }
                slots[slot].next = last.offset < .max ? last.offset + 1 : .max
                records += batch.count
                slots[slot].watch.note(first)
                bytes += batch.reduce(0) { $0 + $1.byteCount }
                events.add(.records(lane, generation, partition, batch), for: slots[slot].shard)
            case .end(let offset):
                ends += 1
                if let next = slots[slot].next, offset < next {
                    beginAnew(slot, &events)
                    continue
                }
                if slots[slot].next == nil { slots[slot].watch.begin(at: offset) }
                slots[slot].next = offset
                events.add(.endReached(lane, generation, partition, offset: offset), for: slots[slot].shard)
            }
        }
        if records > 0 { slots[slot].recordSize = max(1, bytes / records) }
        shards[slots[slot].shard.index].records -= records
        shards[slots[slot].shard.index].bytes -= bytes
        return records + ends
    }

    /// Something other than its offsets shows that the partition's topic was deleted and created again.
    public mutating func beganAnew(_ partition: TopicPartition, _ generation: Generation, _ events: inout ShardEvents) {
        guard let slot = slot(partition, generation), !slots[slot].hasBegunAnew else { return }
        beginAnew(slot, &events)
    }

    private mutating func beginAnew(_ slot: Int, _ events: inout ShardEvents) {
        slots[slot].hasBegunAnew = true
        events.add(.beganAnew(lane, generation, slots[slot].partition), for: slots[slot].shard)
    }

    // MARK: -

    /// The index of a partition that is ours in the given generation.
    public func slot(_ partition: TopicPartition, _ generation: Generation) -> Int? {
        guard generation == self.generation else { return nil }
        return slots.firstIndex { $0.partition == partition }
    }

    private func partitions(of shard: ShardID) -> [TopicPartition] {
        slots.filter { $0.shard == shard }.map(\.partition)
    }

    private mutating func clearSlots() {
        slots = []
        for index in shards.indices { shards[index].slots = [] }
    }
}

extension FixedWidthInteger {
    package func saturating(adding other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}
