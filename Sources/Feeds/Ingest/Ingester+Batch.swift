import ByteText
import NewsModel

// The stages of a batch: intents are stored and read back, events are published, completion is stored.

extension Ingester {
    /// Begins the feed's next work unless a batch is in progress: first what is unfinished on the topic, then answers
    /// that arrived in the meantime.
    mutating func proceed(_ feed: inout FollowedFeed, at now: Moment) {
        guard isActive(feed) else { return }
        if feed.batch == nil, feed.state.correctFirstReading(at: now.wall) { feed.wantsStore = true }
        while feed.batch == nil {
            // The intents of a stopped feed wait on the topic.
            if stopped.contains(feed.name), !feed.log.intents.isEmpty { return }
            if feed.isUnfinished { return adopt(&feed, at: now) }
            switch feed.waiting.isEmpty ? nil : feed.waiting.removeFirst() {
            case .answer(let result, let request)?: receive(result, to: request, &feed, at: now)
            case .delivery(let document)?: follow(&feed, delivery: document, at: now)
            case nil: return proceedWithoutArrivals(&feed, at: now)
            }
        }
    }

    private mutating func proceedWithoutArrivals(_ feed: inout FollowedFeed, at now: Moment) {
        if feed.wantsStore {
            feed.wantsStore = false
            storeIfChanged(&feed, at: now)
        }
        if feed.batch == nil, feed.isDue {
            feed.isDue = false
            enqueue(&feed, at: now)
        }
    }

    /// Publishes what another process, or this one before a crash, left unfinished.
    private mutating func adopt(_ feed: inout FollowedFeed, at now: Moment) {
        let batch = feed.unfinished
        if !batch.toPublish.isEmpty {
            note(.notice, feed.name, "Writing \(counted(batch.toPublish.count, "unfinished event")) again.")
        }
        begin(batch, for: &feed, at: now)
    }

    /// Stores the feed's own record if it differs from the one on the topic.
    mutating func storeIfChanged(_ feed: inout FollowedFeed, at now: Moment, post: WebSubRequest? = nil) {
        guard feed.rules != nil, post != nil || feed.mustStore(feed.state) else { return }
        begin(FeedBatch(feed: feed.state, storesFeed: true, post: post), for: &feed, at: now)
    }

    mutating func begin(_ batch: FeedBatch, for feed: inout FollowedFeed, at now: Moment) {
        precondition(feed.batch == nil, "a feed has one batch at a time")
        feed.batch = batch
        batches += 1
        continueBatch(&feed, at: now)
    }

    private mutating func continueBatch(_ feed: inout FollowedFeed, at now: Moment) {
        if feed.batch?.stage == .publishing { publish(&feed, at: now) } else { store(&feed, at: now) }
    }

    // MARK: - Stages

    /// Writes the records of the current stage.
    private mutating func store(_ feed: inout FollowedFeed, at now: Moment) {
        let records = feed.recordsToStore(after: partitions[feed.partition]?.readTo)
        guard !records.isEmpty else { return stageIsStored(&feed, at: now) }
        let id = WriteID(nextID())
        guard let retryAt = feed.batch?.store(records, as: id, at: now.steady) else { return }
        writes[id] = feed.name
        timers.add(.batch(feed.name), at: retryAt)
        actions.append(.store(id, partition: feed.partition, records))
    }

    /// Begins the next stage, because all records of the current one are on the topic.
    mutating func stageIsStored(_ feed: inout FollowedFeed, at now: Moment) {
        endWrite(of: &feed)
        guard feed.batch?.stage == .storing else { return end(&feed, at: now) }
        feed.batch?.beginPublishing(feed.log.intents)
        if let reading = feed.batch?.firstReading {
            let known = counted(reading.known, "entry", plural: "entries")
            let verb = settings.isRehearsal ? "would be " : ""
            let withdrawn = reading.withdrawn > 0 ? ", \(reading.withdrawn) \(verb)recalled or withheld" : ""
            note(.info, feed.name, "First reading: \(known) \(verb)known, \(reading.sent) \(verb)sent\(withdrawn).")
        }
        publish(&feed, at: now)
    }

    /// Publishes the remaining events of the batch, one lane at a time.
    mutating func publish(_ feed: inout FollowedFeed, at now: Moment) {
        guard let isEmpty = feed.batch?.toPublish.isEmpty, feed.batch?.canPublish ?? false else { return }
        if isEmpty {
            feed.batch?.beginClosing()
            return store(&feed, at: now)
        }
        if stopped.contains(feed.name) {
            // The intents of a stopped feed wait on the topic, so that they take no place among the batches in progress. A batch that
            // has published some events stays in memory, because these would be published again.
            if let batch = feed.batch, !isActive(feed) || batch.published.isEmpty {
                feed.state.learnForGood(from: batch.feed)
                abandonBatch(of: &feed)
            }
            return
        }
        let id = WriteID(nextID())
        guard let (lane, events) = feed.batch?.publish(as: id, at: now.steady) else { return }
        writes[id] = feed.name
        let documents = events.map { FeedEvent(feed: feed.name, key: $0.intent.key, value: $0.intent.event) }
        actions.append(.publish(id, lane: lane, documents))
    }

