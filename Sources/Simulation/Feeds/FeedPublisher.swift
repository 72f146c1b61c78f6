import ByteText
import Feeds
import NewsModel

/// A publisher's server with one feed: its content and its faults.
struct FeedPublisher {
    let name: String
    let host: String
    var items: [FeedItem] = []
    /// Numbers of the listed items, in document order.
    var listed: [Int] = []
    var manners = Manners()
    var random: SeededRandom
    private var count = 0
    /// Changes with each change of the document.
    private var revision = 0
    /// Time at which the feed was first delivered.
    private(set) var firstGivenAt: Instant?
    /// True if the feed gives no dates.
    var isUndated = false
    /// True if its answers say what time it is.
    var saysTime = true
    /// True if its entries say when they were changed.
    var datesChanges = false
    /// The items of recent documents, oldest first, from which a cache answers.
    private var copies: [Copy] = []
    /// True if it has answered "not changed" although the document had changed.
    private(set) var hasLied = false
    /// True if a document had its entries in another order.
    private(set) var hasShuffled = false

    private struct Copy {
        var at: Instant
        var revision: Int
        var shown: [FeedItem]
    }

    /// The server's behavior. Numbers are percentages of its answers.
    struct Manners: Sendable, Hashable {
        var errors = 0
        var brokenDocuments = 0
        var retryAfter = 0
        /// Answers "not changed" to conditional requests for any version.
        var liesAboutChange = 0
        /// Sends a different tag each time.
        var changesTags = false
        var redirects = 0
        var repeatsEntries = false
        var shuffles = 0
        var timeouts = 0
        /// Delivers a copy of a document that is up to half an hour old.
        var oldCopies = 0
        /// The largest time in seconds from an entry's date to its appearance.
        var lag = 0
        /// Withholds items that it has published, and releases some of them later.
        var withholds = false
        /// Sends bytes, so that the document reader is included.
        var givesBytes = 0
    }

    init(name: String, host: String, random: SeededRandom) {
        self.name = name
        self.host = host
        self.random = random
    }

    var url: String { "https://\(host)/\(name)" }

    static let listedMax = 30

    // MARK: - The newsroom

    /// Publishes a story that appears as late as stories of this publisher do.
    mutating func publishNow(at now: Instant) {
        let lag = manners.lag > 0 ? random.number(0...manners.lag) : 0
        publish(at: now, date: isUndated ? nil : now - .seconds(lag), isBacklog: firstGivenAt == nil)
    }

    mutating func publish(at now: Instant, date: Instant?, isBacklog: Bool) {
        let number = items.count
        items.append(
            FeedItem(
                number: number, guid: "\(name)-\(number)", headline: "Headline \(number) of \(name)",
                link: "https://\(host)/\(name)/story-\(number)", bornAt: now, statedDate: date, editedAt: now,
                isBacklog: isBacklog))
        listed.insert(number, at: 0)
        if listed.count > Self.listedMax { listed.removeLast() }
        revision += 1
    }

    mutating func edit(_ number: Int, at now: Instant) {
        items[number].edits += 1
        items[number].headline = "Headline \(number) of \(name), edit \(items[number].edits)"
        items[number].editedAt = now
        items[number].givenAt = nil
        revision += 1
    }

    /// Switches between two headlines, as a feed served by two servers does.
    mutating func flap(_ number: Int, at now: Instant) {
        items[number].flaps = true
        items[number].headline =
            items[number].headline.hasSuffix(" (b)")
            ? String(items[number].headline.dropLast(4)) : items[number].headline + " (b)"
        items[number].editedAt = now
        revision += 1
    }

    mutating func touch(_ number: Int) {
        items[number].summary = "Summary \(random.number(0...1_000_000))"
        revision += 1
    }

    mutating func cancel(_ number: Int, at now: Instant) {
        items[number].isCanceled = true
        items[number].editedAt = now
        revision += 1
    }

    /// Withholds an item, or releases it again.
    mutating func withhold(_ number: Int, _ isWithheld: Bool, at now: Instant) {
        items[number].isWithheld = isWithheld
        items[number].editedAt = now
        items[number].wasWithheld = true
        revision += 1
    }

    /// Changes all ids, as a rebuilt site does.
    mutating func rekey() {
        revision += 1
        for number in listed {
            items[number].guid = "\(name)-\(number)-\(revision)"
            items[number].isRekeyed = true
        }
    }

    /// Lists old items again, with their original dates.
    mutating func bringBack(_ howMany: Int) {
        let gone = items.indices.filter { !listed.contains($0) }
        for number in gone.prefix(howMany) { listed.insert(number, at: random.number(0...listed.count)) }
        revision += 1
    }

    // MARK: - The server

