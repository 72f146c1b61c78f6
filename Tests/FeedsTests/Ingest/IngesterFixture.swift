import NewsModel

@testable import Feeds

/// A topic, a lane and a publisher around one ingester at a time. Its actions are carried out step by step, so that it
/// can end between any two.
struct IngesterFixture {
    var settings = IngestSettings()
    var document: [FeedEntry] = []
    /// The documents of feeds with other addresses.
    var others: [String: [FeedEntry]] = [:]
    /// The statuses of answers without a document, by address.
    var statuses: [String: Int] = [:]
    var isCutOff = false
    var entriesLeftOut = 0
    var etag: String?
    /// The host that answers in the end; `nil` without a redirect.
    var redirectsTo: String?
    /// True if the publisher says what time it is.
    var saysTime = false
    /// The error of this process's wall clock.
    var clockAhead = Duration.zero
    var notes: [String] = []
    var requests: [FetchRequest] = []
    /// The records in the order of the partition.
    var topic: [StateRecord] = []
    /// Number of records that were removed from the beginning of the partition.
    var removed = 0
    /// True if all records are removed as soon as the next process has read them.
    var losesRecords = false
    var written: [FeedEvent] = []
    /// The lanes to which events were written, in order.
    var writtenTo: [String] = []
    var now = FollowedFeed.start

    private enum Step {
        case input(IngestInput)
        case store(WriteID, Int32, [StateRecord])
        case publish(WriteID, [FeedEvent])
    }

    init() {
        var rules = FeedRules(name: "wire", url: "https://example.org/feed")
        rules.category = "World"
        settings.feeds = [rules]
    }

    var moment: Moment { Moment(steady: now, wall: now + clockAhead) }

    /// Starts a process that reads the topic and follows `polls` documents completely, or ends after `steps`.
    /// - Returns: number of steps that the process has done.
    @discardableResult
    mutating func live(as writer: String, polls: Int = 1, steps stepsMax: Int = .max) -> Int {
        settings.writer = writer
        var ingester = Ingester(settings)
        var queue: [Step] = [.input(.assigned([0]))]
        queue += restoration.map(Step.input)
        if losesRecords {
            (removed, topic, losesRecords) = (removed + topic.count, [], false)
            queue.append(.input(.removed(partition: 0, below: Int64(removed))))
        }
        var steps = 0
        var wake: Instant?
        var documents = 0
        while steps < stepsMax {
            if queue.isEmpty {
                guard documents < polls, let at = wake else { break }
                now = max(now, at)
                queue.append(.input(.tick))
            }
            steps += 1
            switch queue.removeFirst() {
            case .store(_, _, let records):
                queue += inputs(of: records, from: removed + topic.count).map(Step.input)
                topic += records
            case .publish(let id, let events):
                written += events
                queue.append(.input(.published(id)))
            case .input(let input):
                for action in ingester.handle(input, at: moment) {
                    switch action {
                    case .fetch(let id, let request):
                        requests.append(request)
                        documents += 1
                        queue.append(.input(.fetched(id, answer(to: request))))
                    case .store(let id, let partition, let records): queue.append(.store(id, partition, records))
                    case .publish(let id, let lane, let events):
                        writtenTo.append(lane)
                        queue.append(.publish(id, events))
                    case .wake(let at): wake = at
                    case .note(let note): notes.append(note.text)
                    default: break
                    }
                }
            }
        }
        return steps
    }

    /// Assigns the partition to `ingester`, which reads the topic and the document once.
    /// - Parameter late: records of another process that it reads between the two.
    /// - Returns: the records that it writes. They are not on the topic yet.
    mutating func follow(with ingester: inout Ingester, after late: [StateRecord] = []) -> [StateRecord] {
        var inputs: [IngestInput] = [.assigned([0])]
        inputs += restoration
        inputs += self.inputs(of: late, from: removed + topic.count)
        var records: [StateRecord] = []
        var wake: Instant?
        var isRead = false
        while !inputs.isEmpty {
            for action in ingester.handle(inputs.removeFirst(), at: moment) {
                switch action {
                case .fetch(let id, let request):
                    isRead = true
                    inputs.append(.fetched(id, answer(to: request)))
                case .store(_, _, let stored): records += stored
                case .wake(let at): wake = at
                default: break
                }
            }
            if inputs.isEmpty, !isRead, let at = wake {
                now = max(now, at)
                inputs.append(.tick)
            }
        }
        return records
    }

