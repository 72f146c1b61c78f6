package import KafkaModel
package import NewsModel
package import PublishEngine

/// Selects the items of the files to publish: valid events up to the bounds of the command. The same items in the same order
/// always give the same selection.
package struct EventSelection {
    /// The bounds beyond which events are left out.
    package struct Bounds: Sendable, Hashable {
        package var events: Int?
        package var perCategory: Int?
        /// Maximum age by the event's `publishedAt`. An event without that time is never too old.
        package var age: Duration?

        package init(events: Int? = nil, perCategory: Int? = nil, age: Duration? = nil) {
            (self.events, self.perCategory, self.age) = (events, perCategory, age)
        }

        /// The options as on the command line; empty without bounds.
        package var options: String {
            [
                events.map { "--max-events \($0)" }, perCategory.map { "--max-per-category \($0)" },
                age.map { "--max-age \($0.components.seconds)s" },
            ].compactMap(\.self).joined(separator: " ")
        }
    }

    package enum Choice {
        case event(NewsEvent, [UInt8])
        case bad(EventReview.Complaint)
        /// The item is beyond a bound.
        case skipped
    }

    private let review: EventReview
    private let bounds: Bounds
    private let router: Router?
    private let oldest: Instant
    /// The number of events already chosen.
    private(set) package var count = 0
    private var perCategory: [String: Int] = [:]

    /// - Parameters:
    ///   - router: determines the categories; without it, the bound per category has no effect.
    ///   - start: the time at which the run began, even if this command only continues it.
    package init(_ review: EventReview, _ bounds: Bounds = Bounds(), router: Router? = nil, start: Instant) {
        self.review = review
        self.bounds = bounds
        self.router = router
        oldest = bounds.age.map { start - $0 } ?? .distantPast
    }

    /// The headers of the item's record beside those of every record.
    package func marks(of item: EventFileItem) -> [RecordHeader] { review.marks(of: item) }

    /// True if items that an earlier command published must be counted too.
    package var needsAllItems: Bool { bounds.events != nil || bounds.perCategory != nil }

    package mutating func choose(_ item: EventFileItem) -> Choice {
        switch review.event(item) {
        case .failure(let complaint): return .bad(complaint)
        case .success(let (event, bytes)):
            if let time = event.publishedAt, time < oldest { return .skipped }
            if let most = bounds.events, count >= most { return .skipped }
            // News for single readers does not count for a category, because it does not disturb the category's readers.
            if let most = bounds.perCategory, event.users.isEmpty, let router,
                case .tagged(let routing) = router.route(event)
            {
                // An event of several categories goes to the readers of all of them.
                if routing.categories.contains(where: { perCategory[$0, default: 0] >= most }) { return .skipped }
                for category in routing.categories { perCategory[category, default: 0] += 1 }
            }
            count += 1
            return .event(event, bytes)
        }
    }
}

/// Decodes each event before it is published, so that a mistake is reported with its line instead of later as a result.
package struct EventReview {
    private let decoder: NewsDecoder
    private let hasFormats: Bool
    private let topic: String?
    private let others: [RecordHeader]
    /// The headers of every record.
    package let headers: [RecordHeader]

    /// - Parameters:
    ///   - environment: the environment that the events are published for; `nil` if it has no name.
    ///   - run: the run that the events belong to.
    ///   - isSilent: true if the events must disturb nobody.
    ///   - others: further headers of every record, which may decide its format.
    ///   - topic: the topic that the events are published to; `nil` if it does not decide their format.
    package init(
        environment: String? = nil, run: RunID? = nil, isSilent: Bool = false, others: [RecordHeader] = [],
        topic: String? = nil, decoders: DecoderFactory = DecoderFactory()
    ) {
        decoder = decoders.make()
        hasFormats = decoders.hasFormats
        (self.topic, self.others) = (topic, others)
        var headers = others
        if let environment { headers.append(RecordHeader(HeaderName.environment, environment)) }
        if let run { headers.append(RecordHeader(HeaderName.run, run.text)) }
        if isSilent { headers.append(RecordHeader(HeaderName.quiet, "true")) }
        self.headers = headers
    }

    package func event(_ item: EventFileItem) -> Result<(NewsEvent, [UInt8]), Complaint> {
        switch item.content {
        case .bad(let reason), .broken(let reason): return .failure(Complaint(line: item.line, reason: reason))
        case .event(let bytes):
            do throws(Undecodable) {
                let record = SourceRecord(offset: 0, value: bytes, headers: others + marks(of: item))
                return .success((try decoder.decode(record, topic: topic), bytes))
            } catch {
                return .failure(Complaint(line: item.line, reason: error.detail))
            }
        }
    }

    /// The record to publish. Its key is the story, or the id without one, so that updates of a story stay in order.
    package func record(
        _ event: NewsEvent, _ bytes: [UInt8], topic: String, of item: EventFileItem? = nil
    ) -> ProducedRecord {
        ProducedRecord(
            topic: topic, key: Array(event.orderKey.utf8), value: bytes,
            headers: headers + (item.map(marks) ?? []))
    }

    /// Marks an event in our own shape on a topic that may have documents of other formats.
    package func marks(of item: EventFileItem) -> [RecordHeader] {
        item.isConverted && hasFormats ? [RecordHeader(HeaderName.format, HeaderName.builtInFormat)] : []
    }

    package struct Complaint: Error, Hashable {
        package var line: Int
        package var reason: String

        package init(line: Int, reason: String) { (self.line, self.reason) = (line, reason) }
    }
}
