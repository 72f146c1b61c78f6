import CRdkafka
public import KafkaModel
public import NewsModel

/// Reads single records at known places of a topic, in one pass over each partition. Partitions are read concurrently.
///
/// Its calls block. Use it from one thread at a time.
public final class PlaceReader {
    public enum Event: Sendable {
        case found(partition: Int32, SourceRecord)
        /// Compaction has dropped the record, or the topic was recreated.
        case missing(partition: Int32, offset: Int64)
    }

    private let topic: String
    private let consumer: AssignedConsumer
    private var walks: [Int32: PlaceWalk] = [:]
    /// Partitions that are being read. The others are done or wait for the next round.
    private var active: Set<Int32> = []

    /// - Parameter partitions: the topic's number of partitions, by which the memory for reading is divided.
    public init(settings: KafkaSettings, topic: String, partitions: Int) throws(KafkaFailure) {
        self.topic = topic
        consumer = try AssignedConsumer(settings, group: settings.group, partitions: partitions, budget: 4 << 20)
    }

    /// Begins a pass. Unread places of the last pass are dropped.
    ///
    /// - Parameter places: the offsets in each partition, ascending.
    public func begin(_ places: [Int32: [Int64]]) throws(KafkaFailure) {
        walks = places.filter { !$0.value.isEmpty }.mapValues { PlaceWalk($0) }
        try beginRound()
    }

    public var isDone: Bool { walks.isEmpty }

    /// The places that were not read yet.
    public var left: [Int32: [Int64]] { walks.mapValues { Array($0.left) } }

    private func beginRound() throws(KafkaFailure) {
        active = Set(walks.keys)
        try consumer.assign(
            active.sorted().compactMap { partition in
                let place = TopicPartition(topic: topic, partition: partition)
                return walks[partition]?.begin().map { PartitionOffset(place, $0) }
            })
    }

    /// Returns the events within the timeout, from at most 256 records read.
    public func next(timeout: Duration) throws(KafkaFailure) -> [Event] {
        if isDone { return [] }
        if active.isEmpty { try beginRound() }
        var events: [Event] = []
        var left: [TopicPartition] = []
        let wait = Int32(clamping: timeout.nanoseconds / 1_000_000)
        _ = consumer.read(milliseconds: wait, isExpecting: true) { place, message in
            let partition = place.partition
            guard active.contains(partition), var walk = walks[partition] else { return }
            var next = PlaceWalk.Next.done
            switch message.pointee.err {
            case RD_KAFKA_RESP_ERR_NO_ERROR:
                let step = walk.reach(message.pointee.offset)
                for offset in step.missing { events.append(.missing(partition: partition, offset: offset)) }
                if step.isWanted { events.append(.found(partition: partition, SourceRecord(message))) }
                next = step.next
            case RD_KAFKA_RESP_ERR__PARTITION_EOF:
                for offset in walk.left { events.append(.missing(partition: partition, offset: offset)) }
            // The caller has a timeout and retries.
            default: return
            }
            walks[partition] = next == .done ? nil : walk
            // Partitions are never paused here, because librdkafka keeps a pause beyond the next `assign`.
            if next != .here {
                active.remove(partition)
                left.append(place)
            }
        }
        // Stops fetching until the next pass.
        if isDone { try consumer.assign([]) } else if !left.isEmpty { try consumer.unassign(left) }
        return events
    }
}

/// A pass through one partition that visits the wanted offsets.
struct PlaceWalk: Sendable {
    private let wanted: [Int64]
    private var index = 0
    /// The first offset that its round reads.
    private var start: Int64 = 0

    /// Reading through up to this many records is faster than seeking.
    static let jumpMin: Int64 = 4_096

    enum Next { case here, jump, done }

    init(_ wanted: [Int64]) { self.wanted = wanted }

    var left: ArraySlice<Int64> { wanted[index...] }

    /// Begins a round.
    ///
    /// - Returns: the offset at which it begins.
    mutating func begin() -> Int64? {
        start = left.first ?? start
        return left.first
    }

    /// Handles the record at this offset. One before the round's start shows that the topic was recreated and ends before it:
    /// librdkafka then reads the partition from its first record.
    mutating func reach(_ offset: Int64) -> (missing: ArraySlice<Int64>, isWanted: Bool, next: Next) {
        let first = index
        if offset < start {
            index = wanted.count
            return (wanted[first...], false, .done)
        }
        while index < wanted.count, wanted[index] < offset { index += 1 }
        let missing = wanted[first..<index]
        let isWanted = index < wanted.count && wanted[index] == offset
        if isWanted { index += 1 }
        guard index < wanted.count else { return (missing, isWanted, .done) }
        return (missing, isWanted, wanted[index] - offset > Self.jumpMin ? .jump : .here)
    }
}
