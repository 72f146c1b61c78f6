import ByteText
import NewsModel

// The effects of polls' answers and of hubs' deliveries.

extension Ingester {
    /// Applies the answer to a poll.
    mutating func receive(
        _ result: FetchResult, to request: FetchRequest, _ feed: inout FollowedFeed, at now: Moment
    ) {
        guard let rules = feed.rules else { return }
        if feed.state.url != rules.url { feed.state.restart(at: rules.url) }
        switch AnswerVerdict(result, to: request, at: now.wall) {
        case .canceled:
            plan(&feed, at: now.steady + intervalMin(rules), because: "the last poll was canceled", now)
        case .gone where request.url != rules.url:
            // Only the configured address tells that the feed is gone.
            fail(&feed, .status(410), of: request, at: now)
        case .gone: endPolls(&feed, at: now)
        case .failed(let failure): fail(&feed, failure, of: request, at: now)
        case .wait(let pause, let host, let failure): wait(&feed, pause, host: host, failure, at: now)
        case .unchanged(var receipt):
            if feed.state.bodyHash != request.knownBodyHash
                || request.validators.map({ $0 != feed.state.validators }) ?? false
            {
                // Another owner's record has changed the entries since the request, so the document is read again.
                (receipt.validators, receipt.bodyHash) = (nil, nil)
            }
            feed.counts.unchanged += 1
            succeed(&feed.state, rules, receipt, request, at: now)
            feed.freshFor = receipt.freshFor
            learnPolled(&feed, new: 0, at: now)
            planNext(&feed, isChanged: false, at: now)
            storeIfChanged(&feed, at: now)
        case .changed(let document, let receipt):
            if case .answered(let answer) = result { follow(&feed, document, receipt, request, answer, at: now) }
        }
    }

    private mutating func endPolls(_ feed: inout FollowedFeed, at now: Moment) {
        feed.state.isGone = true
        feed.because = "the publisher says that the feed is gone (410)"
        note(
            .error, feed.name,
            "The publisher says that the feed is gone (410). It is not polled any more; remove it, or correct its url.")
        storeIfChanged(&feed, at: now)
    }

    private mutating func fail(
        _ feed: inout FollowedFeed, _ failure: PollFailure, of request: FetchRequest, at now: Moment
    ) {
        feed.counts.failures += 1
        feed.state.fail(because: failure.detail, at: now.wall)
        let failures = feed.state.failures
        let level: IngestNote.Level = failures == Self.failuresUntilAlarm ? .error : failures == 1 ? .warning : .debug
        note(level, feed.name, "Poll \(failures) in a row failed: \(failure.detail).")
        if request.url != feed.rules?.url, failures >= Self.failuresUntilAlarm || failure == .status(410) {
            feed.state.forgetMove()
            note(.warning, feed.name, "The address to which the feed has moved fails: its url is polled again.")
        }
        planRetry(&feed, at: now)
        storeIfChanged(&feed, at: now)
    }

    /// Number of polls in a row that fail, or are answered with a request to wait, after which the feed is a problem.
    static let failuresUntilAlarm = 3

    private mutating func wait(
        _ feed: inout FollowedFeed, _ pause: Duration, host: String, _ failure: PollFailure, at now: Moment
    ) {
        let until = now.steady + pause
        queue.block(host, until: until)
        feed.counts.failures += 1
        feed.retryAt = until
        feed.state.mustWait(until: now.wall + pause, because: failure.detail, at: now.wall)
        note(
            feed.state.failures == Self.failuresUntilAlarm ? .error : .warning, feed.name,
            "\(host) is left alone for \(pause.words): \(failure.detail).")
        plan(&feed, at: until, because: "the publisher asks to wait", now)
        storeIfChanged(&feed, at: now)
    }

    /// Applies a successful answer to a feed's state. Entries are handled separately.
    private mutating func succeed(
        _ state: inout FeedState, _ rules: FeedRules, _ receipt: AnswerVerdict.Receipt, _ request: FetchRequest,
        at now: Moment
    ) {
        if state.failures >= Self.failuresUntilAlarm { note(.notice, rules.name, "The feed answers again.") }
        let hadMoved = state.hasMoved(at: now.wall)
        state.succeed(receipt, request, at: now.wall)
        if !hadMoved, state.hasMoved(at: now.wall), let move = state.move {
            let address = rules.shown(move.move.to) ?? "another address"
            note(.warning, rules.name, "The feed has moved for good to \(address); set its url.")
        }
    }

    // MARK: - Documents

