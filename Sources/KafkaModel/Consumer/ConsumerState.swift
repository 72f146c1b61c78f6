public import NewsModel

/// All decisions of one lane's group member, as a plain value: what to read and how much, when to release partitions,
/// which commits may go out. Its owner talks to the broker and carries the decisions out.
///
/// The client never pauses a partition: the owner does not read a held one, or one without credit.
public struct ConsumerState: Sendable {
    public let lane: LaneID
    public private(set) var generation = Generation.none
    public private(set) var phase = Phase.unassigned
    /// The partitions that are ours, in ascending order; empty unless assigned.
    public internal(set) var slots: [Slot] = []
    /// The notes of the partitions that were revoked last: commits go out while they are drained.
    private(set) var drainedNotes: [TopicPartition: String] = [:]
    private var shards: [ShardCredit]
    /// The partitions whose reading failed, until something of them is read again. Kept for partitions that are not ours now:
    /// librdkafka does not report a refusal again after a new assignment.
    var failures: [TopicPartition: KafkaFailure] = [:]
    /// Checks of skipped offsets that were unanswered when their partitions were revoked. The next owner begins behind them.
    var uncheckedGaps: [RemovalCheck] = []
    /// The longest time a revoke waits for the shards.
    private let patience: Duration

    public enum Phase: Sendable, Hashable {
        /// No partitions are assigned. Follows the start and `draining`; followed by `assigned`.
        case unassigned
        case assigned
        /// Revoked; the shards finish work in flight. Followed by `unassigned`.
        case draining(waiting: Set<ShardID>, until: Instant)
    }

    /// One partition that is ours.
    public struct Slot: Sendable {
        public let partition: TopicPartition
        let shard: ShardID
        var isPaused = true
        /// Its offsets start again; it is not read until the former incarnation is finished.
        var hasRestarted = false
        /// The next offset to read: one past the newest offset handed out, or the reported end; `nil` before the first.
        var next: Int64?
        var watch = IncarnationWatch()
        /// The group's committed offset, where reading begins; `nil` without one, and for a new incarnation.
        var committed: Int64?
        /// No record of this incarnation follows below this offset. If the committed offset no longer exists, the client begins at the
        /// first one that does.
        var expected: Int64? { next ?? committed }
        var skipped = SkippedOffsets()
        /// The approximate size of a record here: the mean of the last batch.
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
        /// The shard's partitions, as indices of `slots`.
        var slots: [Int] = []
        var next = 0
    }

    /// An item of a partition's queue.
    public enum Reading: Sendable {
        case records([SourceRecord])
        /// No record exists at the offset.
        case end(offset: Int64)
        case failed(KafkaFailure)
    }

    /// - Parameter patience: the longest time a revoke waits for the shards before it releases the partitions.
    public init(lane: LaneID, shards: Int, patience: Duration) {
        self.lane = lane
        self.patience = patience
        self.shards = Array(repeating: ShardCredit(), count: max(shards, 1))
    }

    // MARK: The group

    /// The group assigned these partitions; all others are gone. They are read from the group's committed offsets, else
    /// from their beginning.
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

