import ByteText
import NewsModel

/// One feed in a partition of this process: what is known about it, and what is in progress for it.
struct FollowedFeed: Sendable {
    let name: String
    let partition: Int32
    /// Distinguishes the records of one assignment of the partition, because a process may lose it and get it back while its
    /// records are in transit.
    let writer: String
    /// `nil` for a feed that is on the state topic but not in the settings.
    var rules: FeedRules?
    var state = FeedState()
    /// The feed's record on the topic; `nil` if it is missing or out of date.
    private(set) var stored: FeedState?
    var log = EntryLog()
    /// True if the topic has lost records of the feed, so that those left do not show when the feed was first read.
    var hasLostRecords = false
    /// True if the feed's record on the topic claims a first reading that does not count, because the record is of another topic.
    var isOfFormerTopic = false
    var batch: FeedBatch?
    private(set) var fetch: Fetching?
    /// The form in flight to a hub.
    var post: FetchID?
    /// Answers and deliveries that wait until the current batch ends.
    var waiting: [Arrival] = []
    /// The host in whose queue the feed waits.
    var queuedAt: String?
    /// True if the feed's record is to be stored once no batch is in progress.
    var wantsStore = false
    /// True if a poll became due while a batch was in progress.
    var isDue = false
    /// Time by the steady clock; `nil` if no poll is planned.
    var nextPoll: Instant?
    /// The reason for the time of the next poll.
    var because = ""
    /// End of the wait that the publisher last asked for, by the steady clock. `FeedState.retryUntil` is its time by the
    /// wall clock, which may be corrected meanwhile, so only the next process uses that.
    var retryAt: Instant?
    /// End of the last poll, by the wall clock.
    private(set) var lastPollAt: Instant?
    /// True if the feed was quiet after the last poll. Each silence is logged once.
    private(set) var isQuiet = false
    var counts = FeedCounts()
    private(set) var hints: PollHints?
    var freshFor: Duration?
    /// The items of the last document that could not be read.
    private var skipped: [SkippedItem] = []
    /// True if the last document had more entries than are read.
    private var isTooLong = false
    /// The next examination of held-back events.
    var heldBackTimer = Timer()
    var heldBackRetryAt = Instant.distantPast
    /// The next request to the hub.
    var hubTimer = Timer()
    /// The paths of hubs' callbacks under which the process finds this feed.
    var callbackPaths: [String] = []

    init(name: String, partition: Int32, writer: String, rules: FeedRules?) {
        self.name = name
        self.partition = partition
        self.writer = writer
        self.rules = rules
    }

    struct Fetching: Sendable {
        var id: FetchID
        var request: FetchRequest
    }

    enum Arrival: Sendable {
        case answer(FetchResult, FetchRequest)
        case delivery(FeedDocument)
    }

    /// The time, by the steady clock, of something that is done once.
    struct Timer: Sendable {
        private var at: Instant?

        /// - Returns: false if an earlier time is set.
        mutating func set(_ new: Instant) -> Bool {
            if let at, at <= new { return false }
            at = new
            return true
        }

        /// Ends the timer if its time has come.
        @discardableResult
        mutating func ends(at now: Instant) -> Bool {
            guard let at, at <= now else { return false }
            self.at = nil
            return true
        }
    }

    /// Number of waiting answers and deliveries at which further deliveries are refused.
    static let waitingMax = 4

    /// True while a request or a write is in flight, or an answer or a record waits for its end.
    var isInProgress: Bool { batch != nil || fetch != nil || post != nil || wantsStore || !waiting.isEmpty }
    /// True while a poll waits for the feed's batch or for its host.
    var isPollDue: Bool { queuedAt != nil || isDue }

    /// The address to fetch: the new one once a permanent move is proven.
    func url(at wall: Instant) -> String? {
        guard let rules else { return nil }
        if let move = state.move, move.isProven(at: wall), move.move.from == rules.url { return move.move.to }
        return rules.url
    }
}

// MARK: - Polls

extension FollowedFeed {
    /// Plans the next poll, unless one is planned for about the same time.
    /// - Returns: the time of the timer that the plan needs.
    mutating func planPoll(at: Instant, because: String, _ now: Moment) -> Instant? {
        let at = max(at, retryAt ?? at)
        self.because = because
        // A poll that must wait may be requested any number of times.
        if let planned = nextPoll, planned > now.steady, planned <= at, at - planned < .seconds(1) { return nil }
        nextPoll = at
        return at
    }

    /// Takes over the wait that the publisher asked an earlier process for, up to a maximum. The shortened wait is stored, so
    /// that it does not begin again in each process.
    mutating func takeOverWait(at now: Moment) {
        guard let until = state.retryUntil, until > now.wall else { return }
        if let url = rules?.url, url != state.url { return forgetWait() }
        let wait = min(until - now.wall, Self.restoredWaitMax)
        retryAt = now.steady + wait
        guard until > now.wall + wait else { return }
        state.retryUntil = now.wall + wait
        wantsStore = true
    }

