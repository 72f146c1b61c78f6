public import NewsModel

extension Ingester {
    /// The status of each feed of this process, by name. Feeds of partitions that are still being read are omitted.
    public func status(at now: Moment) -> [FeedStatus] {
        lives.keys.sorted().compactMap { status(of: $0, at: now) }
    }

    private func status(of name: String, at now: Moment) -> FeedStatus? {
        guard isOwned(name), let life = lives[name], let rules = life.rules else { return nil }
        var status = FeedStatus(rules, life.state, isStopped: stopped.contains(name), at: now.wall)
        status.lastPollAt = life.lastPollAt
        status.nextPollAt = life.nextPoll.map { now.wall + ($0 - now.steady) }
        status.because = life.because
        if let host = life.queuedAt {
            status.nextPollAt = now.wall
            status.because = "it waits for its turn: the feeds of \(host) are polled one at a time"
        }
        status.counts = life.counts
        status.heldBack = life.log.heldBack.count
        return status
    }

    /// True while the feed has a fetch, or a write to Kafka, that is in flight or due.
    public func isBusy(_ name: String) -> Bool {
        guard let life = lives[name] else { return false }
        return life.isBusy || life.queuedAt != nil || life.isDue || !life.waiting.isEmpty
    }

    /// Number of the feed's polls that this process has begun.
    public func polls(of name: String) -> Int { lives[name]?.counts.polls ?? 0 }

    /// Amount of unfinished work, so that the simulation can verify that it is bounded.
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