    // MARK: - Results of writes

    /// A leaving process reads nothing more, so its records never come back. The next owner finds them.
    mutating func stored(_ id: WriteID, at now: Moment) {
        change(writes[id]) { ingester, feed in
            feed.batch?.acknowledge(at: now.steady)
            if ingester.partitions[feed.partition]?.stage == .leaving { ingester.abandonBatch(of: &feed) }
        }
    }

    mutating func published(_ id: WriteID, refused: Set<Int> = [], at now: Moment) {
        change(writes[id]) { ingester, feed in
            guard feed.batch?.stage == .publishing else { return }
            ingester.writes[id] = nil
            let count = (feed.batch?.publish() ?? 0) - refused.count
            feed.counts[.unreadable] += refused.count
            feed.counts.refused += refused.count
            let verb = ingester.settings.isRehearsal ? "would be " : ""
            if count > 0 { ingester.note(.info, feed.name, "\(counted(count, "event")) \(verb)written.") }
            ingester.publish(&feed, at: now)
        }
    }

    mutating func refused(_ id: WriteID, _ places: [Int], because: String, at now: Moment) {
        guard let name = writes[id], let batch = feeds[name]?.batch else { return }
        let events = batch.toPublish.prefix(batch.publishing)
        let refused = Set(places.filter { events.indices.contains($0) })
        let keys = refused.sorted().prefix(3).map { events[$0].intent.key }.joined(separator: ", ")
        let more = refused.count > 3 ? ", …" : ""
        note(.error, name, "\(counted(refused.count, "event")) not sent (\(keys)\(more)): \(because)")
        published(id, refused: refused, at: now)
    }

    mutating func writeFailed(_ id: WriteID, because: String, at now: Moment) {
        change(writes.removeValue(forKey: id)) { ingester, feed in
            guard let retryAt = feed.batch?.fail(at: now.steady), let failures = feed.batch?.failures else { return }
            if failures == 1 || failures.isMultiple(of: 10) {
                ingester.note(.error, feed.name, "A write to Kafka failed and is tried again: \(because)")
            }
            if ingester.isActive(feed) {
                ingester.timers.add(.batch(feed.name), at: retryAt)
            } else {
                ingester.abandonBatch(of: &feed)
            }
        }
    }

    /// Repeats a write that failed, or that was not read back for a while. While this process owns the feed, it does not repeat a
    /// write without a reply, but continues to wait.
    mutating func retryBatch(_ feed: inout FollowedFeed, at now: Moment) {
        guard feed.batch?.isRetryDue(at: now.steady) ?? false else { return }
        if isActive(feed), let next = feed.batch?.waitOn(at: now.steady) {
            return timers.add(.batch(feed.name), at: next)
        }
        if let since = feed.batch?.unreadSince, now.steady - since < FeedBatch.patience * 2 {
            note(
                .warning, feed.name,
                "What was written to the state topic cannot be read back, so the feed waits; another producer may have an open transaction there."
            )
        }
        endWrite(of: &feed)
        if isActive(feed) { continueBatch(&feed, at: now) } else { abandonBatch(of: &feed) }
    }

    private mutating func endWrite(of feed: inout FollowedFeed) {
        if let write = feed.batch?.endWrite() { writes[write] = nil }
    }

    /// Abandons the batch unless a write is in flight.
    /// - Parameter readsOn: true if records are still read, so that an acknowledged write will be read back.
    mutating func abandonIdleBatch(of feed: inout FollowedFeed, readsOn: Bool) {
        switch feed.batch?.write {
        case .acknowledged? where readsOn, .inFlight?, nil: break
        case .acknowledged?, .idle?, .failed?: abandonBatch(of: &feed)
        }
    }

    /// Leaves the unfinished part to the next owner, who finds it on the topic.
    mutating func abandonBatch(of feed: inout FollowedFeed) {
        guard feed.batch != nil else { return }
        endWrite(of: &feed)
        feed.batch = nil
        batches -= 1
    }

    private mutating func end(_ feed: inout FollowedFeed, at now: Moment) {
        let post = feed.endBatch()
        batches -= 1
        if let post, isActive(feed) { send(post, for: &feed) }
        planHeldBack(&feed, at: now)
        proceed(&feed, at: now)
    }
}
