import ByteText
package import Feeds

/// Everything about feeds that an operator may set.
package struct IngestConfiguration: Sendable {
    /// The settings of the `Ingester`. Its `partitions` and `writer` are known only at run time.
    package var feeds: IngestSettings
    package var stateTopic: String
    /// The address that WebSub hubs reach by `feeds.webSubURL`; `nil` without WebSub.
    package var webSubListen: NetworkAddress?
    /// The address of the status page; `nil` if it is off.
    package var listen: NetworkAddress?
    /// An address at which publishers can reach us, sent as part of the `User-Agent`.
    package var contact: String?

    package var isConfigured: Bool { !feeds.feeds.isEmpty }
}

extension IngestConfiguration {
    /// - Parameter lanes: the names of all lanes, highest urgency first.
    init(_ reader: inout SettingsReader, lanes: [String]) {
        feeds = IngestSettings()
        feeds.lane = reader.text("ingest.lane") ?? ""
        // Without such a lane old entries are not written, because they must not take the lane of the news.
        feeds.backfillLane = lanes.contains(feeds.backfillLane) ? feeds.backfillLane : ""
        feeds.intervalMin = reader.duration("ingest.interval.min")
        feeds.intervalMax = reader.duration("ingest.interval.max")
        feeds.inFlightMax = reader.integer("ingest.inFlight")
        feeds.webSubURL = reader.text("ingest.websub.publicURL").map { $0.hasSuffix("/") ? $0 : $0 + "/" }
        let listen = reader.address("ingest.websub.listen")
        webSubListen = feeds.webSubURL == nil ? nil : listen
        self.listen = reader.address("ingest.listen")
        contact = reader.text("ingest.contact")
        stateTopic = reader.text("ingest.stateTopic") ?? ""
        feeds.feeds = reader.names(under: "ingest.feeds").map { FeedRules(named: $0, &reader) }
    }
}

extension FeedRules {
    /// Reads only what the file has, because 30 defaults for each of thousands of feeds would be looked up for nothing.
    fileprivate init(named name: String, _ reader: inout SettingsReader) {
        let path = "ingest.feeds" / name
        self.init(name: name, url: reader.text(path / "url") ?? "")
        isURLSecret = reader.effective.last?.values == [Secret.mask]
        category = reader.givenText(path / "category")
        for word in reader.names(under: path / "map") {
            // Names are compared without regard to case.
            categoryMap[word.lowercased()] = reader.text(path / "map" / word)
        }
        otherwise = reader.givenText(path / "default").flatMap { $0 == "drop" ? nil : $0 }
        lane = reader.givenText(path / "lane")
        if reader.isGiven(path / "maxAge") { maxAge = reader.durationOrNone(path / "maxAge") }
        if let word = reader.givenText(path / "updates") {
            updates = UpdatePolicy(rawValue: word) ?? updates
        }
        if let word = reader.givenText(path / "onFirstSight") {
            onFirstSight = FirstSight(word) ?? reader.unclear(path / "onFirstSight", "silent, last:N or all", .silent)
        }
        if let word = reader.givenText(path / "identity") {
            identity =
                IdentityRule(word)
                ?? reader.unclear(path / "identity", "guid, link, link+title or regex:EXPRESSION", .automatic)
            if case .pattern(let text) = identity, let problem = BoundedExpression.problem(of: text) {
                reader.report(
                    path / "identity", "is not understood: \(problem)", "write a regular expression of PCRE2")
            }
        }
        if let most = reader.given(path / "maxPerPoll", { $0.integerOrWord($1) }) { maxPerPoll = most }
        if let most = reader.given(path / "maxPerHour", { $0.integerOrWord($1) }) { maxPerHour = most }
        if let most = reader.given(path / "maxVersionsPerHour", { $0.integerOrWord($1) }) { maxVersionsPerHour = most }
        isUndated = reader.given(path / "undated") { $0.boolean($1) } ?? isUndated
        catchUpIsLive = reader.givenText(path / "catchUp") == "live"
        futureDatesAreEmbargoes = reader.givenText(path / "futureDates") == "embargo"
        isPolite = reader.given(path / "polite") { $0.boolean($1) } ?? isPolite
        strip = reader.given(path / "strip") { $0.texts($1) } ?? []
        for signal in Signal.allCases {
            signals[signal] = reader.given(path / "signals" / signal.rawValue) { $0.texts($1) }
        }
        group = reader.givenText(path / "group")
        if let word = reader.givenText(path / "zone") {
            zoneMinutes = ZoneOffset.minutes(word) ?? reader.unclear(path / "zone", ZoneOffset.expectation, 0)
        }
        intervalMin = reader.given(path / "interval" / "min") { $0.durationOrNone($1) }
        intervalMax = reader.given(path / "interval" / "max") { $0.durationOrNone($1) }
        headers = reader.secretFields(under: path / "headers").map { HeaderField($0.name, $0.value.revealed) }
        allowPrivate = reader.given(path / "allowPrivate") { $0.texts($1) } ?? []
        usesWebSub = reader.given(path / "websub") { $0.boolean($1) } ?? usesWebSub
    }
}

extension SettingsReader {
    fileprivate mutating func given<T>(
        _ path: SettingsPath, _ read: (inout SettingsReader, SettingsPath) -> T?
    ) -> T? {
        isGiven(path) ? read(&self, path) : nil
    }

    fileprivate mutating func givenText(_ path: SettingsPath) -> String? { given(path) { $0.text($1) } }

    /// Reports a text without a known meaning, and returns the default.
    fileprivate mutating func unclear<T>(_ path: SettingsPath, _ expectation: String, _ fallback: T) -> T {
        report(path, "is not understood", "write \(expectation)")
        return fallback
    }
}

extension FeedRules.FirstSight {
    fileprivate init?(_ text: String) {
        switch text {
        case "silent": self = .silent
        case "all": self = .all
        case _ where text.hasPrefix("last:"):
            guard let count = Int(digits: text.dropFirst(5)), (1...100).contains(count) else { return nil }
            self = .last(count)
        default: return nil
        }
    }
}

extension FeedRules.IdentityRule {
    fileprivate init?(_ text: String) {
        switch text {
        case "guid": self = .guid
        case "link": self = .link
        case "link+title": self = .linkAndTitle
        case _ where text.hasPrefix("regex:"):
            let expression = String(text.dropFirst(6))
            guard !expression.isEmpty else { return nil }
            self = .pattern(expression)
        default: return nil
        }
    }
}

/// Reads `UTC` or `+01:00`. A zone's name would need the history of its daylight saving time for each date.
enum ZoneOffset {
    static let expectation = "UTC, or the offset of dates without a zone such as +01:00 or -05:00"

    static func minutes(_ text: String) -> Int? {
        if ["UTC", "GMT", "Z"].contains(text) { return 0 }
        guard let sign = text.first, sign == "+" || sign == "-", text.utf8.count == 6,
            let minutes = minutesAfterMidnight(text.dropFirst()).map({ sign == "-" ? -$0 : $0 }),
            (-12 * 60...14 * 60).contains(minutes)
        else { return nil }
        return minutes
    }
}
