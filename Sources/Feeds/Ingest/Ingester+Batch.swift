import ByteText
import NewsModel

// The stages of a batch: intents are stored and read back, events are published, completion is stored.

extension Ingester {
    /// Begins the feed's next work unless a batch is in progress: first what is unfinished on the topic, then answers
    /// that arrived in the meantime.
    mutating func proceed(_ name: String, at now: Moment) {
        while isOwned(name), let life = lives[name], life.batch == nil {
            if !life.log.intents.isEmpty || !life.log.overwritten.isEmpty {
                if isFinishing { return }
                adopt(name, at: now)
                return
            }
            guard !life.waiting.isEmpty, !isFinishing else { break }
            switch lives[name]?.waiting.removeFirst() {
            case .answer(let result, let request)?: judge(name, result, request, at: now)
            case .delivery(let document)?: follow(name, delivery: document, at: now)
            case nil: break
            }
        }
        guard isOwned(name), lives[name]?.batch == nil, !isFinishing else { return }
        if lives[name]?.wantsStore == true {
            lives[name]?.wantsStore = false
            storeIfChanged(name, at: now)
        }
        if lives[name]?.batch == nil, lives[name]?.isDue == true {
            lives[name]?.isDue = false
            enqueue(name, at: now)
        }
    }

    /// Publishes what another process, or this one before a crash, left unfinished, exactly as it is on the topic.
    private mutating func adopt(_ name: String, at now: Moment) {
        guard let life = lives[name] else { return }
        var batch = FeedBatch(feed: life.state, storesFeed: false)
        batch.stage = .publishing
        batch.toPublish = life.log.intents
            .map { FeedBatch.Publication(hash: $0.key, intent: $0.value) }
            .sorted { ($0.intent.order, $0.hash) < ($1.intent.order, $1.hash) }
        if !batch.toPublish.isEmpty {
            note(.notice, name, "\(batch.toPublish.count) events that were begun and not finished are written again.")
        }
        begin(batch, for: name, at: now)
    }

    /// Stores the feed's own record if it differs from the one on the topic.
    mutating func storeIfChanged(_ name: String, at now: Moment, post: WebSubRequest? = nil) {
        guard let life = lives[name], life.rules != nil, post != nil || mustStore(life, life.state) else { return }
        var batch = FeedBatch(feed: life.state, storesFeed: true)
        batch.post = post
        begin(batch, for: name, at: now)
    }

    /// Returns false if only times have changed a little, because those are stored only now and then.
    func mustStore(_ life: FeedLife, _ state: FeedState) -> Bool {
        guard var before = life.stored else { return state != FeedState() }
        let coarse = min(life.rules?.maxAge ?? .seconds(3_600), .seconds(3_600)) / 4
        if let last = before.lastSuccessAt, let now = state.lastSuccessAt, now >= last, now - last < coarse {
            before.lastSuccessAt = now
        }
        if let last = before.cappedAt, let now = state.cappedAt, now >= last, now - last < .seconds(600) {
            before.cappedAt = now
        }
        before.validatorsSince = state.validatorsSince
        before.medianGap = state.medianGap
        before.interval = state.interval
        before.lastNewAt = state.lastNewAt
        before.webSub.trust = state.webSub.trust
        return before != state
    }

    mutating func begin(_ batch: FeedBatch, for name: String, at now: Moment) {
        precondition(lives[name]?.batch == nil, "a feed has one batch at a time")
        lives[name]?.batch = batch
        batches += 1
        if batch.stage == .storing { store(name, at: now) } else { advance(name, at: now) }
    }

    // MARK: - Stages

    /// Writes the records of the current stage.
    private mutating func store(_ name: String, at now: Moment) {
        guard let life = lives[name], let batch = life.batch else { return }
        var records: [StateRecord] = []
        switch batch.stage {
        case .storing:
            records = batch.entries.map {
                StateRecord(key: StateKey.entry(feed: name, $0.hash).text, value: $0.record?.bytes)
            }
            if batch.firstReading != nil { records.append(primingRecord(life, batch)) }
        case .publishing: break
        case .closing: records = closingRecords(life, batch)
        }
        guard !records.isEmpty else {
            stageIsStored(name, at: now)
            return
        }
        let id = WriteID(nextID())
        writes[id] = name
        lives[name]?.batch?.write = id
        lives[name]?.batch?.isAcknowledged = false
        lives[name]?.batch?.awaiting = Dictionary(
            records.map { ($0.key, $0.value ?? []) }, uniquingKeysWith: { _, last in last })
        let retryAt = now.steady + FeedBatch.patience
        lives[name]?.batch?.retryAt = retryAt
        timers.add(.batch(name), at: retryAt)
        actions.append(.store(id, partition: life.partition, records))
    }