    private mutating func follow(
        _ feed: inout FollowedFeed, _ document: FeedDocument, _ receipt: AnswerVerdict.Receipt,
        _ request: FetchRequest, _ answer: FetchAnswer, at now: Moment
    ) {
        guard let rules = feed.rules else { return }
        let following = following(document, feed, rules, isPartial: false, servedAt: receipt.servedAt, at: now)
        let wasPrimed = feed.state.isPrimed
        let host = (try? FetchAddress(answer.finalURL))?.host ?? ""
        let isHome = host == feed.state.host ?? (try? FetchAddress(rules.url))?.host
        if !isHome, wasPrimed, following.recognized == 0, !document.entries.isEmpty, !feed.log.table.isEmpty {
            // A domain that was sold, or a portal, has news of others.
            return fail(&feed, .foreignFeed(host: host), of: request, at: now)
        }
        var state = feed.state
        if !wasPrimed || following.recognized > 0 { state.host = host }
        succeed(&state, rules, receipt, request, at: now)
        state.learn(following, isPartial: false)
        if !wasPrimed { state.primedAfter = partitions[feed.partition]?.readTo ?? -1 }
        // The backlog may be in the part that is missing. A document without any entry does not change that.
        let isStillHalf = feed.state.isHalfPrimed && document.entries.isEmpty
        state.isHalfPrimed = document.isCutOff && (!wasPrimed || isStillHalf)
        feed.freshFor = receipt.freshFor
        feed.counts.bytes += Int64(max(answer.bodyBytes, 0))
        if settings.webSubURL != nil, rules.usesWebSub {
            feed.state.webSub.learn(PushSource(answer), at: now.wall)
        }
        if feed.becomesTooLong(document) {
            note(
                .warning, feed.name,
                "\(counted(document.entriesLeftOut, "entry", plural: "entries")) at the end of the feed not read, because it has more "
                    + "than \(grouped(FeedLimits.entriesRead)). If its newest are at the end, it sends no news.")
        }
        if let first = feed.learn(document) {
            let id = first.id.map { "`\($0.prefix(100))`: " } ?? ""
            note(
                .warning, feed.name,
                "\(counted(document.skipped.count, "item")) of the feed left out. The first is \(id)\(first.reason).")
        }
        learnPolled(&feed, new: following.count(.alert), at: now)
        state.webSub = feed.state.webSub
        store(following, of: &feed, state: state, wasPrimed: wasPrimed, isPoll: true, at: now)
    }

    /// Follows a document that a hub has pushed. The same rules apply, but it proves nothing about the feed as a whole.
    mutating func follow(_ feed: inout FollowedFeed, delivery document: FeedDocument, at now: Moment) {
        guard let rules = feed.rules, feed.state.isPrimed else { return }
        let following = following(document, feed, rules, isPartial: true, servedAt: nil, at: now)
        feed.state.webSub.pushed(new: following.count(.alert), at: now.wall)
        feed.counts.pushes += 1
        var state = feed.state
        state.learn(following, isPartial: true)
        store(following, of: &feed, state: state, wasPrimed: true, isPoll: false, at: now)
        if following.isIncomplete { pollSoon(&feed, because: "entries that the hub pushed are in doubt", at: now) }
    }

    private func following(
        _ document: FeedDocument, _ feed: FollowedFeed, _ rules: FeedRules, isPartial: Bool, servedAt: Instant?,
        at now: Moment
    ) -> Following {
        var rules = rules
        // What was sent at the former first reading would be sent again.
        if feed.hasLostRecords || feed.isOfFormerTopic { rules.onFirstSight = .silent }
        return Follower.follow(
            withoutOthersStories(document, rules), rules: rules, feed: feed.state, log: feed.log,
            group: rules.group.flatMap { groups[$0] } ?? GroupMemory(), lane: settings.lane,
            backfillLane: settings.backfillLane, lanes: settings.allLanes, isPartial: isPartial, servedAt: servedAt,
            at: now.wall)
    }

    /// The document without stories that look like another feed's ids. They would let one publisher recall or replace the news of
    /// another.
    private func withoutOthersStories(_ document: FeedDocument, _ rules: FeedRules) -> FeedDocument {
        guard document.entries.contains(where: { $0.story != nil }) else { return document }
        let names = settings.otherFeeds.union(settings.feeds.lazy.map(\.name)).subtracting([rules.name])
        let others = Set(names.map(EntryIdentity.idPrefix(ofFeed:)))
        var document = document
        for index in document.entries.indices {
            guard let story = document.entries[index].story else { continue }
            let prefix = story.utf8.firstIndex(of: UInt8(ascii: ":")).map { String(story[...$0]) }
            if let prefix, others.contains(prefix) { document.entries[index].story = nil }
        }
        return document
    }

    /// Stores the decisions on the state topic.
    ///
    /// - Parameter isPoll: false for a push, which leaves the next poll where it is. Otherwise pushes in a row would put it off for ever.
    private mutating func store(
        _ following: Following, of feed: inout FollowedFeed, state: FeedState, wasPrimed: Bool, isPoll: Bool,
        at now: Moment
    ) {
        for text in following.notes { note(.warning, feed.name, "Of this feed, \(text).") }
        feed.counts.add(following)
        let entries = following.changes.map { entry($0, feed) }
        let shared = following.sharedLinks
        for change in following.changes where change.event != nil {
            if var entry = change.state {
                if shared.contains(entry.link) { entry.link = 0 }
                remember(entry, by: [change.hash, change.former], of: feed, at: entry.lastSeen)
            }
        }
        let hasEvents = entries.contains { $0.record?.intent != nil }
        feed.state.lastNewAt = state.lastNewAt
        feed.state.medianGap = state.medianGap
        if isPoll { planNext(&feed, isChanged: hasEvents, at: now) }
        var state = state
        state.interval = feed.state.interval
        let storesFeed = hasEvents || feed.mustStore(state)
        // The state is updated in memory even if the change is too small to be stored now.
        if !storesFeed { feed.state = state }
        if entries.isEmpty, !storesFeed { return }
        let reading = FeedBatch.FirstReading(
            known: following.decisions.count, sent: following.count(.alert),
            withdrawn: following.decisions.count { $0.isWritten && $0.action != .alert })
        let batch = FeedBatch(
            feed: state, entries: entries, storesFeed: storesFeed, firstReading: wasPrimed ? nil : reading)
        begin(batch, for: &feed, at: now)
    }

    private mutating func entry(_ change: Following.Change, _ feed: FollowedFeed) -> FeedBatch.Entry {
        let readTo = partitions[feed.partition]?.readTo
        var record = change.record(in: feed.log, writer: feed.writer, after: readTo, order: nextOrder())
        record?.isOfFirstReading = !feed.state.isPrimed
        return FeedBatch.Entry(hash: change.hash, record: record)
    }
}
