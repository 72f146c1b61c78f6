import ByteText
import NewsModel

// The schedule of polls, and the requests.

extension Ingester {
    // MARK: - Plans

    /// Plans the first poll of a feed that is new to this process: soon, but not at the same time for all feeds.
    mutating func planFirst(_ feed: inout FollowedFeed, at now: Moment) {
        planHeldBack(&feed, at: now)
        guard let rules = feed.rules, !feed.state.isGone || feed.state.url != rules.url else { return }
        var random = chance(feed.name, number: 0)
        var delay = Duration.nanoseconds(
            Int64.random(in: 0...max(intervalMin(rules).nanoseconds, 0), using: &random))
        if feed.state.url == rules.url, let last = feed.state.lastSuccessAt, let interval = feed.state.interval,
            last <= now.wall
        {
            delay += min(max(interval - (now.wall - last), .zero), intervalMax(rules))
        }
        plan(&feed, at: now.steady + delay, because: "first polls are spread", now)
    }

    private mutating func plan(_ feed: inout FollowedFeed, after plan: Schedule.Plan, _ now: Moment) {
        var random = chance(feed.name, number: feed.counts.polls)
        let at = now.steady + Schedule.jittered(plan.interval, using: &random)
        self.plan(&feed, at: at, because: plan.because, now)
    }

    mutating func plan(_ feed: inout FollowedFeed, at: Instant, because: String, _ now: Moment) {
        guard isActive(feed), feed.rules != nil, let at = feed.planPoll(at: at, because: because, now) else { return }
        timers.add(.poll(feed.name, at: at), at: at)
    }

    /// Random numbers that depend only on process, feed and poll, so that no feed influences another's schedule.
    private func chance(_ name: String, number: Int) -> SeededRandom {
        SeededRandom(seed: StableHash.of([settings.writer, name]) &+ UInt64(truncatingIfNeeded: number))
    }

    func intervalMin(_ rules: FeedRules) -> Duration { max(rules.intervalMin ?? settings.intervalMin, .seconds(1)) }
    private func intervalMax(_ rules: FeedRules) -> Duration {
        max(rules.intervalMax ?? settings.intervalMax, intervalMin(rules))
    }

    mutating func planNext(_ feed: inout FollowedFeed, isChanged: Bool, at now: Moment) {
        guard let rules = feed.rules else { return }
        let schedule = Schedule(
            min: intervalMin(rules), max: intervalMax(rules), medianGap: feed.state.medianGap,
            last: feed.state.interval, lastNewAt: feed.state.lastNewAt, freshFor: feed.freshFor,
            hints: rules.isPolite ? feed.hints : nil, webSubFactor: feed.state.webSub.pollFactor(at: now.wall))
        let next = schedule.next(isChanged: isChanged, at: now.wall)
        feed.state.interval = next.interval
        plan(&feed, after: next, now)
        if let since = feed.noticeSilence(at: now.wall), let gap = feed.state.medianGap {
            let silence = "nothing new for \((now.wall - since).words), usually something every \(gap.words)"
            note(.notice, feed.name, "The feed is strangely quiet: \(silence).")
        }
    }

    mutating func planRetry(_ feed: inout FollowedFeed, at now: Moment) {
        guard let rules = feed.rules else { return }
        plan(&feed, after: Schedule.afterFailure(feed.state.failures, min: intervalMin(rules)), now)
    }

    // MARK: - Requests

    mutating func poll(_ feed: inout FollowedFeed, due: Instant, at now: Moment) {
        guard isSending(feed), feed.nextPoll == due else { return }
        feed.nextPoll = nil
        if batches >= Self.batchesMax {
            plan(&feed, at: now.steady + .seconds(1), because: "Kafka takes no more writes at the moment", now)
        } else {
            enqueue(&feed, at: now)
        }
    }

    mutating func enqueue(_ feed: inout FollowedFeed, at now: Moment) {
        guard isSending(feed), feed.fetch == nil, feed.queuedAt == nil, let url = feed.url(at: now.wall) else { return }
        guard feed.batch == nil, feed.waiting.isEmpty else {
            feed.isDue = true
            return
        }
        let host = (try? FetchAddress(url))?.host ?? url
        feed.queuedAt = host
        queue.add(feed.name, host: host, at: now.steady)
    }

    /// Sends the request of the feed whose turn it is.
    mutating func fetch(_ feed: inout FollowedFeed, host: String, at now: Moment) {
        feed.queuedAt = nil
        guard isSending(feed), let request = feed.request(at: now.wall) else {
            return queue.ended(host, at: now.steady)
        }
        let id = FetchID(nextID())
        fetches[id] = Fetch(feed: feed.name, host: host, request: request)
        feed.fetch(id, request)
        actions.append(.fetch(id, request))
    }

    mutating func fetched(_ id: FetchID, _ result: FetchResult, at now: Moment) {
        guard let fetch = fetches.removeValue(forKey: id) else { return }
        guard let host = fetch.host else {
            return change(fetch.feed) { $0.hubAnswered(id, &$1, result, at: now) }
        }
        queue.ended(host, at: now.steady)
        // A host's request to wait applies at once, even if nobody needs the answer any more.
        if let request = fetch.request,
            case .wait(let pause, let host, _) = AnswerVerdict(result, to: request, at: now.wall)
        {
            queue.block(host, until: now.steady + pause)
        }
        change(fetch.feed) { ingester, feed in
            guard let request = feed.fetched(id, at: now.wall), ingester.isOwned(feed), feed.rules != nil else {
                return
            }
            feed.waiting.append(.answer(result, request))
            ingester.proceed(&feed, at: now)
        }
    }
}
