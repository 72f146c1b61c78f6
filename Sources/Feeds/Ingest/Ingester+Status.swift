public import NewsModel

extension Ingester {
    /// The status of each feed of this process, by name. Feeds of partitions that are still being read are omitted.
    public func status(at now: Moment) -> [FeedStatus] {
        feeds.names.compactMap { feeds[$0].flatMap { status(of: $0, at: now) } }
    }

    private func status(of feed: FollowedFeed, at now: Moment) -> FeedStatus? {
        guard isOwned(feed), let rules = feed.rules else { return nil }
        var status = FeedStatus(rules, feed.state, isStopped: stopped.contains(feed.name), at: now.wall)
        status.lastPollAt = feed.lastPollAt
        status.nextPollAt = feed.nextPoll.map { now.wall + ($0 - now.steady) }
        status.because = feed.because
        if let host = feed.queuedAt {
            status.nextPollAt = now.wall
            status.because = "it waits for its turn: the feeds of \(host) are polled one at a time"
        }
        status.mustWait =
            feed.retryAt.map { $0 > now.steady } ?? false
            || feed.queuedAt.flatMap { queue.blockedUntil($0, at: now.steady) } != nil
        status.counts = feed.counts
        status.heldBack = feed.log.heldBack.count
        if let since = feed.batch?.unwrittenSince, now.steady - since >= Self.unwrittenMax,
            !status.isProblem, !stopped.contains(feed.name)
        {
            let because = "Kafka does not take what it brought, so the feed stands still"
            (status.state, status.isQuiet) = (.failing(since: now.wall - (now.steady - since), because: because), false)
        }
        return status
    }

    /// Time after which a write that Kafka does not take is a problem.
    public static let unwrittenMax = Duration.seconds(20)

    /// Time since which Kafka has not taken a write of a feed; `nil` if it takes them. That feed waits.
    public var unwrittenSince: Instant? { feeds.names.compactMap { feeds[$0]?.batch?.unwrittenSince }.min() }

    /// Time since which the state topic has records of this process that cannot be read back; `nil` without any. Their
    /// feeds wait. It takes seconds at most, unless an open transaction hides them.
    public var unreadSince: Instant? { feeds.names.compactMap { feeds[$0]?.batch?.unreadSince }.min() }

    /// True while any feed has a request or a write in flight, or an answer or a record that waits for one.
    public var isBusy: Bool {
        !fetches.isEmpty || !writes.isEmpty
            || feeds.names.contains { feeds[$0].map { $0.isInProgress && !awaitsEditors($0) } ?? false }
    }

    /// True if the feed's intents wait until editors resume it.
    private func awaitsEditors(_ feed: FollowedFeed) -> Bool {
        stopped.contains(feed.name) && !feed.log.intents.isEmpty && feed.batch?.canPublish ?? true
    }

    /// True while the feed has a fetch, or a write to Kafka, that is in flight or due.
    public func isBusy(_ name: String) -> Bool { feeds[name].map { $0.isInProgress || $0.isPollDue } ?? false }

    /// Number of the feed's polls that this process has begun.
    public func polls(of name: String) -> Int { feeds[name]?.counts.polls ?? 0 }

    /// Amount of unfinished work, so that the simulation can verify that it is bounded.
    package var load: Load {
        Load(
            fetches: fetches.count, writes: writes.count, batches: batches, timers: timers.size,
            waiting: feeds.sum { $0.waiting.count }, heldBack: feeds.sum { $0.log.heldBack.count },
            feeds: feeds.count)
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