    /// The record that marks the feed as read. It is written with the entries, so that a new owner does not mistake the
    /// next document for a first reading. It has no validators yet, because the document is not fully processed.
    private func primingRecord(_ life: FeedLife, _ batch: FeedBatch) -> StateRecord {
        var feed = life.state
        feed.url = batch.feed.url
        feed.learnForGood(from: batch.feed)
        return StateRecord(key: StateKey.feed(life.name).text, value: feed.bytes(writer: life.writer))
    }

    /// The records of published entries, of entries to overwrite, and at the very end of the feed itself.
    private func closingRecords(_ life: FeedLife, _ batch: FeedBatch) -> [StateRecord] {
        // An entry is not done if another owner has written an intent for a later version of it.
        let done = batch.published.filter { life.log.intents[$0.hash]?.event == $0.intent.event }.map(\.hash)
        // Moved entries come first, because compaction may then remove the records of the entries that continue them.
        let hashes = life.log.overwritten.subtracting(done).sorted() + done
        let readTo = partitions[life.partition]?.readTo
        var records: [StateRecord] = []
        for hash in hashes {
            var record = life.log.record(of: hash, writer: life.writer, after: readTo)
            if done.contains(hash) { record?.intent = nil }
            records.append(StateRecord(key: StateKey.entry(feed: life.name, hash).text, value: record?.bytes))
        }
        if batch.storesFeed {
            var feed = batch.feed
            feed.webSub = life.state.webSub
            if batch.wasOverruled {
                feed.validators = nil
                feed.bodyHash = nil
            }
            let bytes = feed.bytes(writer: life.writer)
            records.append(StateRecord(key: StateKey.feed(life.name).text, value: bytes))
        }
        return records
    }

    /// Begins the next stage, because all records of the current one are on the topic.
    mutating func stageIsStored(_ name: String, at now: Moment) {
        guard let life = lives[name], let batch = life.batch else { return }
        if let write = batch.write { writes[write] = nil }
        lives[name]?.batch?.write = nil
        lives[name]?.batch?.retryAt = nil
        switch batch.stage {
        case .storing:
            for entry in batch.entries {
                guard let intent = entry.record?.intent else { continue }
                if life.log.intents[entry.hash]?.event == intent.event {
                    lives[name]?.batch?.toPublish.append(FeedBatch.Publication(hash: entry.hash, intent: intent))
                } else {
                    lives[name]?.batch?.wasOverruled = true
                }
            }
            if let reading = batch.firstReading {
                note(
                    .info, name,
                    "First reading: \(counted(reading.known, "entry", plural: "entries")) known, \(reading.sent) sent.")
            }
            lives[name]?.batch?.stage = .publishing
            advance(name, at: now)
        case .publishing: break
        case .closing: end(name, at: now)
        }
    }

    /// Publishes the remaining events of the batch, one lane at a time.
    mutating func advance(_ name: String, at now: Moment) {
        guard let life = lives[name], let batch = life.batch, batch.stage == .publishing, batch.write == nil,
            batch.retryAt == nil
        else { return }
        guard let first = batch.toPublish.first else {
            lives[name]?.batch?.stage = .closing
            store(name, at: now)
            return
        }
        if stopped.contains(name) {
            // The intents of a stopped feed wait: in memory if this process stays, on the topic if it leaves.
            if isLeaving(life) { abandon(name) }
            return
        }
        let lane = first.intent.lane
        let together = batch.toPublish.prefix { $0.intent.lane == lane }
        let id = WriteID(nextID())
        writes[id] = name
        lives[name]?.batch?.write = id
        lives[name]?.batch?.publishing = together.count
        actions.append(
            .publish(
                id, lane: lane,
                together.map { FeedEvent(feed: name, key: $0.intent.key, value: $0.intent.event) }))
    }

