import ByteText
import NewsModel

// Ownership of feeds, from the assignment of their partition to its release.

extension Ingester {
    mutating func assign(_ numbers: [Int32]) {
        for number in numbers {
            // The group gave the partition back without waiting for the release, so the state in memory is out of date.
            if partitions[number] != nil { lose([number]) }
            assignments += 1
            partitions[number] = Partition(writer: "\(settings.writer)/\(assignments)")
            for name in rules.keys.sorted() where partition(of: rules[name]) == number { add(name, to: number) }
        }
    }

    private func partition(of rules: FeedRules?) -> Int32? { rules?.partition(among: settings.partitions) }

    mutating func add(_ name: String, to partition: Int32) {
        drop(name)
        // A feed whose group has changed still has records on its former partition, but it is followed on the new one.
        let rules = rules[name].flatMap { self.partition(of: $0) == partition ? $0 : nil }
        let writer = partitions[partition]?.writer ?? settings.writer
        feeds.add(FollowedFeed(name: name, partition: partition, writer: writer, rules: rules))
        partitions[partition]?.names.insert(name)
    }

    /// Begins to follow the partition's feeds, because all of its records have been read.
    mutating func restored(_ number: Int32, at now: Moment) {
        guard partitions[number]?.stage == .restoring else { return }
        partitions[number]?.stage = .owned
        let start = partitions[number]?.start ?? 0
        var (lost, former) = (0, 0)
        var foreign: [String] = []
        change(partitions[number]?.names) { ingester, feed in
            let isConfigured = ingester.rules[feed.name] != nil || ingester.settings.otherFeeds.contains(feed.name)
            if !isConfigured, feed.state.wasPolledLately(at: now.wall) { foreign.append(feed.name) }
            feed.state.webSub.restored()
            if feed.forgetFirstReading(storedBelow: start) { lost += 1 }
            feed.primeFromEntries()
            if feed.isOfFormerTopic, !feed.state.isPrimed { former += 1 }
            feed.takeOverWait(at: now)
            // Two processes have followed the feed. The decisions about the document of the validators may not count.
            if !feed.log.overwritten.isEmpty { feed.forgetValidators() }
            ingester.learnCallbacks(of: &feed)
            ingester.rememberEntries(of: feed, at: Minute.of(now.wall))
            ingester.proceed(&feed, at: now)
            ingester.planFirst(&feed, at: now)
        }
        if lost > 0 {
            note(
                .warning, nil,
                "Records of \(counted(lost, "feed")) were removed from the state topic: present entries of these feeds are recorded "
                    + "without alerts. The topic must only be compacted.")
        }
        if let first = foreign.first {
            let others = foreign.count > 1 ? " and \(counted(foreign.count - 1, "other feed"))" : ""
            note(
                .warning, nil,
                "`\(first)`\(others) of the state topic were polled lately, but this process does not have them in its configuration. Nobody "
                    + "polls them while it owns their partition. All processes of a group must have the same feeds.")
        }
        if former > 0 {
            note(
                .warning, nil,
                "The state of \(counted(former, "feed")) was written to another state topic, which was deleted or copied: present entries "
                    + "of these feeds are recorded without alerts.")
        }
    }

    /// Notes the removal of records. If the partition's feeds are followed already, the state of each feed is written again with
    /// its next poll, so that not all are written at once.
    mutating func removed(_ number: Int32, below offset: Int64) {
        partitions[number]?.begin(at: offset)
        guard let partition = partitions[number], partition.stage == .owned else { return }
        var count = 0
        change(partition.names) { _, feed in if feed.storeAgain(after: partition.readTo) { count += 1 } }
        guard count > 0 else { return }
        note(
            .warning, nil,
            "Records were removed from the state topic: the state of \(counted(count, "feed")) is written again with the next poll of "
                + "each. The topic must only be compacted.")
    }

    /// Adds the feed's recent stories to the memory of its group, which it may have joined just now.
    private mutating func rememberEntries(of feed: FollowedFeed, at minute: UInt32) {
        guard feed.rules?.group != nil else { return }
        for row in feed.log.table.rows {
            let due = max(row.state.firstSeen, row.state.embargo)
            guard Minute.between(due, minute) <= GroupMemory.minutes else { continue }
            remember(row.state, by: [row.hash], of: feed, at: row.state.firstSeen)
        }
    }

    /// Adds a story that readers have, or will have, to the memory of the feed's group. A link that several entries of the feed share
    /// is left out, because it says nothing about the stories of other feeds.
    /// - Parameter own: the keys of the entry itself.
    mutating func remember(_ entry: EntryState, by own: [EntryHash?], of feed: FollowedFeed, at minute: UInt32) {
        guard let group = feed.rules?.group, entry.sentPrint != 0 else { return }
        var entry = entry
        if feed.log.table.sharesLink(of: entry, besides: own) {
            groups[group]?.forget(link: entry.link, of: feed.name)
            entry.link = 0
        }
        groups[group, default: GroupMemory()].note(entry, feed: feed.name, at: minute)
    }

