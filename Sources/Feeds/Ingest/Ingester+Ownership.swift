import NewsModel

// Ownership of feeds, from the assignment of their partition to its release.

extension Ingester {
    mutating func assign(_ numbers: [Int32]) {
        for number in numbers {
            // The group gave the partition back without waiting for the release, so the state in memory is out of date.
            if partitions[number] != nil { lose([number]) }
            assignments += 1
            partitions[number] = Partition(writer: "\(settings.writer)/\(assignments)")
            for name in rules.keys.sorted() {
                if rules[name]?.partition(among: settings.partitions) == number { add(name, to: number) }
            }
        }
    }

    mutating func add(_ name: String, to partition: Int32) {
        let rules = rules[name]
        // A feed whose group has changed still has records on its former partition, but it is followed on the new one.
        let isHere = rules?.partition(among: settings.partitions) == partition
        lives[name] = FeedLife(
            name: name, partition: partition, writer: partitions[partition]?.writer ?? settings.writer,
            rules: isHere ? rules : nil)
        partitions[partition]?.names.insert(name)
    }

    /// Begins to follow the partition's feeds, because all of its records have been read.
    mutating func restored(_ number: Int32, at now: Moment) {
        guard partitions[number]?.stage == .restoring else { return }
        partitions[number]?.stage = .owned
        for name in partitions[number]?.names.sorted() ?? [] {
            lives[name]?.state.webSub.restored()
            primeFromEntries(name)
            learnCallbacks(name)
            remember(name, at: now)
            proceed(name, at: now)
            planFirst(name, at: now)
        }
    }

    /// Marks a feed as read if its process ended before storing the feed's record. Entries since then are news.
    private mutating func primeFromEntries(_ name: String) {
        guard let life = lives[name], !life.state.isPrimed,
            let first = life.log.table.rows.lazy.map(\.state.firstSeen).min()
        else { return }
        lives[name]?.state.primedAt = Minute.instant(first)
        lives[name]?.state.isHalfPrimed = true
    }

    /// Adds the feed's recent stories to the memory of its group.
    private mutating func remember(_ name: String, at now: Moment) {
        guard let life = lives[name], let group = life.rules?.group else { return }
        let minute = Minute.of(now.wall)
        for row in life.log.table.rows where row.state.standing.wasSent {
            guard Minute.between(row.state.firstSeen, minute) <= GroupMemory.minutes else { continue }
            groups[group, default: GroupMemory()].note(
                link: row.state.link, title: row.state.title, feed: name, at: row.state.firstSeen)
        }
    }

    mutating func revoke(_ numbers: [Int32], at now: Moment) {
        for number in numbers {
            guard partitions[number] != nil else {
                actions.append(.released([number]))
                continue
            }
            partitions[number]?.stage = .leaving
            for name in partitions[number]?.names.sorted() ?? [] {
                stopFetching(name)
                abandonIdle(name, readsOn: false)
            }
        }
    }

    mutating func lose(_ numbers: [Int32]) {
        for number in numbers {
            for name in partitions[number]?.names.sorted() ?? [] { drop(name) }
            partitions[number] = nil
        }
    }

    mutating func finish(at now: Moment) {
        guard !isFinishing else { return }
        isFinishing = true
        for name in lives.keys.sorted() {
            stopFetching(name)
            abandonIdle(name, readsOn: true)
        }
    }

    /// Begins nothing more for the feed. Writes in flight continue.
    mutating func stopFetching(_ name: String) {
        guard let life = lives[name] else { return }
        if let fetch = life.fetch { actions.append(.cancel(fetch.id)) }
        if let post = life.post { actions.append(.cancel(post)) }
        lives[name]?.fetch = nil
        lives[name]?.post = nil
        lives[name]?.waiting = []
        lives[name]?.nextPoll = nil
        unqueue(name)
        lives[name]?.isDue = false
    }

    mutating func unqueue(_ name: String) {
        guard let host = lives[name]?.queuedAt else { return }
        queue.remove(name, host: host)
        lives[name]?.queuedAt = nil
    }

    /// Forgets the feed and everything in progress for it.
    mutating func drop(_ name: String) {
        guard let life = lives[name] else { return }
        stopFetching(name)
        if let batch = life.batch {
            if let write = batch.write { writes[write] = nil }
            batches -= 1
        }
        for path in life.state.webSub.paths where callbacks[path] == name { callbacks[path] = nil }
        if let group = life.rules?.group { groups[group] = nil }
        lives[name] = nil
    }

    /// Releases leaving partitions whose feeds have no batch, and reports the end after `finish`.
    mutating func settle(at now: Moment) {
        for number in partitions.keys.sorted() where partitions[number]?.stage == .leaving {
            let names = partitions[number]?.names.sorted() ?? []
            guard names.allSatisfy({ lives[$0]?.batch == nil }) else { continue }
            for name in names { drop(name) }
            partitions[number] = nil
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
        queue.gap = settings.hostGap
        queue.inFlightMax = settings.inFlightMax
        rules = Self.byName(settings.feeds)
        for name in Set(rules.keys).union(lives.keys).sorted() {
            let new = rules[name].flatMap { rules -> FeedRules? in
                partitions[rules.partition(among: self.settings.partitions)] == nil ? nil : rules
            }
            if let life = lives[name] {
                let isHere = new?.partition(among: self.settings.partitions) == life.partition
                changeRules(name, to: isHere ? new : nil, at: now)
            } else if let new {
                let partition = new.partition(among: self.settings.partitions)
                guard partitions[partition]?.stage != .leaving else { continue }
                add(name, to: partition)
                if partitions[partition]?.stage == .owned { planFirst(name, at: now) }
            }
        }
    }

    private mutating func changeRules(_ name: String, to new: FeedRules?, at now: Moment) {
        guard let old = lives[name]?.rules, let new else {
            let wasKnown = lives[name]?.rules != nil
            lives[name]?.rules = new
            if new == nil, wasKnown {
                stopFetching(name)
            } else if new != nil, isOwned(name) {
                planFirst(name, at: now)
            }
            return
        }
        guard old != new else { return }
        lives[name]?.rules = new
        guard old.url != new.url || old.intervalMin != new.intervalMin || old.intervalMax != new.intervalMax,
            isOwned(name), lives[name]?.fetch == nil
        else { return }
        unqueue(name)
        planFirst(name, at: now)
    }

    mutating func stop(_ names: Set<String>, at now: Moment) {
        let freed = stopped.subtracting(names).sorted()
        for name in names.subtracting(stopped).sorted() where isOwned(name) {
            note(.notice, name, "Editors have stopped this feed: it is neither polled nor sent.")
        }
        stopped = names
        for name in freed where isOwned(name) {
            note(.notice, name, "Editors resumed this feed.")
            advance(name, at: now)
            planHeldBack(name, at: now)
            plan(name, at: now.steady, because: "resumed", now)
        }
    }
}