    /// The longest wait that the next process takes over. The time may be that of a clock that was hours ahead, and a publisher that
    /// is asked too early asks for another wait.
    private static let restoredWaitMax = Duration.seconds(3_600)

    /// The request to send now; `nil` without rules.
    func request(at wall: Instant) -> FetchRequest? {
        guard let rules, let url = url(at: wall) else { return nil }
        var request = FetchRequest(url: url)
        if state.url == rules.url {
            request.validators = state.hasOldValidators(at: wall) ? nil : state.validators
            request.knownBodyHash = state.bodyHash
        }
        request.headers = headers(rules, to: url)
        request.allowPrivate = rules.allowPrivate
        request.zoneMinutes = rules.zoneMinutes
        return request
    }

    /// The feed's own headers, unless the feed has moved to another host. They may contain a password.
    private func headers(_ rules: FeedRules, to url: String) -> [HeaderField] {
        guard url != rules.url else { return rules.headers }
        guard let configured = try? FetchAddress(rules.url), let moved = try? FetchAddress(url),
            AddressRules(configured: configured, allowPrivate: []).sendsHeaders(to: moved)
        else { return [] }
        return rules.headers
    }

    mutating func fetch(_ id: FetchID, _ request: FetchRequest) {
        fetch = Fetching(id: id, request: request)
        counts.polls += 1
    }

    /// Ends a fetch.
    /// - Returns: its request; `nil` if nobody needs the answer any more.
    mutating func fetched(_ id: FetchID, at wall: Instant) -> FetchRequest? {
        guard let request = fetch?.request, fetch?.id == id else { return nil }
        fetch = nil
        lastPollAt = wall
        return request
    }

    /// Ends the feed's requests and plans. Its batch continues.
    /// - Returns: the requests in flight.
    mutating func stop() -> [FetchID] {
        let requests = [fetch?.id, post].compactMap(\.self)
        (fetch, post, nextPoll) = (nil, nil, nil)
        waiting = []
        isDue = false
        return requests
    }

    /// Ends the poll in flight, or discards its answer if that still waits.
    /// - Returns: the request in flight.
    mutating func cancelPoll() -> FetchID? {
        defer { (fetch, nextPoll, isDue) = (nil, nil, false) }
        waiting.removeAll { if case .answer = $0 { true } else { false } }
        return fetch?.id
    }

    /// Ends the wait that the publisher of a former address asked for.
    mutating func forgetWait() {
        retryAt = nil
        state.retryUntil = nil
        batch?.feed.retryUntil = nil
    }

    /// Returns true if the document has more entries than are read, and the one before it had not.
    mutating func becomesTooLong(_ document: FeedDocument) -> Bool {
        let wasTooLong = isTooLong
        isTooLong = document.entriesLeftOut > 0
        return isTooLong && !wasTooLong
    }

    /// Learns what a document says about the feed as a whole.
    /// - Returns: the first item that could not be read, unless the same items could not be read the last time.
    mutating func learn(_ document: FeedDocument) -> SkippedItem? {
        hints = document.hints
        counts.unreadableDates += document.unreadableDates
        defer { skipped = document.skipped }
        return skipped == document.skipped ? nil : document.skipped.first
    }

    /// Examines whether the feed is quiet.
    /// - Returns: the time since which nothing new has come, if the silence was not noticed before.
    mutating func noticeSilence(at wall: Instant) -> Instant? {
        let wasQuiet = isQuiet
        isQuiet = state.isQuiet(at: wall)
        return isQuiet && !wasQuiet ? state.lastNewAt ?? state.primedAt : nil
    }
}

// MARK: - The state topic

extension FollowedFeed {
    /// Learns the feed's record.
    /// - Parameter isRestoring: true if the record may be this feed's state from an earlier owner. Otherwise it is another owner's
    ///   view of the feed, which the next change here overwrites. Permanent facts in it, such as the first reading, are kept.
    mutating func read(_ record: FeedState, isRestoring: Bool) {
        if isRestoring {
            let before = state
            state = record
            state.learnForGood(from: before)
            stored = state
        } else {
            state.learnForGood(from: record)
            batch?.feed.learnForGood(from: record)
            stored = nil
        }
        // A process that had not read the end of the first reading may have stored its own view later.
        if log.hasFirstReading { state.isHalfPrimed = false }
    }

    /// Makes the next document the first one if entries of the first reading may have been removed.
    /// - Parameter start: all records below this offset were removed.
    /// - Returns: true if the feed had been read.
    mutating func forgetFirstReading(storedBelow start: Int64) -> Bool {
        guard start > 0 else { return false }
        guard !state.isPrimed || state.wasPrimed(below: start) else { return false }
        hasLostRecords = true
        guard state.isPrimed else { return false }
        state.forgetFirstReading()
        log.forgetFirstReading()
        stored = nil
        return true
    }

