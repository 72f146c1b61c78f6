import NewsModel

// Reading the state topic, including this process's own writes.

extension Ingester {
    mutating func read(_ partition: Int32, _ offset: Int64, _ key: String, _ value: [UInt8]?, at now: Moment) {
        guard let readTo = partitions[partition]?.readTo else { return }
        partitions[partition]?.readTo = max(readTo, offset)
        guard let parsed = StateKey(key) else { return }
        let name = parsed.feed
        if lives[name] == nil { add(name, to: partition) }
        // The feed has moved to another partition with its group. The records left here are not its state.
        guard lives[name]?.partition == partition else { return }
        switch parsed {
        case .feed: readFeed(name, value)
        case .entry(_, let hash): readEntry(name, hash, value, at: offset)
        }
        confirm(name, key, value ?? [], at: now)
        if isOwned(name), lives[name]?.batch == nil { proceed(name, at: now) }
    }

    private mutating func readFeed(_ name: String, _ value: [UInt8]?) {
        guard let life = lives[name] else { return }
        let isOwn = value != nil && life.batch?.awaiting[StateKey.feed(name).text] == value
        if isOwn { return }
        var state = value.flatMap { parse($0) { FeedState($0) } } ?? FeedState()
        if partitions[life.partition]?.stage == .restoring {
            state.learnForGood(from: life.state)
            lives[name]?.state = state
            lives[name]?.stored = state
        } else {
            // This is another owner's view of the feed, which the next change here overwrites. Permanent facts in it,
            // such as the first reading, are kept.
            lives[name]?.state.learnForGood(from: state)
            lives[name]?.batch?.feed.learnForGood(from: state)
            lives[name]?.stored = nil
        }
    }

    private mutating func readEntry(_ name: String, _ hash: EntryHash, _ value: [UInt8]?, at offset: Int64) {
        guard let value else {
            lives[name]?.log.fold(hash, nil, at: offset)
            return
        }
        guard let record = parse(value, { EntryRecord($0) }) ?? nil else {
            note(.warning, name, "A record of an entry on the state topic cannot be read and is ignored.")
            lives[name]?.log.spoiled(hash)
            return
        }
        let counts = lives[name]?.log.fold(hash, record, at: offset) ?? false
        guard record.writer != lives[name]?.writer, isOwned(name) else { return }
        // Another process briefly follows this feed too, or this one wrote the record before it lost the partition. Its view may be newer or older than ours, so the whole
        // document is read again.
        if counts { forgetValidators(name) }
    }

    mutating func forgetValidators(_ name: String) {
        lives[name]?.state.validators = nil
        lives[name]?.state.bodyHash = nil
        lives[name]?.batch?.wasOverruled = true
        lives[name]?.stored = nil
    }

    private func parse<Value>(_ bytes: [UInt8], _ read: (JSONObject) -> Value) -> Value? {
        bytes.withUnsafeBufferPointer { bytes in
            guard let object = try? parser.object(in: bytes) else { return nil }
            return read(object)
        }
    }

    /// Notes that one of this process's own records has come back, and ends the stage after the last one.
    private mutating func confirm(_ name: String, _ key: String, _ value: [UInt8], at now: Moment) {
        guard lives[name]?.batch?.awaiting[key] == value else { return }
        lives[name]?.batch?.awaiting[key] = nil
        if lives[name]?.batch?.awaiting.isEmpty == true {
            lives[name]?.batch?.failures = 0
            stageIsStored(name, at: now)
        }
    }
}
