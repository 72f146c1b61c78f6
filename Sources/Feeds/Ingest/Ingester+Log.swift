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
            case .feed: ingester.readFeed(&feed, key, value)
            case .entry(_, let hash): ingester.readEntry(&feed, hash, value, at: offset)
            }
            if feed.batch?.readBack(key, value ?? []) ?? false { ingester.stageIsStored(&feed, at: now) }
            ingester.proceed(&feed, at: now)
        }
    }

    private func readFeed(_ feed: inout FollowedFeed, _ key: String, _ value: [UInt8]?) {
        let state = value.flatMap { parse($0) { FeedState($0) } } ?? FeedState()
        feed.log.fold(state)
        if let value, feed.batch?.awaits(key, value) ?? false { return }
        feed.read(state, isRestoring: partitions[feed.partition]?.stage == .restoring)
    }

    private mutating func readEntry(_ feed: inout FollowedFeed, _ hash: EntryHash, _ value: [UInt8]?, at offset: Int64)
    {
        guard let value else {
            feed.log.fold(hash, nil, at: offset)
            return
        }
        guard let record = parse(value, { EntryRecord($0) }) ?? nil else {
            note(.warning, feed.name, "A record of an entry on the state topic cannot be read and is ignored.")
            feed.log.spoiled(hash, at: offset)
            return
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
