import ByteText
import NewsModel

// The schedule of polls, and the effects of their answers.

extension Ingester {
    // MARK: - Plans

    /// Plans the first poll of a feed that is new to this process: soon, but not at the same time for all feeds.
    mutating func planFirst(_ name: String, at now: Moment) {
        planHeldBack(name, at: now)
        guard let life = lives[name], let rules = life.rules, !life.state.isGone || life.state.url != rules.url else {
            return
        }
        let least = intervalMin(rules)
        var random = chance(name, number: 0)
        var delay = Duration.nanoseconds(Int64.random(in: 0...max(least.nanoseconds, 0), using: &random))
        if life.state.url == rules.url, let last = life.state.lastSuccessAt, let interval = life.state.interval,
            last <= now.wall
        {
            delay += min(max(interval - (now.wall - last), .zero), intervalMax(rules))
        }
        plan(name, at: now.steady + delay, because: "first polls are spread", now)
    }

    mutating func plan(_ name: String, after plan: Schedule.Plan, _ now: Moment) {
        guard let life = lives[name] else { return }
        var random = chance(name, number: life.counts.polls)
        let at = now.steady + Schedule.jittered(plan.interval, using: &random)
        self.plan(name, at: at, because: plan.because, now)
    }

    mutating func plan(_ name: String, at: Instant, because: String, _ now: Moment) {
        guard isOwned(name), let life = lives[name], life.rules != nil, !isFinishing else { return }
        var at = at
        if let until = life.state.retryUntil, until > now.wall { at = max(at, now.steady + (until - now.wall)) }
        lives[name]?.because = because
        // A poll that must wait may be requested any number of times. Its timer exists already.
        if let planned = life.nextPoll, planned > now.steady, planned <= at, at - planned < .seconds(1) { return }
        lives[name]?.plan += 1
        lives[name]?.nextPoll = at
        timers.add(.poll(name, plan: life.plan + 1), at: at)
    }

    /// Random numbers that depend only on process, feed and poll, so that no feed influences another's schedule.
    private func chance(_ name: String, number: Int) -> SeededRandom {
        SeededRandom(seed: StableHash.of([settings.writer, name]) &+ UInt64(truncatingIfNeeded: number))
    }

    func intervalMin(_ rules: FeedRules) -> Duration { max(rules.intervalMin ?? settings.intervalMin, .seconds(1)) }
    func intervalMax(_ rules: FeedRules) -> Duration {
        max(rules.intervalMax ?? settings.intervalMax, intervalMin(rules))
    }

    mutating func pollDue(_ name: String, plan number: UInt64, at now: Moment) {
        guard isOwned(name), let life = lives[name], life.plan == number, life.rules != nil, !stopped.contains(name),
            !isFinishing
        else { return }
        lives[name]?.nextPoll = nil
        if batches >= Self.batchesMax {
            plan(name, at: now.steady + .seconds(1), because: "Kafka takes no more writes at the moment", now)
        } else {
            enqueue(name, at: now)
        }
    }

    mutating func enqueue(_ name: String, at now: Moment) {
        guard isOwned(name), let life = lives[name], life.fetch == nil, life.queuedAt == nil, !isFinishing,
            !stopped.contains(name), let url = life.url(at: now.wall)
        else { return }
        guard life.batch == nil, life.waiting.isEmpty else {
            lives[name]?.isDue = true
            return
        }
        let host = (try? FetchAddress(url))?.host ?? url
        lives[name]?.queuedAt = host
        queue.add(name, host: host, at: now.steady)
    }

    // MARK: - Fetching

    mutating func beginFetch(_ name: String, host: String, at now: Moment) {
        guard isOwned(name), let life = lives[name], let rules = life.rules, let url = life.url(at: now.wall),
            !stopped.contains(name), !isFinishing
        else {
            lives[name]?.queuedAt = nil
            queue.ended(host, at: now.steady)
            return
        }
        lives[name]?.queuedAt = nil
        var request = FetchRequest(url: url)
        if life.state.url == rules.url {
            request.validators = hasOldValidators(life.state, at: now.wall) ? nil : life.state.validators
            request.knownBodyHash = life.state.bodyHash
        }
        request.headers = rules.headers
        request.allowPrivate = rules.allowPrivate
        request.zoneMinutes = rules.zoneMinutes
        let id = FetchID(nextID())
        fetches[id] = Fetch(feed: name, host: host, request: request)
        lives[name]?.fetch = FeedLife.Fetching(id: id, request: request, host: host)
        lives[name]?.counts.polls += 1
        actions.append(.fetch(id, request))
    }

