import NewsModel

// Reading the state topic, including this process's own writes.

extension Ingester {
    mutating func read(_ partition: Int32, _ offset: Int64, _ key: String, _ value: [UInt8]?, at now: Moment) {
        guard let readTo = partitions[partition]?.readTo else { return }
        partitions[partition]?.readTo = max(readTo, offset)
        guard let parsed = StateKey(key) else { return }
        if !feeds.contains(parsed.feed) { add(parsed.feed, to: partition) }
        change(parsed.feed) { ingester, feed in
            // The feed has moved to another partition with its group. The records left here are not its state.
            guard feed.partition == partition else { return }
            switch parsed {
            case .feed: ingester.readFeed(&feed, key, value, at: offset)
            case .entry(_, let hash): ingester.readEntry(&feed, hash, key, value, at: offset)
            }
            if feed.batch?.readBack(key, value ?? []) ?? false { ingester.stageIsStored(&feed, at: now) }
            ingester.proceed(&feed, at: now)
        }
    }

    private func readFeed(_ feed: inout FollowedFeed, _ key: String, _ value: [UInt8]?, at offset: Int64) {
        let record = value.flatMap { parse($0) { (state: FeedState($0), after: StateMembers($0).number("after")) } }
        var state = record?.state ?? FeedState()
        if let value, feed.batch?.awaits(key, value) ?? false { return feed.log.fold(state, at: offset) }
        let isRestoring = partitions[feed.partition]?.stage == .restoring
        // While the partition is restored, its start may not be known.
        let start = isRestoring ? 0 : partitions[feed.partition]?.start ?? 0
        let isLost = isOfFormerTopic(offset, after: record?.after) || state.wasPrimed(below: start)
        if isLost, state.isPrimed { feed.isOfFormerTopic = true }
        if isLost { state.forgetFirstReading() }
        feed.log.fold(state, at: offset)
        feed.read(state, isRestoring: isRestoring)
        // The record on the topic does not count, and is to be overwritten.
        if isLost { feed.forgetValidators() }
    }

    /// Returns true for a record that was written to a topic of this name that has been deleted, and was sent again once this one
    /// existed: its writer had read more than precedes the record here.
    private func isOfFormerTopic(_ offset: Int64, after readTo: Int64?) -> Bool { readTo ?? -1 >= offset }

    private mutating func readEntry(
        _ feed: inout FollowedFeed, _ hash: EntryHash, _ key: String, _ value: [UInt8]?, at offset: Int64
    ) {
        guard let value else {
            feed.log.fold(hash, nil, at: offset)
            return
        }
        guard let record = parse(value, { EntryRecord($0) }) ?? nil else {
            note(.warning, feed.name, "A record of an entry on the state topic cannot be read and is ignored.")
            feed.log.spoiled(hash, at: offset)
            return
        }
        if isOfFormerTopic(offset, after: record.after), !(feed.batch?.awaits(key, value) ?? false) {
            feed.hasLostRecords = true
        }
        // A record by another writer shows that another process briefly follows this feed too, or that this one wrote it before it
        // lost the partition. Its view may be newer or older than ours, so the whole document is read again. It is also read again if
        // one of our own records does not count.
        let counts = feed.log.fold(hash, record, at: offset)
        let isOurs = record.writer == feed.writer
        if counts != isOurs, isOwned(feed) { feed.forgetValidators() }
    }

    private func parse<Value>(_ bytes: [UInt8], _ read: (JSONObject) -> Value) -> Value? {
        bytes.withUnsafeBufferPointer { bytes in
            guard let object = try? parser.object(in: bytes) else { return nil }
            return read(object)
        }
    }
}
