import NewsModel

/// Compares how far each partition of the held topic was read with its end when this process took over partitions of lanes.
///
/// Events returned by a former owner are deleted before that end. A process that has read less would return them a second time.
struct HeldReach: Sendable {
    /// Number of requests to refresh the ends.
    private(set) var look = 0
    /// Time since which records before the refreshed ends are unread, by the monotonic clock; `nil` if all were read.
    private(set) var behindSince: Instant?
    private var isThere = false
    private var partitions: [Int32: Partition] = [:]
    /// Partitions whose ends the brokers did not report.
    private var unreported: Set<Int32> = []
    private var askAt: Instant?

    private struct Partition: Sendable {
        /// The next offset to read.
        var position: Int64 = 0
        var end: Int64?
        /// The refresh that reported the end.
        var look = 0
        /// The last refresh whose end was reached.
        var reached = 0
    }

    /// Time after which unreached or unknown ends are requested again, because a topic may be truncated.
    static let patience = Duration.seconds(2)

    /// Starts reading the topic at its beginning.
    mutating func begin(at now: Instant) {
        self = HeldReach(look: look, behindSince: behindSince)
        isThere = true
        refresh(at: now)
    }

    init() {}

    private init(look: Int, behindSince: Instant?) {
        self.look = look
        self.behindSince = behindSince
    }

    /// Handles a topic that cannot be read.
    mutating func lose() { self = HeldReach(look: look, behindSince: nil) }

    /// Refreshes the ends. They are measured from this moment.
    mutating func refresh(at now: Instant) {
        look += 1
        guard isThere else { return }
        askAt = .distantPast
        behindSince = behindSince ?? now
    }

    /// - Returns: the refresh to request the ends for; `nil` if no request is due.
    mutating func ask(at now: Instant) -> Int? {
        guard let due = askAt, due <= now else { return nil }
        askAt = now + Self.patience
        return look
    }

    /// Time of the next request.
    var wakeAt: Instant? { askAt }

    /// Handles the brokers' answer. An answer to an earlier refresh is ignored.
    ///
    /// - Returns: `true` if more counts as read.
    mutating func answer(_ ends: [Int32: Int64], unreported: [Int32], to look: Int) -> Bool {
        guard isThere, look == self.look else { return false }
        self.unreported = Set(unreported)
        var hasMore = false
        for (partition, end) in ends {
            var state = partitions[partition] ?? Partition()
            (state.end, state.look) = (end, look)
            partitions[partition] = state
            if advance(partition) { hasMore = true }
        }
        settle()
        return hasMore
    }

    /// Notes that everything before an offset was read.
    ///
    /// - Returns: `true` if more counts as read.
    mutating func read(_ partition: Int32, to offset: Int64, at now: Instant) -> Bool {
        guard isThere else { return false }
        if partitions[partition] == nil {
            // The partition was added to the topic, or its end is still unknown.
            askAt = .distantPast
            behindSince = behindSince ?? now
        }
        var state = partitions[partition] ?? Partition()
        state.position = max(state.position, offset)
        partitions[partition] = state
        guard advance(partition) else { return false }
        settle()
        return true
    }

    /// Handles a topic that was deleted and recreated.
    mutating func restart(_ partition: Int32, at now: Instant) {
        partitions[partition] = Partition()
        refresh(at: now)
    }

    /// Returns true if the end reported for this refresh, or for a later one, was reached.
    func hasReached(_ look: Int, in partition: Int32) -> Bool {
        partitions[partition].map { $0.reached >= look } ?? false
    }

    /// Returns true if the partition was read to its end once.
    func isComplete(_ partition: Int32) -> Bool { hasReached(1, in: partition) }

    /// Returns true if the topic was read to its end and does not have the partition.
    func hasLost(_ partition: Int32) -> Bool { isCaughtUp && partitions[partition] == nil }

    /// True if everything before the refreshed ends was read.
    var isCaughtUp: Bool { isThere && behindSince == nil }

    /// Returns the offset up to which a partition was read.
    func position(in partition: Int32) -> Int64 { partitions[partition]?.position ?? 0 }

    /// Partitions with unread records before the refreshed ends, or with unknown ends.
    var behind: [Int32] {
        (unreported.union(partitions.keys.filter { !hasReached(look, in: $0) })).sorted()
    }

    private mutating func advance(_ partition: Int32) -> Bool {
        guard let state = partitions[partition], let end = state.end, state.position >= end,
            state.look > state.reached
        else { return false }
        partitions[partition]?.reached = state.look
        return true
    }

    private mutating func settle() {
        guard unreported.isEmpty, partitions.values.allSatisfy({ $0.reached >= look }) else { return }
        (askAt, behindSince) = (nil, nil)
    }
}