    /// Returns true if validators are to be left out once, because some servers answer "not changed" to anything.
    private func hasOldValidators(_ state: FeedState, at wall: Instant) -> Bool {
        guard let since = state.validatorsSince else { return false }
        return wall - since >= .seconds(8 * 86_400)
    }

    mutating func fetched(_ id: FetchID, _ result: FetchResult, at now: Moment) {
        guard let fetch = fetches.removeValue(forKey: id) else { return }
        guard let host = fetch.host else {
            hubAnswered(id, fetch.feed, result, at: now)
            return
        }
        queue.ended(host, at: now.steady)
        // A host's request to wait applies at once, even if nobody needs the answer any more.
        if let request = fetch.request,
            case .wait(let pause, let host, _) = AnswerVerdict(result, to: request, at: now.wall)
        {
            queue.block(host, until: now.steady + pause)
        }
        guard let request = lives[fetch.feed]?.fetch?.request, lives[fetch.feed]?.fetch?.id == id else { return }
        lives[fetch.feed]?.fetch = nil
        lives[fetch.feed]?.lastPollAt = now.wall
        guard isOwned(fetch.feed), lives[fetch.feed]?.rules != nil else { return }
        lives[fetch.feed]?.waiting.append(.answer(result, request))
        proceed(fetch.feed, at: now)
    }

    // MARK: - Answers

    mutating func judge(_ name: String, _ result: FetchResult, _ request: FetchRequest, at now: Moment) {
        guard let rules = lives[name]?.rules else { return }
        if lives[name]?.state.url != rules.url { restart(name, url: rules.url) }
        switch AnswerVerdict(result, to: request, at: now.wall) {
        case .canceled: plan(name, at: now.steady + intervalMin(rules), because: "the last poll was given up", now)
        case .gone:
            lives[name]?.state.isGone = true
            lives[name]?.because = "the publisher says that the feed is gone (410)"
            note(
                .error, name,
                "The publisher says that the feed is gone (410). It is not polled any more; remove it, or correct its url."
            )
            storeIfChanged(name, at: now)
        case .failed(let trouble): failed(name, trouble, at: now)
        case .wait(let pause, let host, let trouble): mustWait(name, pause, host: host, trouble, at: now)
        case .unchanged(let receipt):
            lives[name]?.counts.unchanged += 1
            let state = succeeded(name, receipt, request, at: now)
            lives[name]?.state = state
            learnPolled(name, new: 0, at: now)
            planNext(name, isChanged: false, at: now)
            storeIfChanged(name, at: now)
        case .changed(let document, let receipt): follow(name, document, receipt, request, result, at: now)
        }
    }

    /// Discards what was learned from the old address, because the settings now name another. Its entries stay known.
    private mutating func restart(_ name: String, url: String) {
        lives[name]?.state.url = url
        lives[name]?.state.validators = nil
        lives[name]?.state.bodyHash = nil
        lives[name]?.state.isGone = false
        lives[name]?.state.move = nil
        lives[name]?.state.failures = 0
        lives[name]?.state.failingSince = nil
        lives[name]?.state.failure = nil
    }

    private mutating func failed(_ name: String, _ trouble: Trouble, at now: Moment) {
        guard let life = lives[name], let rules = life.rules else { return }
        let failures = min(life.state.failures, 1_000_000) + 1
        lives[name]?.counts.failures += 1
        lives[name]?.state.failures = failures
        lives[name]?.state.failingSince = life.state.failingSince ?? now.wall
        lives[name]?.state.failure = trouble.detail
        let level: IngestNote.Level = failures == Self.failuresUntilAlarm ? .error : failures == 1 ? .warning : .debug
        note(level, name, "Poll \(failures) in a row failed: \(trouble.detail).")
        plan(name, after: Schedule.afterFailure(failures, min: intervalMin(rules)), now)
        storeIfChanged(name, at: now)
    }

    static let failuresUntilAlarm = 3

