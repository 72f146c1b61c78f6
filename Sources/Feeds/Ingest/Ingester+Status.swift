public import NewsModel

extension Ingester {
    /// How the feeds of this process are doing, by name. Feeds of partitions that are still being read are left out.
    public func status(at now: Moment) -> [FeedStatus] {
        lives.keys.sorted().compactMap { status(of: $0, at: now) }
    }

    private func status(of name: String, at now: Moment) -> FeedStatus? {
        guard isOwned(name), let life = lives[name], let rules = life.rules else { return nil }
        var status = FeedStatus(rules, life.state, isStopped: stopped.contains(name), at: now.wall)
        status.lastPollAt = life.lastPollAt
        status.nextPollAt = life.nextPoll.map { now.wall + ($0 - now.steady) }
        status.because = life.because
        status.counts = life.counts
        status.heldBack = life.log.heldBack.count
        return status
    }

    /// True while anything of the feed is under way or due: a fetch, or a write to Kafka.
    public func isBusy(_ name: String) -> Bool {
        guard let life = lives[name] else { return false }
        return life.isBusy || life.queuedAt != nil || life.isDue || !life.waiting.isEmpty
    }

    /// Entries in memory, of all feeds.
    public var entriesKept: Int { lives.values.reduce(0) { $0 + $1.log.table.count } }
    /// Polls that have brought a verdict so far, by feed.
    public func polls(of name: String) -> Int { lives[name]?.counts.polls ?? 0 }

    /// What is kept of things under way, for the simulation to see that it is bounded.
    package var load: Load {
        Load(
            fetches: fetches.count, writes: writes.count, batches: batches, timers: timers.size,
            waiting: lives.values.reduce(0) { $0 + $1.waiting.count },
            heldBack: lives.values.reduce(0) { $0 + $1.log.heldBack.count }, feeds: lives.count)
    }

    package struct Load: Sendable, Hashable {
        package var fetches: Int
        package var writes: Int
        package var batches: Int
        package var timers: Int
        package var waiting: Int
        package var heldBack: Int
        package var feeds: Int
    }
}
