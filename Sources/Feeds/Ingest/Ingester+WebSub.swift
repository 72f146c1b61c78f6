import ByteText
import Crypto
import NewsModel

// Requests to hubs, and calls from hubs.

extension Ingester {
    /// Plans the next form for the feed's hub, if it will ever be due.
    private mutating func planHub(_ feed: inout FollowedFeed, at now: Moment) {
        guard let base = settings.webSubURL, let due = feed.state.webSub.dueAt(base: base) else { return }
        wakeHub(&feed, at: now.steady + max(due - now.wall, .seconds(1)))
    }

    private mutating func wakeHub(_ feed: inout FollowedFeed, at: Instant) {
        if feed.hubTimer.set(at) { timers.add(.hub(feed.name), at: at) }
    }

    /// Tells the subscription that a poll has been answered.
    /// - Parameter new: number of entries that were news.
    mutating func learnPolled(_ feed: inout FollowedFeed, new: Int, at now: Moment) {
        guard settings.webSubURL != nil else { return }
        note(feed.state.webSub.polled(new: new, at: now.wall), of: feed.name)
        planHub(&feed, at: now)
    }

    private mutating func note(_ note: IngestNote?, of feed: String) {
        guard let note else { return }
        self.note(note.level, feed, note.text)
    }

    mutating func askHub(_ feed: inout FollowedFeed, at now: Moment) {
        feed.hubTimer.ends(at: now.steady)
        guard let base = settings.webSubURL, isSending(feed), let rules = feed.rules, rules.usesWebSub,
            feed.post == nil
        else { return }
        guard feed.batch == nil else { return wakeHub(&feed, at: now.steady + .seconds(5)) }
        guard (feed.state.webSub.dueAt(base: base) ?? .distantFuture) <= now.wall else {
            return planHub(&feed, at: now)
        }
        var random = CallbackSecrets(key: settings.secret, count: lastSecret)
        let address = try? FetchAddress(rules.url)
        let request = feed.state.webSub.request(
            base: base, at: now.wall, allowPrivate: rules.allowPrivate, isPlain: address?.isSecure == false,
            using: &random)
        lastSecret = random.count
        learnCallbacks(of: &feed)
        planHub(&feed, at: now)
        guard var request else { return }
        request.port = address?.port
        // The state is stored first, because a hub may verify at once, and another process may have to answer.
        storeIfChanged(&feed, at: now, post: request)
    }

    mutating func send(_ request: WebSubRequest, for feed: inout FollowedFeed) {
        let id = FetchID(nextID())
        fetches[id] = Fetch(feed: feed.name)
        feed.post = id
        actions.append(.post(id, request))
    }

    mutating func hubAnswered(_ id: FetchID, _ feed: inout FollowedFeed, _ result: FetchResult, at now: Moment) {
        guard feed.post == id else { return }
        feed.post = nil
        note(feed.state.webSub.answered(result, at: now.wall), of: feed.name)
        storeSubscription(&feed, at: now)
    }

    /// Stores the subscription as soon as no batch is in progress.
    private mutating func storeSubscription(_ feed: inout FollowedFeed, at now: Moment) {
        feed.wantsStore = true
        planHub(&feed, at: now)
        proceed(&feed, at: now)
    }

    /// Registers the feed's callback paths in place of its former ones, so that calls find their feed.
    mutating func learnCallbacks(of feed: inout FollowedFeed) {
        forgetCallbacks(of: feed)
        feed.callbackPaths = feed.state.webSub.paths
        for path in feed.callbackPaths { callbacks[path] = feed.name }
    }

    mutating func forgetCallbacks(of feed: FollowedFeed) {
        for path in feed.callbackPaths where callbacks[path] == feed.name { callbacks[path] = nil }
    }

    mutating func receive(_ call: WebSubCall, _ id: CallbackID, at now: Moment) {
        var isKnown = false
        change(callbacks[call.path]) { ingester, feed in
            guard ingester.isOwned(feed), feed.rules != nil, feed.state.webSub.paths.contains(call.path) else { return }
            isKnown = true
            switch call.kind {
            case .verification(let query):
                let reply = feed.state.webSub.verify(query, path: call.path, at: now.wall)
                ingester.actions.append(.answer(id, reply.answer))
                ingester.note(reply.note, of: feed.name)
                ingester.storeSubscription(&feed, at: now)
            case .delivery(let headers, let body):
                ingester.receive(body, headers, of: id, path: call.path, &feed, at: now)
            }
        }
        if isKnown { return }
        // Another process may own the feed, or its state is still being read. A hub calls again after 503, and takes 404 as a refusal.
        let ownsAll = (0..<settings.partitions).allSatisfy { partitions[$0]?.stage == .owned }
        actions.append(.answer(id, ownsAll ? Subscription.unknownCallback : WebSubAnswer(status: 503)))
    }

    private mutating func receive(
        _ body: [UInt8], _ headers: [HeaderField], of id: CallbackID, path: String, _ feed: inout FollowedFeed,
        at now: Moment
    ) {
        guard let rules = feed.rules, feed.waiting.count < FollowedFeed.waitingMax, !isFinishing else {
            // The hub retries the delivery.
            actions.append(.answer(id, WebSubAnswer(status: 503)))
            return
        }
        let reply = feed.state.webSub.receive(headers: headers, body: body, path: path, at: now.wall)
        actions.append(.answer(id, reply.answer))
        switch reply.delivery {
        case .unwanted: break
        case .forged: feed.counts.forgedPushes += 1
        case .hint: pollSoon(&feed, because: "the hub says that there is something new", at: now)
        case .news(let topic):
            guard !stopped.contains(feed.name) else { return }
            let charset = headers.first { $0.name == "content-type" }.flatMap { Self.charset($0.value) }
            let source = DocumentSource(address: topic, charset: charset, zoneMinutes: rules.zoneMinutes)
            do throws(NotAFeed) {
                feed.waiting.append(.delivery(try FeedReader.read(body, from: source)))
            } catch {
                note(.warning, feed.name, "What the hub pushed cannot be read: \(error.detail)")
                pollSoon(&feed, because: "the hub pushed something that cannot be read", at: now)
            }
            proceed(&feed, at: now)
        }
    }

    /// Brings the next poll forward. Neither a hub nor anybody who poses as one can make polls more frequent than the
    /// feed's minimum interval allows.
    mutating func pollSoon(_ feed: inout FollowedFeed, because: String, at now: Moment) {
        guard let rules = feed.rules else { return }
        let sinceLast = feed.lastPollAt.map { max(now.wall - $0, .zero) } ?? .seconds(86_400)
        let at = now.steady + max(intervalMin(rules) - sinceLast, .zero)
        if let planned = feed.nextPoll, planned <= at { return }
        plan(&feed, at: at, because: because, now)
    }
}

extension Ingester {
    /// Returns the `charset` parameter of a Content-Type.
    static func charset(_ type: String) -> String? {
        for parameter in type.split(separator: ";").dropFirst() {
            let parts = parameter.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0].trimmed.asciiLowercased == "charset" else { continue }
            return String(parts[1].trimmed.filter { $0 != "\"" })
        }
        return nil
    }
}

/// Random words that cannot be predicted from other words: hashes of a secret key and a number.
private struct CallbackSecrets: RandomNumberGenerator {
    let key: [UInt8]
    var count: UInt64

    mutating func next() -> UInt64 {
        var hasher = SHA256()
        key.withUnsafeBytes { hasher.update(bufferPointer: $0) }
        withUnsafeBytes(of: count.littleEndian) { hasher.update(bufferPointer: $0) }
        count += 1
        return hasher.finalize().prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