    private mutating func mustWait(_ name: String, _ pause: Duration, host: String, _ trouble: Trouble, at now: Moment)
    {
        guard let life = lives[name] else { return }
        let until = now.steady + pause
        queue.block(host, until: until)
        if let own = life.url(at: now.wall).flatMap({ try? FetchAddress($0) })?.host, own != host {
            queue.block(own, until: until)
        }
        lives[name]?.counts.failures += 1
        lives[name]?.state.retryUntil = now.wall + pause
        lives[name]?.state.failure = trouble.detail
        note(.warning, name, "\(host) is left alone for \(pause.words): \(trouble.detail).")
        plan(name, at: until, because: "the publisher asks to wait", now)
        storeIfChanged(name, at: now)
    }

    /// The feed's state after a successful answer. Entries are handled separately.
    private mutating func succeeded(
        _ name: String, _ receipt: AnswerVerdict.Receipt, _ request: FetchRequest, at now: Moment
    ) -> FeedState {
        guard var state = lives[name]?.state else { return FeedState() }
        if state.failures >= Self.failuresUntilAlarm { note(.notice, name, "The feed answers again.") }
        if receipt.validators == nil {
            state.validatorsSince = nil
        } else if request.validators == nil || state.validatorsSince == nil {
            state.validatorsSince = now.wall
        }
        state.validators = receipt.validators
        state.bodyHash = receipt.bodyHash
        let wasProven = state.move?.isProven(at: now.wall) ?? false
        if !wasProven {
            state.move = MovedAddress.after(state.move, receipt.move, at: now.wall)
            if let move = state.move, move.isProven(at: now.wall) {
                note(
                    .warning, name,
                    "The feed has moved for good to \(WebAddress(move.move.to)?.shown ?? "another address"); set its url."
                )
            }
        }
        state.failures = 0
        state.failingSince = nil
        state.failure = nil
        state.retryUntil = nil
        state.isGone = false
        state.lastSuccessAt = now.wall
        lives[name]?.freshFor = receipt.freshFor
        return state
    }

    mutating func planNext(_ name: String, isChanged: Bool, at now: Moment) {
        guard let life = lives[name], let rules = life.rules else { return }
        let schedule = Schedule(
            min: intervalMin(rules), max: intervalMax(rules), medianGap: life.state.medianGap,
            last: life.state.interval,
            lastNewAt: life.state.lastNewAt, freshFor: life.freshFor, hints: rules.isPolite ? life.hints : nil,
            webSubFactor: life.state.webSub.pollFactor(at: now.wall))
        let next = schedule.next(isChanged: isChanged, at: now.wall)
        lives[name]?.state.interval = next.interval
        plan(name, after: next, now)
        noteSilence(name, at: now)
    }

    /// Logs each silence once.
    private mutating func noteSilence(_ name: String, at now: Moment) {
        guard let life = lives[name] else { return }
        let isQuiet = life.state.isQuiet(at: now.wall)
        if isQuiet, !life.isQuiet, let gap = life.state.medianGap,
            let since = life.state.lastNewAt ?? life.state.primedAt
        {
            note(
                .notice, name,
                "The feed is strangely quiet: nothing new for \((now.wall - since).words), usually something every \(gap.words)."
            )
        }
        lives[name]?.isQuiet = isQuiet
    }

    // MARK: - Documents

    private mutating func follow(
        _ name: String, _ document: FeedDocument, _ receipt: AnswerVerdict.Receipt, _ request: FetchRequest,
        _ result: FetchResult, at now: Moment
    ) {
        guard let life = lives[name], let rules = life.rules else { return }
        let following = following(document, life, rules, isPartial: false, at: now)
        var state = succeeded(name, receipt, request, at: now)
        state.primedAt = following.feed.primedAt
        state.isHalfPrimed = !life.state.isPrimed && document.isCutOff
        state.hasDegraded = following.feed.hasDegraded
        state.medianGap = following.feed.medianGap
        state.lastNewAt = following.feed.lastNewAt
        state.cappedAt = following.feed.cappedAt
        if case .answered(let answer) = result {
            lives[name]?.counts.bytes += Int64(max(answer.bodyBytes, 0))
            if settings.webSubURL != nil, rules.usesWebSub {
                lives[name]?.state.webSub.learn(PushSource(answer), at: now.wall)
            }
        }
        lives[name]?.hints = document.hints
        lives[name]?.counts.unreadableDates += document.unreadableDates
        if let first = document.skipped.first, life.skipped != document.skipped {
            let id = first.id.map { "`\($0.prefix(100))`: " } ?? ""
            note(
                .warning, name,
                "\(counted(document.skipped.count, "item")) of the feed are left out. The first is \(id)\(first.reason)."
            )
        }
        lives[name]?.skipped = document.skipped
        learnPolled(name, new: following.count(.alert), at: now)
        if let webSub = lives[name]?.state.webSub { state.webSub = webSub }
        record(name, following, state: state, wasPrimed: life.state.isPrimed, at: now)
    }

