import ByteText
import NewsModel

// Events held back by limits, and their release.

extension Ingester {
    /// Schedules a wake-up for the held-back event that is due first.
    mutating func planHeldBack(_ name: String, at now: Moment) {
        guard isOwned(name), let life = lives[name], life.rules != nil, !isFinishing, !stopped.contains(name),
            let due = life.log.heldBack.values.map(\.due).min()
        else { return }
        let at = now.steady + max(Minute.instant(due) - now.wall, .zero)
        schedule(name, at: max(at, life.heldBackRetryAt ?? at))
    }

    private mutating func schedule(_ name: String, at: Instant) {
        if let planned = lives[name]?.heldBackAt, planned <= at { return }
        lives[name]?.heldBackAt = at
        timers.add(.heldBack(name), at: at)
    }

    /// Begins to write the events that are due. Updates come first, because readers have the texts that they correct.
    mutating func releaseHeldBack(_ name: String, at now: Moment) {
        guard let planned = lives[name]?.heldBackAt, planned <= now.steady else { return }
        lives[name]?.heldBackAt = nil
        guard isOwned(name), let life = lives[name], let rules = life.rules, !isFinishing, !stopped.contains(name)
        else {
            return
        }
        // Events that stay are examined again after a minute, the unit in which the feed's events are counted.
        lives[name]?.heldBackRetryAt = now.steady + .seconds(60)
        guard life.batch == nil, batches < Self.batchesMax else {
            planHeldBack(name, at: now)
            return
        }
        let minute = Minute.of(now.wall)
        var room = rules.maxPerHour - life.log.table.sent(inHourOf: minute)
        let due = life.log.heldBack.filter { $0.value.due <= minute }.sorted { first, second in
            let (one, other) = (isAlert(first.key, life), isAlert(second.key, life))
            return one == other ? (first.value.due, first.key) < (second.value.due, second.key) : other
        }
        var batch = FeedBatch(feed: life.state, storesFeed: false)
        for (hash, held) in due {
            guard let state = life.log.table[hash] else { continue }
            if isAlert(hash, life), held.staleAt <= minute {
                batch.entries.append(entry(hash, dropping: state, life))
            } else if room > 0 {
                room -= 1
                batch.entries.append(entry(hash, releasing: held, state, life, rules, at: minute))
            }
        }
        let sent = batch.entries.count { $0.record?.intent != nil }
        let stale = batch.entries.count - sent
        lives[name]?.counts[.stale] += stale
        if sent > 0 { note(.notice, name, "\(counted(sent, "event")) that a limit had held back is written.") }
        if stale > 0 {
            note(.warning, name, "\(counted(stale, "alert")) became too old while `maxPerHour` held it back; not sent.")
        }
        if batch.entries.isEmpty { planHeldBack(name, at: now) } else { begin(batch, for: name, at: now) }
    }

    private func isAlert(_ hash: EntryHash, _ life: FeedLife) -> Bool {
        life.log.table[hash]?.standing == .waiting
    }

    private func entry(_ hash: EntryHash, dropping state: EntryState, _ life: FeedLife) -> FeedBatch.Entry {
        var state = state
        state.standing = .known
        let readTo = partitions[life.partition]?.readTo
        return FeedBatch.Entry(hash: hash, record: EntryRecord(state: state, writer: life.writer, after: readTo))
    }

    private mutating func entry(
        _ hash: EntryHash, releasing held: HeldBack, _ state: EntryState, _ life: FeedLife, _ rules: FeedRules,
        at minute: UInt32
    ) -> FeedBatch.Entry {
        var state = state
        let own = state.versionsAhead > 0 ? state.publishersVersion : nil
        state.wasWritten(NewsEvent.Version(held.version), publishers: own, at: minute, for: rules.updates)
        lastOrder += 1
        var intent = held.intent
        intent.order = lastOrder
        if let group = rules.group {
            groups[group, default: GroupMemory()].note(
                link: state.link, title: state.title, feed: life.name, at: minute)
        }
        return FeedBatch.Entry(
            hash: hash,
            record: EntryRecord(
                state: state, intent: intent, name: life.log.names[hash], writer: life.writer,
                after: partitions[life.partition]?.readTo))
    }
}