    /// The group revokes the partitions.
    ///
    /// - Parameter lost: others may own them already, so they are released at once.
    /// - Returns: `true` to release them now; otherwise `release` or `expired` reports it later.
    public mutating func revoked(lost: Bool, at now: Instant, _ events: inout ShardEvents) -> Bool {
        guard case .assigned = phase else { return true }
        events.addForAll { .revoked(lane, generation, partitions(of: $0), lost: lost) }
        let hadNone = slots.isEmpty
        for slot in slots { drainedNotes[slot.partition] = slot.watch.note }
        keepUncheckedGaps()
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
    /// - Returns: `true` to release the partitions now, because all shards are done.
    public mutating func release(_ generation: Generation, shard: ShardID) -> Bool {
        guard generation == self.generation, case .draining(var waiting, let until) = phase else { return false }
        waiting.remove(shard)
        phase = waiting.isEmpty ? .unassigned : .draining(waiting: waiting, until: until)
        return waiting.isEmpty
    }

    /// - Returns: `true` to release the partitions now although some shard is not done.
    public mutating func expired(at now: Instant) -> Bool {
        guard case .draining(_, let until) = phase, until <= now else { return false }
        phase = .unassigned
        return true
    }

    /// Stops waiting for the shards.
    ///
    /// - Returns: `true` if a revoke was waiting.
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

    public mutating func pause(_ partition: TopicPartition, _ generation: Generation) {
        guard let slot = slot(partition, generation) else { return }
        slots[slot].isPaused = true
    }

    public mutating func resume(_ partition: TopicPartition, _ generation: Generation) {
        guard let slot = slot(partition, generation) else { return }
        slots[slot].isPaused = false
    }

    /// - Returns: `true` to read the partition from its beginning, once resumed.
    public mutating func rewind(_ partition: TopicPartition, _ generation: Generation) -> Bool {
        guard let slot = slot(partition, generation), slots[slot].hasRestarted else { return false }
        slots[slot].hasRestarted = false
        slots[slot].isPaused = true
        slots[slot].next = nil
        var watch = IncarnationWatch()
        watch.number = slots[slot].watch.number + 1
        watch.anchor = .none
        watch.isReadWhole = true
        slots[slot].watch = watch
        slots[slot].committed = nil
        slots[slot].skipped = SkippedOffsets()
        return true
    }

    // MARK: Reading

    /// One turn: every shard gets one batch from each of its partitions that is not held, within its credit.
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
                if slots[slot].isPaused || slots[slot].hasRestarted || slots[slot].watch.isUnverified { continue }
                let fitting = max(1, shards[shard].bytes / slots[slot].recordSize)
                let limit = min(shards[shard].records, fitting, batch)
                if hand(take(slot, limit), of: slot, &events) >= limit { hasMore = true }
            }
            if count > 0 { shards[shard].next = (shards[shard].next + 1) % count }
        }
        return hasMore
    }

    /// Our partitions whose reading fails.
    public var unreadable: [TopicPartition: KafkaFailure] {
        if failures.isEmpty { return [:] }
        return failures.filter { failed in slots.contains { $0.partition == failed.key } }
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
        for reading in readings where !slots[slot].hasRestarted {
            if !failures.isEmpty { failures[partition] = nil }
            switch reading {
            case .failed(let failure): failures[partition] = failure
            case .records(let batch):
                guard let first = batch.first, let last = batch.last else { continue }
                // Offsets only rise in one incarnation. Records of the new one are read again after the rewind.
                if let expected = slots[slot].expected, first.offset < expected {
                    restart(slot, &events)
                    continue
                }
                if slots[slot].next == nil { slots[slot].watch.begin(at: first.offset, first) }
                slots[slot].skipped.add(from: slots[slot].expected, to: first.offset)
                slots[slot].skipped.add(within: batch)
                slots[slot].next = last.offset < .max ? last.offset + 1 : .max
                records += batch.count
                slots[slot].watch.note(first)
                bytes += batch.reduce(0) { $0 + $1.byteCount }
                events.add(.records(lane, generation, partition, batch), for: slots[slot].shard)
            case .end(let offset):
                ends += 1
                if let expected = slots[slot].expected, offset < expected {
                    restart(slot, &events)
                    continue
                }
                if slots[slot].next == nil { slots[slot].watch.begin(at: offset) }
                slots[slot].skipped.add(from: slots[slot].expected, to: offset)
                slots[slot].next = offset
                events.add(.endReached(lane, generation, partition, offset: offset), for: slots[slot].shard)
            }
        }
        if records > 0 { slots[slot].recordSize = max(1, bytes / records) }
        shards[slots[slot].shard.index].records -= records
        shards[slots[slot].shard.index].bytes -= bytes
        return records + ends
    }

    /// Signals a recreated topic that was detected otherwise than by its offsets.
    public mutating func restarted(_ partition: TopicPartition, _ generation: Generation, _ events: inout ShardEvents) {
        guard let slot = slot(partition, generation), !slots[slot].hasRestarted else { return }
        restart(slot, &events)
    }

    private mutating func restart(_ slot: Int, _ events: inout ShardEvents) {
        slots[slot].hasRestarted = true
        let incarnation = slots[slot].watch.number + 1
        events.add(
            .restarted(lane, generation, slots[slot].partition, incarnation: incarnation), for: slots[slot].shard)
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