    /// Follows a document that a hub has pushed. The same rules apply, but it proves nothing about the feed as a whole.
    mutating func follow(_ name: String, delivery document: FeedDocument, at now: Moment) {
        guard let life = lives[name], let rules = life.rules, life.state.isPrimed else { return }
        let following = following(document, life, rules, isPartial: true, at: now)
        lives[name]?.state.webSub.pushed(new: following.count(.alert), at: now.wall)
        lives[name]?.counts.pushes += 1
        var state = life.state
        state.hasDegraded = following.feed.hasDegraded
        state.lastNewAt = following.feed.lastNewAt
        state.cappedAt = following.feed.cappedAt
        state.webSub = lives[name]?.state.webSub ?? state.webSub
        record(name, following, state: state, wasPrimed: true, at: now)
    }

    private func following(
        _ document: FeedDocument, _ life: FeedLife, _ rules: FeedRules, isPartial: Bool, at now: Moment
    ) -> Following {
        Follower.follow(
            document, rules: rules, feed: life.state, log: life.log,
            group: rules.group.flatMap { groups[$0] } ?? GroupMemory(), lane: settings.lane,
            backfillLane: settings.backfillLane, isPartial: isPartial, at: now.wall)
    }

    /// Stores the decisions on the state topic.
    private mutating func record(
        _ name: String, _ following: Following, state: FeedState, wasPrimed: Bool, at now: Moment
    ) {
        guard let life = lives[name] else { return }
        for text in following.notes { note(.warning, name, "Of this feed, \(text).") }
        lives[name]?.counts.add(following)
        var batch = FeedBatch(feed: state, storesFeed: true)
        if !wasPrimed {
            batch.firstReading = .init(known: following.decisions.count, sent: following.count(.alert))
        }
        batch.entries = following.changes.map { entry($0, life) }
        let hasEvents = batch.entries.contains { $0.record?.intent != nil }
        remember(following, of: life)
        lives[name]?.state.lastNewAt = state.lastNewAt
        lives[name]?.state.medianGap = state.medianGap
        planNext(name, isChanged: hasEvents, at: now)
        batch.feed.interval = lives[name]?.state.interval
        batch.storesFeed = hasEvents || mustStore(life, batch.feed)
        if batch.entries.isEmpty, !batch.storesFeed {
            lives[name]?.state = batch.feed
        } else {
            // The state is updated in memory even if the change is too small to be stored now.
            if !batch.storesFeed { lives[name]?.state = batch.feed }
            begin(batch, for: name, at: now)
        }
    }

    private mutating func entry(_ change: Following.Change, _ life: FeedLife) -> FeedBatch.Entry {
        guard let state = change.state else { return FeedBatch.Entry(hash: change.hash) }
        var record = EntryRecord(state: state, name: change.name, writer: life.writer)
        record.after = partitions[life.partition]?.readTo
        record.former = change.former
        switch change.heldBack {
        case .kept: record.heldBack = life.log.heldBack[change.hash]
        case .dropped: break
        case .replaced(let held): record.heldBack = held
        }
        if let written = change.event {
            lastOrder += 1
            var bytes: [UInt8] = []
            written.event.encode(into: &bytes)
            record.intent = Intent(
                lane: written.lane, key: written.event.orderKey, event: bytes, order: lastOrder)
        }
        return FeedBatch.Entry(hash: change.hash, record: record)
    }

    private mutating func remember(_ following: Following, of life: FeedLife) {
        guard let group = life.rules?.group else { return }
        for change in following.changes where change.event != nil {
            guard let state = change.state else { continue }
            groups[group, default: GroupMemory()].note(
                link: state.link, title: state.title, feed: life.name, at: state.lastSeen)
        }
    }
}
