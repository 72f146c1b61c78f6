import KafkaModel
import NewsModel

/// How much of what is due may return now, so that live news, which stands behind it on the same partition, is read soon; what was
/// read takes turns.
///
/// What has returned and is not settled yet is no more than the engines may send in a second. As that is counted, not timed, it
/// holds too when the hub is slower than the rate; and a second is longer than the way there and back, so all of the rate is used.
struct HeldPace: Sendable {
    private var shards: [ShardID: Shard] = [:]
    private var unsettled = 0
    /// When something last returned or was settled.
    private var movedAt = Instant.distantPast

    private struct Shard: Sendable {
        var settled = 0
        var perSecond: Int?
    }

    /// Without a rate.
    static let unpaced = 500
    /// After so long without any movement, all that is not settled is taken for another's: its partition has moved to another
    /// process, or its lane is stopped. Then so much more returns, as slowly as that.
    static let patience = Duration.seconds(10)

    private var limit: Int {
        guard !shards.isEmpty else { return Self.unpaced }
        let sum = shards.values.reduce(0) { sum, shard in
            let (next, isTooLarge) = sum.addingReportingOverflow(shard.perSecond ?? Self.unpaced)
            return isTooLarge ? Int.max : next
        }
        return max(sum, 1)
    }

    /// Returns for which there is room: none before a quarter of all can return, as one pass serves many.
    mutating func room(at now: Instant) -> Int {
        if unsettled > 0, now >= movedAt + Self.patience { unsettled = 0 }
        let room = limit - unsettled
        return room >= max(limit / 4, 1) ? room : 0
    }

    /// Until when there is no room, if nothing is settled; `nil` if there is some.
    var fullUntil: Instant? { limit - unsettled >= max(limit / 4, 1) ? nil : movedAt + Self.patience }

    mutating func returned(_ count: Int, at now: Instant) {
        guard count > 0 else { return }
        unsettled += count
        movedAt = now
    }

    /// One that was to return did not.
    mutating func tookBack() { unsettled = max(unsettled - 1, 0) }

    /// - Parameter count: since the shard's start.
    mutating func settled(_ count: Int, by shard: ShardID, perSecond: Int?, at now: Instant) {
        let before = shards[shard]?.settled ?? 0
        shards[shard] = Shard(settled: count, perSecond: perSecond)
        guard count > before else { return }
        // Others' returns may have been settled here.
        unsettled = max(unsettled - (count - before), 0)
        movedAt = now
    }
}
