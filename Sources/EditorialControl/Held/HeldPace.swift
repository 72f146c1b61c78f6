import KafkaModel
import NewsModel

/// Limits how many due events may return at once, so that live news behind them on the same partition is read soon. Events that
/// were read take turns.
/// The returned events that are not settled stay within what the engines may send in a second. They are counted rather than
/// timed, so the limit also holds for a slow hub. A second exceeds the round trip, so the full rate is used. The events of a lane
/// do not wait for those of less urgent lanes.
struct HeldPace: Sendable {
    private var shards: [ShardID: Shard] = [:]
    /// The returned events that are not settled, by lane.
    private var unsettled: [LaneID: Int] = [:]
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

    /// The number of events of a lane that may return now. 0 until a quarter of the limit is free, because one pass serves many
    /// events.
    mutating func room(for lane: LaneID, at now: Instant) -> Int {
        if !unsettled.isEmpty, now >= movedAt + Self.patience { unsettled = [:] }
        return isFull(for: lane) ? 0 : free(for: lane)
    }

    /// Time until which there is no room unless an event is settled; `nil` if there is room.
    func fullUntil(for lane: LaneID) -> Instant? { isFull(for: lane) ? movedAt + Self.patience : nil }

    private func isFull(for lane: LaneID) -> Bool { free(for: lane) < max(limit / 4, 1) }

    private func free(for lane: LaneID) -> Int {
        limit - unsettled.reduce(0) { $1.key <= lane ? $0 + $1.value : $0 }
    }

    mutating func returned(_ count: Int, to lane: LaneID, at now: Instant) {
        guard count > 0 else { return }
        unsettled[lane, default: 0] += count
        movedAt = now
    }

    /// Uncounts an event that failed to return.
    mutating func tookBack(from lane: LaneID) { settle(1, of: lane) }

    /// - Returns: the number of events that this lane did not have.
    @discardableResult
    private mutating func settle(_ count: Int, of lane: LaneID) -> Int {
        guard let waiting = unsettled[lane] else { return count }
        unsettled[lane] = waiting > count ? waiting - count : nil
        return max(count - waiting, 0)
    }

    /// - Parameter count: the number of settled events since the shard's start.
    mutating func settled(_ count: Int, by shard: ShardID, perSecond: Int?, at now: Instant) {
        let before = shards[shard]?.settled ?? 0
        shards[shard] = Shard(settled: count, perSecond: perSecond)
        guard count > before else { return }
        // Events returned by other processes may have been settled here. The engines send the most urgent ones first.
        var left = count - before
        for lane in unsettled.keys.sorted() { left = settle(left, of: lane) }
        movedAt = now
    }
}