    /// A process that takes the feed over while the publisher has asked to wait for years.
    var ingesterThatMustWait: Ingester {
        var ingester = Ingester(settings)
        let state = #"{"url":"https://example.org/feed","retryUntil":"2030-01-01T00:00:00Z"}"#
        var inputs: [IngestInput] = [
            .assigned([0]), .record(partition: 0, offset: 0, key: "feed/wire", value: Array(state.utf8)),
            .restored(partition: 0),
        ]
        while !inputs.isEmpty {
            for case .store(_, _, let records) in ingester.handle(inputs.removeFirst(), at: moment) {
                inputs += self.inputs(of: records, from: 1)
            }
        }
        return ingester
    }

    private var restoration: [IngestInput] {
        let start: [IngestInput] = removed > 0 ? [.removed(partition: 0, below: Int64(removed))] : []
        return inputs(of: topic, from: removed) + start + [.restored(partition: 0)]
    }

    func inputs(of records: [StateRecord], from offset: Int) -> [IngestInput] {
        records.enumerated().map {
            .record(partition: 0, offset: Int64(offset + $0.offset), key: $0.element.key, value: $0.element.value)
        }
    }

    private func answer(to request: FetchRequest) -> FetchResult {
        if let status = statuses[request.url] {
            return .answered(FetchAnswer(status: status, finalURL: request.url))
        }
        var feed = FeedDocument(format: .rss20, entries: others[request.url] ?? document)
        feed.isCutOff = isCutOff
        feed.entriesLeftOut = entriesLeftOut
        var headers = etag.map { [HeaderField("etag", $0)] } ?? []
        if saysTime { headers.append(HeaderField("date", Self.httpDate(of: now))) }
        var answer = FetchAnswer(status: 200, headers: headers, finalURL: request.url, document: .feed(feed))
        if let redirectsTo { answer.finalURL = "https://\(redirectsTo)/feed" }
        return .answered(answer)
    }

    /// The day of the week counts for nothing, and tests end within the month in which they begin.
    private static func httpDate(of instant: Instant) -> String {
        let parts = instant.description.split { "-T:.Z".contains($0) }
        return "Mon, \(parts[2]) Sep \(parts[0]) \(parts[3]):\(parts[4]):\(parts[5]) GMT"
    }

    mutating func publish(_ id: String) {
        var entry = FeedEntry(id: id, headline: "Headline of \(id)")
        entry.link = "https://example.org/\(id)"
        entry.publishedAt = now
        document.insert(entry, at: 0)
    }

    /// The lanes of all intents that were stored.
    var lanes: Set<String> {
        let records = topic.map { String(decoding: $0.value ?? [], as: UTF8.self) }
        return Set(["live", "backfill"].filter { lane in records.contains { $0.contains("\"lane\":\"\(lane)\"") } })
    }

    /// Number of intents on the topic that are not done.
    var intents: Int {
        var last: [String: Bool] = [:]
        for record in topic {
            last[record.key] = record.value.map { String(decoding: $0, as: UTF8.self).contains("\"intent\"") }
        }
        return last.values.count { $0 }
    }

    /// The written events as `id version headline`, without repetitions.
    var texts: [String] {
        var texts: [String] = []
        for event in written {
            let text = String(decoding: event.value, as: UTF8.self)
            let parts = ["id", "version", "headline"].map { name in
                text.split(separator: "\"\(name)\":\"").dropFirst().first?.split(separator: "\"").first ?? ""
            }
            let line = parts.joined(separator: " ")
            if !texts.contains(line) { texts.append(line) }
        }
        return texts
    }

    /// A fixture whose feed has been read, with two new stories that have not been polled.
    static var withTwoStories: IngesterFixture {
        var fixture = IngesterFixture()
        fixture.live(as: "first")
        fixture.publish("a")
        fixture.publish("b")
        return fixture
    }

    static let stepsOfTwoStories: Int = {
        var fixture = IngesterFixture.withTwoStories
        return fixture.live(as: "second")
    }()
}
