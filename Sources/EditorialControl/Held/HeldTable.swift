import NewsModel

/// The held events by name, for people. Takes a few hundred bytes per event.
public struct HeldTable: Sendable {
    private struct Key: Hashable {
        var story: String
        var partition: Int32
    }

    /// An event with what people know it by.
    public struct Row: Sendable, Hashable {
        public var event: HeldEvent
        /// `nil` if the original was not read or cannot be decoded.
        public var content: Content?
        /// The run of `newswire publish` that it belongs to.
        public var run: String?
        /// The feed that it comes from.
        public var feed: String?

        /// The name by which a recall knows the event. Without the original it is taken from the key and may end in a
        /// language, because that cannot be told from the end of a name.
        public var story: String { content?.story ?? HeldKey.orderKey(of: event.story) }

        /// The name by which a recall most likely knows the event. Without the original, the end that a language adds is cut off.
        ///
        /// - Parameter languages: the codes of the languages that are sent separately.
        public func story(languages: [String]) -> String {
            guard content == nil, let code = languages.first(where: { story.hasSuffix("#\($0)") }) else { return story }
            return String(story.dropLast(code.count + 1))
        }
    }

    /// The parts of an original that may be shown before its time.
    public struct Content: Sendable, Hashable {
        /// The story of the event itself, without the ends that the held key adds for a language or for single readers.
        public var story: String
        /// The language whose readers get it; `nil` unless languages are sent separately.
        public var language: String?
        public var categories: [String] = []

        public init(story: String) { self.story = story }
    }

    private struct Held: Sendable {
        var row: Row
        var since: Int64
    }

    private var held: [Key: Held] = [:]
    /// Number of invalid records.
    public private(set) var unreadable = 0

    public init() {}

    /// Applies a record. The records of a partition must arrive in the order of their offsets.
    public mutating func apply(
        _ reading: HeldRecord.Reading, at place: HeldPlace, content: Content? = nil, run: String? = nil,
        feed: String? = nil
    ) {
        switch reading {
        case .unreadable: unreadable += 1
        case .vanished: break
        case .held(let event, let since):
            let key = Key(story: event.story, partition: place.partition)
            let next = Held(
                row: Row(event: event, content: content, run: run, feed: feed), since: since ?? place.offset)
            if let known = held[key] {
                let isNewer = VersionRank(event.version).isNewer(than: VersionRank(known.row.event.version))
                guard isNewer ?? (next.since >= known.since) else { return }
            }
            held[key] = next
        case .erased(let story, let upTo, let original):
            let key = Key(story: story, partition: place.partition)
            if let known = held[key], known.since <= upTo ?? place.offset,
                HeldOriginal(of: known.row.event).mayBe(original)
            {
                held[key] = nil
            }
        }
    }

    public var events: [HeldEvent] { rows.map(\.event) }

    /// The held events, sorted by due time, then by story.
    public var rows: [Row] {
        held.values.map(\.row).sorted {
            ($0.event.due, $0.event.story, $0.event.source.partition)
                < ($1.event.due, $1.event.story, $1.event.source.partition)
        }
    }
}
