import ByteText
import Crypto
import NewsModel

// Requests to hubs, and calls from hubs.

extension Ingester {
    /// Plans the next form for the feed's hub, if it will ever be due.
    mutating func planHub(_ name: String, at now: Moment) {
        guard let base = settings.webSubURL, let due = lives[name]?.state.webSub.dueAt(base: base) else { return }
        let at = now.steady + max(due - now.wall, .seconds(1))
        if let planned = lives[name]?.hubAt, planned <= at { return }
        lives[name]?.hubAt = at
        timers.add(.hub(name), at: at)
    }

    mutating func learnPolled(_ name: String, new: Int, at now: Moment) {
        guard settings.webSubURL != nil else { return }
        if var said = lives[name]?.state.webSub.polled(new: new, at: now.wall) {
            said.feed = name
            actions.append(.note(said))
        }
        planHub(name, at: now)
    }

    mutating func askHub(_ name: String, at now: Moment) {
        if let planned = lives[name]?.hubAt, planned <= now.steady { lives[name]?.hubAt = nil }
        guard isOwned(name), let base = settings.webSubURL, let life = lives[name], let rules = life.rules,
            life.post == nil, rules.usesWebSub, !isFinishing, !stopped.contains(name)
        else { return }
        guard life.batch == nil else {
            lives[name]?.hubAt = now.steady + .seconds(5)
            timers.add(.hub(name), at: now.steady + .seconds(5))
            return
        }
        guard (life.state.webSub.dueAt(base: base) ?? .distantFuture) <= now.wall else {
            planHub(name, at: now)
            return
        }
        var random = CallbackSecrets(key: settings.secret, count: lastSecret)
        let request = lives[name]?.state.webSub.request(
            base: base, at: now.wall, allowPrivate: rules.allowPrivate, using: &random)
        lastSecret = random.count
        learnCallbacks(name)
        planHub(name, at: now)
        guard var request = request ?? nil else { return }
        request.port = (try? FetchAddress(rules.url))?.port
        // The state is stored first, because a hub may verify at once, and another process may have to answer.
        storeIfChanged(name, at: now, post: request)
    }

    mutating func send(_ request: WebSubRequest, for name: String) {
        let id = FetchID(nextID())
        fetches[id] = Fetch(feed: name, host: nil, request: nil)
        lives[name]?.post = id
        actions.append(.post(id, request))
    }

    mutating func hubAnswered(_ id: FetchID, _ name: String, _ result: FetchResult, at now: Moment) {
        guard lives[name]?.post == id else { return }
        lives[name]?.post = nil
        if var said = lives[name]?.state.webSub.answered(result, at: now.wall) {
            said.feed = name
            actions.append(.note(said))
        }
        lives[name]?.wantsStore = true
        planHub(name, at: now)
        proceed(name, at: now)
    }

    /// Registers the feed's callback paths, so that calls find their feed.
    mutating func learnCallbacks(_ name: String) {
        for path in lives[name]?.state.webSub.paths ?? [] { callbacks[path] = name }
    }

    mutating func called(_ id: CallbackID, _ call: WebSubCall, at now: Moment) {
        guard let name = callbacks[call.path], isOwned(name), let life = lives[name], life.rules != nil,
            life.state.webSub.paths.contains(call.path)
        else {
            // While the state is being read, the answer is 503, because a hub would take a 404 as a refusal.
            let mayBeOurs = partitions.values.contains { $0.stage == .restoring }
            actions.append(.answer(id, mayBeOurs ? WebSubAnswer(status: 503) : Subscription.unknownCallback))
            return
        }
        switch call.kind {
        case .verification(let query):
            if let said = lives[name]?.state.webSub.verify(query, path: call.path, at: now.wall) {
                actions.append(.answer(id, said.answer))
                if var note = said.note {
                    note.feed = name
                    actions.append(.note(note))
                }
            }
            lives[name]?.wantsStore = true
            planHub(name, at: now)
            proceed(name, at: now)
        case .delivery(let headers, let body): delivered(id, name, call.path, headers, body, at: now)
        }
    }

    private mutating func delivered(
        _ id: CallbackID, _ name: String, _ path: String, _ headers: [HeaderField], _ body: [UInt8], at now: Moment
    ) {
        guard let life = lives[name], let rules = life.rules else { return }
        guard life.waiting.count < FeedLife.waitingMax, !isFinishing else {
            // The hub retries the delivery.
            actions.append(.answer(id, WebSubAnswer(status: 503)))
            return
        }
        guard let said = lives[name]?.state.webSub.receive(headers: headers, body: body, path: path, at: now.wall)
        else {
            return
        }
        actions.append(.answer(id, said.answer))
        switch said.delivery {
        case .unwanted: break
        case .forged: lives[name]?.counts.forgedPushes += 1
        case .hint: pollSoon(name, because: "the hub says that there is something new", at: now)
        case .news(let topic):
            guard !stopped.contains(name) else { return }
            let charset = headers.first { $0.name == "content-type" }.flatMap { Self.charset($0.value) }
            let source = DocumentSource(address: topic, charset: charset, zoneMinutes: rules.zoneMinutes)
            do throws(NotAFeed) {
                lives[name]?.waiting.append(.delivery(try FeedReader.read(body, from: source)))
            } catch {
                note(.warning, name, "What the hub pushed cannot be read: \(error.detail)")
                pollSoon(name, because: "the hub pushed something that cannot be read", at: now)
            }
            proceed(name, at: now)
        }
    }

    /// Brings the next poll forward. Neither a hub nor anybody who poses as one can make polls more frequent than the
    /// feed's minimum interval allows.
    private mutating func pollSoon(_ name: String, because: String, at now: Moment) {
        guard let life = lives[name], let rules = life.rules else { return }
        let sinceLast = life.lastPollAt.map { max(now.wall - $0, .zero) } ?? .seconds(86_400)
        let at = now.steady + max(intervalMin(rules) - sinceLast, .zero)
        if let planned = life.nextPoll, planned <= at { return }
        plan(name, at: at, because: because, now)
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