    func isLeaving(_ life: FeedLife) -> Bool { isFinishing || partitions[life.partition]?.stage != .owned }

    // MARK: - Results of writes

    /// A leaving process reads nothing more, so its records never come back. The next owner finds them.
    mutating func stored(_ id: WriteID) {
        guard let name = writes[id], let life = lives[name], life.batch?.write == id else { return }
        lives[name]?.batch?.isAcknowledged = true
        if partitions[life.partition]?.stage == .leaving { abandon(name) }
    }

    mutating func published(_ id: WriteID, refused: Set<Int>, at now: Moment) {
        guard let name = writes.removeValue(forKey: id), let batch = lives[name]?.batch, batch.write == id,
            batch.stage == .publishing
        else { return }
        let done = batch.toPublish.prefix(batch.publishing)
        lives[name]?.batch?.published += Array(done)
        lives[name]?.batch?.toPublish.removeFirst(done.count)
        lives[name]?.batch?.write = nil
        lives[name]?.batch?.failures = 0
        lives[name]?.counts[.unreadable] += refused.count
        if done.count > refused.count { note(.info, name, "\(counted(done.count - refused.count, "event")) written.") }
        advance(name, at: now)
    }

    mutating func refused(_ id: WriteID, _ places: [Int], because: String, at now: Moment) {
        guard let name = writes[id], let count = lives[name]?.batch?.publishing else { return }
        let refused = Set(places.filter { (0..<count).contains($0) })
        note(.error, name, "\(counted(refused.count, "event")) not sent: \(because)")
        published(id, refused: refused, at: now)
    }

    mutating func writeFailed(_ id: WriteID, because: String, at now: Moment) {
        guard let name = writes.removeValue(forKey: id), let life = lives[name], let batch = life.batch,
            batch.write == id
        else { return }
        lives[name]?.batch?.write = nil
        let failures = batch.failures + 1
        lives[name]?.batch?.failures = failures
        if failures == 1 || failures.isMultiple(of: 10) {
            note(.error, name, "A write to Kafka failed and is tried again: \(because)")
        }
        if isLeaving(life) {
            abandon(name)
            return
        }
        let retryAt = now.steady + FeedBatch.pause(after: failures)
        lives[name]?.batch?.retryAt = retryAt
        timers.add(.batch(name), at: retryAt)
    }

    /// Retries a write that failed, or that had no reply for a while.
    mutating func retryBatch(_ name: String, at now: Moment) {
        guard let life = lives[name], let batch = life.batch, let retryAt = batch.retryAt, retryAt <= now.steady else {
            return
        }
        if let write = batch.write { writes[write] = nil }
        lives[name]?.batch?.write = nil
        lives[name]?.batch?.retryAt = nil
        if isLeaving(life) {
            abandon(name)
        } else if batch.stage == .publishing {
            advance(name, at: now)
        } else {
            store(name, at: now)
        }
    }

    /// Abandons the batch unless a write is in flight.
    /// - Parameter readsOn: true if records are still read, so that an acknowledged write will be read back.
    mutating func abandonIdle(_ name: String, readsOn: Bool) {
        guard let batch = lives[name]?.batch else { return }
        if batch.write == nil || (batch.isAcknowledged && !readsOn) { abandon(name) }
    }

    /// Leaves the unfinished part to the next owner, who finds it on the topic.
    private mutating func abandon(_ name: String) {
        if let write = lives[name]?.batch?.write { writes[write] = nil }
        lives[name]?.batch = nil
        batches -= 1
    }

    private mutating func end(_ name: String, at now: Moment) {
        guard let batch = lives[name]?.batch, let webSub = lives[name]?.state.webSub else { return }
        lives[name]?.batch = nil
        batches -= 1
        if batch.storesFeed {
            var feed = batch.feed
            feed.webSub = webSub
            if batch.wasOverruled {
                feed.validators = nil
                feed.bodyHash = nil
            }
            lives[name]?.state = feed
            // The record on the topic may claim more than is true.
            lives[name]?.stored = batch.wasOverruled ? nil : feed
        }
        if let post = batch.post, isOwned(name), !isFinishing { send(post, for: name) }
        planHeldBack(name, at: now)
        proceed(name, at: now)
    }
}
