import NewsModel

/// How far each partition of the held topic is read, compared with its end as that was when partitions of the lanes became ours.
///
/// What a former owner has put back is erased before that end. Who has read less would put it back once more.
struct HeldReach: Sendable {
    /// Counts the times at which the ends were to be looked up anew.
    private(set) var look = 0
    /// Since when not everything is read that stood at the last look, by the monotonic clock; `nil` if it is.
    private(set) var behindSince: Instant?
    private var isThere = false
    private var partitions: [Int32: Partition] = [:]
    /// Partitions whose ends the brokers did not tell.
    private var untold: Set<Int32> = []
    private var askAt: Instant?

    private struct Partition: Sendable {
        /// The next offset.
        var position: Int64 = 0
        var end: Int64?
        /// That of its end.
        var look = 0
        /// The last look whose end was reached.
        var reached = 0
    }

    /// Ends that were not reached after so long, or could not be told, are looked up again: a topic may be cut back.
    static let patience = Duration.seconds(2)

    /// The topic is read from its beginning.
    mutating func begin(at now: Instant) {
        self = HeldReach(look: look, behindSince: behindSince)
        isThere = true
        lookAnew(at: now)
    }

    init() {}

    private init(look: Int, behindSince: Instant?) {
        self.look = look
        self.behindSince = behindSince
    }

    /// The topic cannot be read.
    mutating func lose() { self = HeldReach(look: look, behindSince: nil) }

    /// Its ends as they are from now on count.
    mutating func lookAnew(at now: Instant) {
        look += 1
        guard isThere else { return }
        askAt = .distantPast
        behindSince = behindSince ?? now
    }

    /// - Returns: the look for which the ends are to be asked for now.
    mutating func ask(at now: Instant) -> Int? {
        guard let due = askAt, due <= now else { return nil }
        askAt = now + Self.patience
        return look
    }

    /// When to ask.
    var wakeAt: Instant? { askAt }

    /// The brokers have answered. What they said before the last look was asked for says too little.
    ///
    /// - Returns: `true` if more counts as read.
    mutating func answer(_ ends: [Int32: Int64], untold: [Int32], to look: Int) -> Bool {
        guard isThere, look == self.look else { return false }
        self.untold = Set(untold)
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

    /// Everything before an offset was read.
    ///
    /// - Returns: `true` if more counts as read.
    mutating func read(_ partition: Int32, to offset: Int64, at now: Instant) -> Bool {
        guard isThere else { return false }
        if partitions[partition] == nil {
            // It was added to the topic, or is not known yet.
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

    /// The topic was deleted and made again.
    mutating func beginAnew(_ partition: Int32, at now: Instant) {
        partitions[partition] = Partition()
        lookAnew(at: now)
    }

    /// The end as it was at this look, or a later one, was reached.
    func hasReached(_ look: Int, in partition: Int32) -> Bool {
        partitions[partition].map { $0.reached >= look } ?? false
    }

    /// It was read to its end once.
    func isComplete(_ partition: Int32) -> Bool { hasReached(1, in: partition) }

    /// Everything was read that stood at the last look.
    var isCaughtUp: Bool { isThere && behindSince == nil }

    /// Partitions of which something is to be read that stood at the last look.
    var behind: [Int32] {
        (untold.union(partitions.keys.filter { !hasReached(look, in: $0) })).sorted()
    }

    private mutating func advance(_ partition: Int32) -> Bool {
        guard let state = partitions[partition], let end = state.end, state.position >= end,
            state.look > state.reached
        else { return false }
        partitions[partition]?.reached = state.look
        return true
    }

    private mutating func settle() {
        guard untold.isEmpty, partitions.values.allSatisfy({ $0.reached >= look }) else { return }
        (askAt, behindSince) = (nil, nil)
    }
}
