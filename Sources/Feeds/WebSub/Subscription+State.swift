import ByteText
package import NewsModel

// The subscription as members of the feed's record on the state topic. Short names: every poll writes them.

extension Subscription {
    /// Writes its members into an object that the caller has begun.
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

    /// What cannot be read is left out: the feed is polled and asks its hub again.
    package init(_ object: JSONObject) {
        let fields = StateFields(object)
        offered = fields.object("offered").flatMap(PushSource.init)
        if let attempt = fields.object("asked").flatMap(Attempt.init) {
            state = .asked(attempt)
        } else if let lease = fields.object("active").flatMap(Lease.init) {
            state = .active(lease)
        } else if let denied = fields.object("denied"), let source = PushSource(denied) {
            state = .denied(source, until: denied.instant("until") ?? .distantPast)
        } else if let distrusted = fields.object("distrusted"), let source = PushSource(distrusted) {
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

    fileprivate init?(_ fields: StateFields) {
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

    fileprivate init?(_ fields: StateFields) {
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

    fileprivate init?(_ fields: StateFields) {
        guard let source = PushSource(fields), let callback = WebSubCallback(fields),
            let askedAt = fields.instant("askedAt")
        else { return nil }
        self.init(source: source, callback: callback, askedAt: askedAt)
    }
}

extension Subscription.Lease {
    fileprivate init?(_ fields: StateFields) {
        guard let source = PushSource(fields), let callback = WebSubCallback(fields),
            let until = fields.instant("until"), let renewAt = fields.instant("renewAt")
        else { return nil }
        self.init(
            source: source, callback: callback, until: until, renewAt: renewAt,
            renewal: fields.object("renewal").flatMap(Subscription.Attempt.init))
    }
}

/// The members of a small object, by name.
private struct StateFields {
    private let members: [String: JSONValue]

    init(_ object: JSONObject) {
        members = Dictionary(
            object.prefix(32).map { (String(decoding: $0.name, as: UTF8.self), $0.value) },
            uniquingKeysWith: { first, _ in first })
    }

    func text(_ name: String) -> String? {
        if case .string(let text) = members[name] { String(decoding: text, as: UTF8.self) } else { nil }
    }

    func instant(_ name: String) -> Instant? { text(name).flatMap { Instant(rfc3339: $0) } }

    func count(_ name: String, max: Int) -> Int {
        if case .integer(let number) = members[name] { Int(clamping: min(Swift.max(number, 0), Int64(max))) } else { 0 }
    }

    func flag(_ name: String) -> Bool {
        if case .boolean(true) = members[name] { true } else { false }
    }

    func object(_ name: String) -> StateFields? {
        if case .object(let object) = members[name] { StateFields(object) } else { nil }
    }
}