    /// Makes the next poll store everything that is known of the feed, because records were removed from the topic.
    /// - Parameter readTo: offset of the last record that was read, or that was removed.
    /// - Returns: false if nothing is known of the feed.
    mutating func storeAgain(after readTo: Int64) -> Bool {
        guard state != FeedState() || !log.table.isEmpty else { return false }
        if state.isPrimed { state.primedAfter = max(state.primedAfter, readTo) }
        batch?.feed.learnForGood(from: state)
        // The batch's record of the feed may be in flight, and does not say so.
        batch?.overrule()
        log.overwriteAll(readTo: readTo)
        stored = nil
        return true
    }

    /// Marks a feed as read if its process ended before storing the feed's record. Entries since then are news.
    mutating func primeFromEntries() {
        guard !state.isPrimed, !hasLostRecords, let first = log.table.rows.lazy.map(\.state.firstSeen).min() else {
            return
        }
        state.primedAt = Minute.instant(first)
        state.lastSuccessAt = state.primedAt
        state.isHalfPrimed = true
    }

    /// Makes the next poll fetch the whole document, because another process's records have changed the entries.
    mutating func forgetValidators() {
        state.forgetDocument()
        batch?.overrule()
        stored = nil
    }

    /// Returns false if only times have changed a little, because those are stored only now and then.
    func mustStore(_ state: FeedState) -> Bool {
        guard var before = stored else { return state != FeedState() }
        let coarse = min(rules?.maxAge ?? .seconds(3_600), .seconds(3_600)) / 4
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
}

// MARK: - Batches

extension FollowedFeed {
    /// True if the topic has intents to publish, or records to overwrite.
    var isUnfinished: Bool { !log.intents.isEmpty || !log.overwritten.isEmpty }

    /// The batch that publishes what another process, or this one before a crash, left unfinished, exactly as it is on the topic.
    var unfinished: FeedBatch {
        let intents = log.intents
            .map { FeedBatch.Publication(hash: $0.key, intent: $0.value) }
            .sorted { ($0.intent.order, $0.hash) < ($1.intent.order, $1.hash) }
        return FeedBatch(feed: state, toPublish: intents)
    }

    /// Ends the batch, because all of it is stored.
    /// - Returns: the form to post to a hub.
    mutating func endBatch() -> WebSubRequest? {
        guard let batch else { return nil }
        self.batch = nil
        if batch.storesFeed {
            state = batch.final(webSub: state.webSub)
            // The record on the topic may claim more than is true.
            stored = batch.wasOverruled ? nil : state
        }
        return batch.post
    }

    /// The records of the batch's current stage.
    /// - Parameter readTo: offset of the last record that was read.
    func recordsToStore(after readTo: Int64?) -> [StateRecord] {
        guard let batch else { return [] }
        switch batch.stage {
        case .storing:
            let entries = batch.entries.map { record(of: $0.hash, $0.record) }
            return batch.firstReading == nil ? entries : entries + [primingRecord(batch, after: readTo)]
        case .publishing: return []
        case .closing: return closingRecords(batch, after: readTo)
        }
    }

    private func record(of hash: EntryHash, _ record: EntryRecord?) -> StateRecord {
        StateRecord(key: StateKey.entry(feed: name, hash).text, value: record?.bytes)
    }

    /// The record that marks the feed as read. It is written with the entries, so that a new owner does not mistake the
    /// next document for a first reading. It has no validators yet, because the document is not fully processed.
    private func primingRecord(_ batch: FeedBatch, after readTo: Int64?) -> StateRecord {
        var feed = batch.final(webSub: state.webSub)
        feed.learnForGood(from: state)
        feed.forgetDocument()
        return StateRecord(key: StateKey.feed(name).text, value: feed.bytes(writer: writer, after: readTo))
    }

    /// The records of published entries, of entries to overwrite, and at the very end of the feed itself.
    private func closingRecords(_ batch: FeedBatch, after readTo: Int64?) -> [StateRecord] {
        // An entry is not done if another owner has written an intent for a later version of it.
        let done = batch.published.filter { log.intents[$0.hash]?.event == $0.intent.event }.map(\.hash)
        // Moved entries come first, because compaction may then remove the records of the entries that continue them.
        let hashes = log.overwritten.subtracting(done).sorted() + done
        var records = hashes.map { hash in
            // If no record of the entry counts, a tombstone prevents compaction from keeping the last one.
            var entry = log.record(of: hash, writer: writer, after: readTo)
            if done.contains(hash) { entry?.intent = nil }
            return record(of: hash, entry)
        }
        if batch.storesFeed {
            let bytes = batch.final(webSub: state.webSub).bytes(writer: writer, after: readTo)
            records.append(StateRecord(key: StateKey.feed(name).text, value: bytes))
        }
        return records
    }
}

extension FeedRules {
    /// The partition of the state topic that the feed belongs to; its owner follows the feed. Feeds of a group share a
    /// partition, so that one process can detect the same story in two of them.
    public func partition(among count: Int32) -> Int32 { Murmur2.partition(of: group ?? name, among: count) }
}