    mutating func revoke(_ numbers: [Int32]) {
        for number in numbers {
            guard partitions[number] != nil else {
                actions.append(.released([number]))
                continue
            }
            partitions[number]?.stage = .leaving
            change(partitions[number]?.names) { ingester, feed in
                ingester.stopFetching(&feed)
                ingester.abandonIdleBatch(of: &feed, readsOn: false)
            }
        }
    }

    mutating func lose(_ numbers: [Int32]) {
        for number in numbers {
            for name in partitions[number]?.names.sorted() ?? [] {
                // All feeds of a group share the partition.
                if let group = feeds[name]?.rules?.group { groups[group] = nil }
                drop(name)
            }
            partitions[number] = nil
        }
    }

    mutating func finish() {
        guard !isFinishing else { return }
        isFinishing = true
        change(feeds.names) { ingester, feed in
            ingester.stopFetching(&feed)
            ingester.abandonIdleBatch(of: &feed, readsOn: true)
        }
    }

    /// Begins nothing more for the feed. Writes in flight continue.
    private mutating func stopFetching(_ feed: inout FollowedFeed) {
        for request in feed.stop() { actions.append(.cancel(request)) }
        leaveQueue(&feed)
    }

    private mutating func leaveQueue(_ feed: inout FollowedFeed) {
        if let host = feed.queuedAt.take() { queue.remove(feed.name, host: host) }
    }

    /// Forgets the feed and everything in progress for it.
    private mutating func drop(_ name: String) {
        guard var feed = feeds.remove(name) else { return }
        partitions[feed.partition]?.names.remove(name)
        stopFetching(&feed)
        abandonBatch(of: &feed)
        forgetCallbacks(of: feed)
    }

    /// Releases leaving partitions whose feeds have no batch, and reports the end after `finish`.
    mutating func settle() {
        for number in partitions.keys.filter({ partitions[$0]?.stage == .leaving }).sorted() {
            let names = partitions[number]?.names ?? []
            guard names.allSatisfy({ feeds[$0]?.batch == nil }) else { continue }
            lose([number])
            actions.append(.released([number]))
        }
        if isFinishing, !hasFinished, batches == 0, fetches.isEmpty {
            hasFinished = true
            actions.append(.finished)
        }
    }

    // MARK: - Settings and gates

    mutating func reload(_ settings: IngestSettings, at now: Moment) {
        let before = self.settings
        self.settings = settings
        // These values belong to the process and to the topic, not to the settings file.
        self.settings.partitions = before.partitions
        self.settings.writer = before.writer
        self.settings.secret = before.secret
        self.settings.allLanes = before.allLanes
        queue.gap = settings.hostGap
        queue.inFlightMax = settings.inFlightMax
        rules = Self.byName(settings.feeds)
        for name in Set(rules.keys).union(feeds.names).sorted() {
            let new = rules[name]
            let home = partition(of: new)
            // A feed whose group has changed moves to the group's partition.
            if let home, home != feeds[name]?.partition, let stage = partitions[home]?.stage, stage != .leaving {
                change(name) { ingester, feed in
                    feed.rules = new
                    ingester.rememberEntries(of: feed, at: Minute.of(now.wall))
                }
                add(name, to: home)
                if stage == .owned { change(name) { $0.planFirst(&$1, at: now) } }
            } else {
                change(name) { ingester, feed in
                    ingester.changeRules(of: &feed, to: home == feed.partition ? new : nil, at: now)
                }
            }
        }
    }

    private mutating func changeRules(of feed: inout FollowedFeed, to new: FeedRules?, at now: Moment) {
        let old = feed.rules
        guard old != new else { return }
        feed.rules = new
        guard let new else { return stopFetching(&feed) }
        guard isOwned(feed) else { return }
        if old?.group != new.group { rememberEntries(of: feed, at: Minute.of(now.wall)) }
        if let old {
            // A poll that the former rules made says nothing about the new address, or fails for want of the new headers.
            let isOtherRequest =
                old.url != new.url || old.headers != new.headers || old.allowPrivate != new.allowPrivate
            if isOtherRequest, let request = feed.cancelPoll() { actions.append(.cancel(request)) }
            if old.url != new.url { feed.forgetWait() }
            guard isOtherRequest || old.intervalMin != new.intervalMin || old.intervalMax != new.intervalMax,
                feed.fetch == nil
            else { return }
            leaveQueue(&feed)
        }
        planFirst(&feed, at: now)
    }

    mutating func stop(_ names: Set<String>, at now: Moment) {
        let resumed = stopped.subtracting(names)
        change(names.subtracting(stopped)) { ingester, feed in
            guard ingester.isOwned(feed) else { return }
            ingester.note(.notice, feed.name, "Editors have stopped this feed: it is neither polled nor sent.")
        }
        stopped = names
        change(resumed) { ingester, feed in
            guard ingester.isOwned(feed) else { return }
            ingester.note(.notice, feed.name, "Editors resumed this feed.")
            ingester.publish(&feed, at: now)
            ingester.proceed(&feed, at: now)
            ingester.planHeldBack(&feed, at: now)
            ingester.plan(&feed, at: now.steady, because: "resumed", now)
        }
    }
}
