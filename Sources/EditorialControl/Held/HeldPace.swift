import KafkaModel
import NewsModel

/// Limits how many due events may return at once, so that live news behind them on the same partition is read soon. Events that
/// were read take turns.
/// The returned events that are not settled stay within what the engines may send in a second. They are counted rather than
/// timed, so the limit also holds for a slow hub. A second exceeds the round trip, so the full rate is used.
struct HeldPace: Sendable {
    private var shards: [ShardID: Shard] = [:]
    private var unsettled = 0
    /// Time at which an event last returned or was settled.
    private var movedAt = Instant.distantPast

    private struct Shard: Sendable {
        var settled = 0
        var perSecond: Int?
    }

    /// Returns a second for a shard without a rate.
    static let unpaced = 500
    /// Time without progress after which unsettled events are no longer counted, so that more may return. Their partition
    /// has moved to another process, or their lane is stopped.
    static let patience = Duration.seconds(10)

    private var limit: Int {
        guard !shards.isEmpty else { return Self.unpaced }
        let sum = shards.values.reduce(0) { sum, shard in
            let (next, isTooLarge) = sum.addingReportingOverflow(shard.perSecond ?? Self.unpaced)
            return isTooLarge ? Int.max : next
        }
        return max(sum, 1)
    }

    /// The number of events that may return now. 0 until a quarter of the limit is free, because one pass serves many events.
    mutating func room(at now: Instant) -> Int {
        if unsettled > 0, now >= movedAt + Self.patience { unsettled = 0 }
        let room = limit - unsettled
        return room >= max(limit / 4, 1) ? room : 0
    }

    /// Time until which there is no room unless an event is settled; `nil` if there is room.
    var fullUntil: Instant? { limit - unsettled >= max(limit / 4, 1) ? nil : movedAt + Self.patience }

    mutating func returned(_ count: Int, at now: Instant) {
        guard count > 0 else { return }
        unsettled += count
        movedAt = now
    }

    /// Uncounts an event that failed to return.
    mutating func tookBack() { unsettled = max(unsettled - 1, 0) }

    /// - Parameter count: the number of settled events since the shard's start.
    mutating func settled(_ count: Int, by shard: ShardID, perSecond: Int?, at now: Instant) {
        let before = shards[shard]?.settled ?? 0
        shards[shard] = Shard(settled: count, perSecond: perSecond)
        guard count > before else { return }
        // Events returned by other processes may have been settled here.
        unsettled = max(unsettled - (count - before), 0)
        movedAt = now
    }
}
