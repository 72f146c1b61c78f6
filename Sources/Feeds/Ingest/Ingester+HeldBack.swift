import ByteText
import NewsModel

// Events held back by limits, and their release.

extension Ingester {
    /// Schedules a wake-up for the held-back event that is due first.
    mutating func planHeldBack(_ feed: inout FollowedFeed, at now: Moment) {
        guard isSending(feed), let due = feed.log.heldBack.values.lazy.map(\.due).min() else { return }
        let at = now.steady + max(Minute.instant(due) - now.wall, .zero)
        let notBefore = max(at, feed.heldBackRetryAt)
        if feed.heldBackTimer.set(notBefore) { timers.add(.heldBack(feed.name), at: notBefore) }
    }

    /// Begins to write the events that are due. Updates come first, because readers have the texts that they correct.
    mutating func releaseHeldBack(_ feed: inout FollowedFeed, at now: Moment) {
        guard feed.heldBackTimer.ends(at: now.steady), isSending(feed), let rules = feed.rules else { return }
        // Events that stay are examined again after a minute, the unit in which the feed's events are counted.
        feed.heldBackRetryAt = now.steady + .seconds(60)
        guard feed.batch == nil, batches < Self.batchesMax else { return planHeldBack(&feed, at: now) }
        let entries = entriesToRelease(feed, rules, at: Minute.of(now.wall))
        let sent = entries.count { $0.record?.intent != nil }
        let stale = entries.count { $0.record?.state.standing == .known }
        let duplicates = entries.count - sent - stale
        feed.counts[.stale] += stale
        feed.counts[.duplicate] += duplicates
        if sent > 0 { note(.notice, feed.name, "Writing \(counted(sent, "event")) that a limit had held back.") }
        if stale > 0 {
            let alerts = counted(stale, "alert")
            note(.warning, feed.name, "Not sent, because too old after `maxPerHour` had held back: \(alerts).")
        }
        if duplicates > 0 {
            let alerts = counted(duplicates, "alert")
            note(.info, feed.name, "Not sent, because another feed of the group has brought the story: \(alerts).")
        }
        if entries.isEmpty { return planHeldBack(&feed, at: now) }
        begin(FeedBatch(feed: feed.state, entries: entries, storesFeed: false), for: &feed, at: now)
    }

    /// The entries whose events are written, as many as the feed's limit allows, and those whose alerts are not sent any more.
    private mutating func entriesToRelease(
        _ feed: FollowedFeed, _ rules: FeedRules, at minute: UInt32
    ) -> [FeedBatch.Entry] {
        var room = rules.maxPerHour - feed.log.table.sent(inHourOf: minute)
        let isAlert = { feed.log.table[$0]?.standing == .waiting }
        let due = feed.log.heldBack.filter { $0.value.due <= minute }.sorted { first, second in
            let (one, other) = (isAlert(first.key), isAlert(second.key))
            return one == other ? (first.value.due, first.key) < (second.value.due, second.key) : other
        }
        let readTo = partitions[feed.partition]?.readTo
        var entries: [FeedBatch.Entry] = []
        for (hash, held) in due {
            guard var state = feed.log.table[hash] else { continue }
            if isAlert(hash), let standing = standingInstead(of: held, hash, state, feed, rules, at: minute) {
                state.standing = standing
                entries.append(
                    FeedBatch.Entry(hash: hash, record: EntryRecord(state: state, writer: feed.writer, after: readTo)))
            } else if room > 0, !(isAlert(hash) && held.isMissing) {
                room -= 1
                // Records of former versions do not have the publisher's own version.
                let own = held.own ?? (state.versionsAhead > 0 ? nil : held.version)
                state.wasWritten(
                    NewsEvent.Version(held.version), publishers: own.map { NewsEvent.Version($0) }, at: minute,
                    for: rules.updates)
                var intent = held.intent
                intent.order = nextOrder()
                remember(state, by: [hash], of: feed, at: minute)
                let record = EntryRecord(
                    state: state, intent: intent, name: feed.log.names[hash], lane: intent.lane, writer: feed.writer,
                    after: readTo)
                entries.append(FeedBatch.Entry(hash: hash, record: record))
            }
        }
        return entries
    }

    /// The standing of an entry whose alert is not sent any more, because it is too old or because another feed of the group has
    /// brought the story meanwhile; `nil` if the alert is still news.
    private func standingInstead(
        of held: HeldBack, _ hash: EntryHash, _ state: EntryState, _ feed: FollowedFeed, _ rules: FeedRules,
        at minute: UInt32
    ) -> EntryState.Standing? {
        if held.staleAt <= minute { return .known }
        let group = rules.group.flatMap { groups[$0] }
        var state = state
        if group != nil, feed.log.table.sharesLink(of: state, besides: [hash]) { state.link = 0 }
        return group?.feed(thatBrought: state, besides: feed.name, at: minute) == nil ? nil : .duplicate
    }
}