    /// Returns the answer to a request. `shown` contains the items of the delivered document; `nil` without a document.
    mutating func answer(
        _ request: FetchRequest, at now: Instant
    ) -> (result: FetchResult, shown: [FeedItem]?) {
        count += 1
        func failed(_ reason: FetchFailure.Reason) -> (FetchResult, [FeedItem]?) {
            (.failed(FetchFailure(reason, "the simulated publisher is away")), nil)
        }
        if random.chance(percent: manners.timeouts) { return failed(.timeout) }
        if random.chance(percent: manners.errors) {
            return random.chance(percent: 50)
                ? failed(.connectFailed) : (.answered(FetchAnswer(status: 500, finalURL: request.url)), nil)
        }
        if random.chance(percent: manners.retryAfter) {
            let seconds = random.number(60...900)
            return (
                .answered(
                    FetchAnswer(
                        status: 429, headers: [HeaderField("retry-after", "\(seconds)")], finalURL: request.url)), nil
            )
        }
        if random.chance(percent: manners.brokenDocuments) {
            let document = FetchAnswer.DocumentResult.notAFeed(NotAFeed(.broken, "it ends in the middle"))
            return (
                .answered(
                    FetchAnswer(status: 200, finalURL: request.url, bodyHash: "broken\(count)", document: document)),
                nil
            )
        }
        // Both kinds of tags must differ. Otherwise, a server could answer "unchanged" by chance after a change of its behavior.
        let tag = manners.changesTags ? "\"request-\(count)\"" : "\"revision-\(revision)\""
        let isKnown = request.validators?.etag == tag
        if request.validators != nil, isKnown || random.chance(percent: manners.liesAboutChange) {
            if !isKnown { hasLied = true }
            return (
                .answered(FetchAnswer(status: 304, headers: [HeaderField("etag", tag)], finalURL: request.url)), nil
            )
        }
        return document(request, tag: tag, at: now)
    }

    private mutating func document(
        _ request: FetchRequest, tag: String, at now: Instant
    ) -> (result: FetchResult, shown: [FeedItem]?) {
        firstGivenAt = firstGivenAt ?? now
        var (tag, copy) = (tag, Copy(at: now, revision: revision, shown: listed.map { items[$0] }))
        copies.removeAll { now - $0.at > .seconds(1_800) }
        if manners.oldCopies > 0, random.chance(percent: manners.oldCopies),
            let old = copies.randomElement(using: &random)
        {
            (tag, copy) = ("\"copy-\(old.revision)\"", old)
        } else {
            copies.append(copy)
            for number in listed { items[number].givenAt = now }
        }
        var shown = copy.shown
        if random.chance(percent: manners.shuffles) {
            shown.shuffle(using: &random)
            hasShuffled = true
        }
        var entries = shown.map { $0.entry(datesChanges: datesChanges) }
        if manners.repeatsEntries, let first = entries.first { entries.append(first) }
        var document = FeedDocument(format: .rss20, title: name, entries: entries)
        if random.chance(percent: manners.givesBytes), !shown.contains(where: { $0.isCanceled || $0.isWithheld }) {
            document =
                (try? FeedReader.read(Array(Self.rss(entries).utf8), from: DocumentSource(address: request.url)))
                ?? document
        }
        let hash = "\(copy.revision)-\(shown.map(\.number))"
        let isKnownBody = hash == request.knownBodyHash
        var answer = FetchAnswer(
            status: 200, headers: [HeaderField("etag", tag)], finalURL: request.url, bodyBytes: 1_000, bodyHash: hash,
            document: isKnownBody ? nil : .feed(document))
        if saysTime { answer.headers.append(HeaderField("date", Self.httpDate(of: now))) }
        if random.chance(percent: manners.redirects) {
            answer.redirects = [FetchAnswer.Redirect(status: 302, from: request.url, to: request.url + "?moved")]
        }
        return (.answered(answer), shown)
    }

    /// No life leaves the month in which it starts, and nobody reads the day of the week.
    private static func httpDate(of instant: Instant) -> String {
        let parts = instant.description.split { "-T:.Z".contains($0) }
        return "Mon, \(parts[2]) Sep \(parts[0]) \(parts[3]):\(parts[4]):\(parts[5]) GMT"
    }

    private static func rss(_ entries: [FeedEntry]) -> String {
        var text = "<?xml version=\"1.0\"?><rss version=\"2.0\" xmlns:a=\"http://www.w3.org/2005/Atom\"><channel>"
        text += "<title>feed</title>"
        for entry in entries {
            text += "<item><title>\(entry.headline ?? "")</title><link>\(entry.link ?? "")</link>"
            text += "<guid isPermaLink=\"false\">\(entry.id ?? "")</guid>"
            if let summary = entry.summary { text += "<description>\(summary)</description>" }
            if let date = entry.publishedAt { text += "<pubDate>\(date)</pubDate>" }
            if let date = entry.updatedAt { text += "<a:updated>\(date)</a:updated>" }
            text += "</item>"
        }
        return text + "</channel></rss>"
    }
}
