import ByteText
package import NewsModel

// The subscription as members of the feed's record on the state topic. Names are short, because it is written often.

extension Subscription {
    /// Writes the members into an object that the caller has begun.
    package func write(into json: inout JSONWriter) {
        if let offered { json.object("offered") { offered.write(into: &$0) } }
        switch state {
        case .idle: break
        case .asked(let attempt): json.object("asked") { attempt.write(into: &$0) }
        case .active(let lease):
            json.object("active") { json in
                lease.source.write(into: &json)
                lease.callback.write(into: &json)
                json.field("until", lease.until)
                json.field("renewAt", lease.renewAt)
                if let renewal = lease.renewal { json.object("renewal") { renewal.write(into: &$0) } }
            }
        case .denied(let source, let until): json.object("denied") { source.write(into: &$0, until: until) }
        case .distrusted(let source, let until): json.object("distrusted") { source.write(into: &$0, until: until) }
        }
        if trust.pushedFirst > 0 { json.field("pushedFirst", trust.pushedFirst) }
        if trust.polledFirst > 0 { json.field("polledFirst", trust.polledFirst) }
        if trust.silentPolls > 0 { json.field("silentPolls", trust.silentPolls) }
        if omitsLease { json.field("omitsLease", true) }
        if failures > 0 { json.field("failures", failures) }
        if retryAt > .distantPast { json.field("retryAt", retryAt) }
        json.field("retired", retired)
    }

    /// Ignores unreadable members. The feed is then polled and asks its hub again.
    package init(_ object: JSONObject) {
        let fields = StateMembers(object)
        offered = fields.members("offered").flatMap(PushSource.init)
        if let attempt = fields.members("asked").flatMap(Attempt.init) {
            state = .asked(attempt)
        } else if let lease = fields.members("active").flatMap(Lease.init) {
            state = .active(lease)
        } else if let denied = fields.members("denied"), let source = PushSource(denied) {
            state = .denied(source, until: denied.instant("until") ?? .distantPast)
        } else if let distrusted = fields.members("distrusted"), let source = PushSource(distrusted) {
            state = .distrusted(source, until: distrusted.instant("until") ?? .distantPast)
        }
        trust.pushedFirst = fields.count("pushedFirst", max: PushTrust.tallyMax)
        trust.polledFirst = fields.count("polledFirst", max: PushTrust.tallyMax)
        trust.silentPolls = fields.count("silentPolls", max: PushTrust.silentPollsMax)
        omitsLease = fields.flag("omitsLease")
        failures = fields.count("failures", max: Self.failuresMax)
        retryAt = fields.instant("retryAt") ?? .distantPast
        retired = fields.text("retired")
    }
}

extension PushSource {
    fileprivate func write(into json: inout JSONWriter, until: Instant? = nil) {
        json.field("hub", hub)
        json.field("topic", topic)
        json.field("until", until)
    }

    fileprivate init?(_ fields: StateMembers) {
        guard let hub = fields.text("hub"), let topic = fields.text("topic") else { return nil }
        self.init(hub: hub, topic: topic)
    }
}

extension WebSubCallback {
    fileprivate func write(into json: inout JSONWriter) {
        json.field("base", base)
        json.field("path", path)
        json.field("secret", secret)
    }

    fileprivate init?(_ fields: StateMembers) {
        guard let base = fields.text("base"), let path = fields.text("path") else { return nil }
        self.init(base: base, path: path, secret: fields.text("secret"))
    }
}

extension Subscription.Attempt {
    fileprivate func write(into json: inout JSONWriter) {
        source.write(into: &json)
        callback.write(into: &json)
        json.field("askedAt", askedAt)
    }

    fileprivate init?(_ fields: StateMembers) {
        guard let source = PushSource(fields), let callback = WebSubCallback(fields),
            let askedAt = fields.instant("askedAt")
        else { return nil }
        self.init(source: source, callback: callback, askedAt: askedAt)
    }
}

extension Subscription.Lease {
    fileprivate init?(_ fields: StateMembers) {
        guard let source = PushSource(fields), let callback = WebSubCallback(fields),
            let until = fields.instant("until"), let renewAt = fields.instant("renewAt")
        else { return nil }
        self.init(
            source: source, callback: callback, until: until, renewAt: renewAt,
            renewal: fields.members("renewal").flatMap(Subscription.Attempt.init))
    }
}

extension StateMembers {
    fileprivate func count(_ name: StaticString, max: Int) -> Int {
        min(Int(clamping: Swift.max(number(name) ?? 0, 0)), max)
    }
}
