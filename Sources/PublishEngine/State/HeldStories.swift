import EditorialControl
import KafkaModel
import NewsModel

/// The stories that have an event on the held topic, each with the highest version there: an entry of some 80 bytes for each.
struct HeldStories: Sendable {
    /// As the held topic says.
    private var known: [UInt64: Held] = [:]
    /// Held by this engine, and not read back from the topic yet.
    private var added: [UInt64: Held] = [:]

    private struct Held: Sendable {
        var version: NewsEvent.Version?
        /// Where it stood on its source topic, as a hash of the partition and an offset.
        var partition: UInt64?
        var offset: Int64 = 0

        init(_ version: NewsEvent.Version?, _ source: ResultRecord.Source?) {
            self.version = version
            partition = source.map { Fingerprint(of: $0.partition.description).value }
            offset = source?.offset ?? 0
        }
    }

    var isEmpty: Bool { known.isEmpty && added.isEmpty }

    mutating func learn(_ story: HeldStory) {
        let key = Fingerprint(of: story.story).value
        guard story.isHeld else {
            known[key] = nil
            return
        }
        known[key] = Held(story.version, story.source)
        // What was held before may be read back after a newer version was added.
        if let newest = added[key]?.version, let version = story.version, version < newest { return }
        added[key] = nil
    }

    /// This engine holds the event.
    mutating func add(_ routed: RoutedEvent, from source: ResultRecord.Source) {
        added[Fingerprint(of: routed.orderKey).value] = Held(routed.event.version, source)
    }

    /// The held topic does not take it.
    mutating func remove(_ routed: RoutedEvent) {
        let key = Fingerprint(of: routed.orderKey).value
        if let held = added[key], held.version == routed.event.version { added[key] = nil }
    }

    /// This engine holds an event of the story that was not read back yet.
    func isBeingHeld(_ story: String) -> Bool { added[Fingerprint(of: story).value] != nil }

    /// An event of the story stands on the held topic, or is on its way there.
    func contains(_ story: String) -> Bool {
        guard !isEmpty else { return false }
        let key = Fingerprint(of: story).value
        return known[key] != nil || added[key] != nil
    }

    /// What is held of an event's story, compared with the event.
    enum Relation: Sendable, Hashable {
        case nothing
        /// An older version, or without versions an event that stands before this one on its partition.
        case older
        /// The same version, maybe the very event, which is read again because its result was not stored in time.
        case same
        case newer
        /// Another event of the story, and nothing to tell which is the newer: both are news.
        case unrelated
    }

    func relation(to routed: RoutedEvent, from source: ResultRecord.Source) -> Relation {
        guard !isEmpty, !routed.event.isForSomeOfItsStory else { return .nothing }
        let event = routed.event
        let key = Fingerprint(of: routed.orderKey).value
        guard let held = added[key] ?? known[key] else { return .nothing }
        // Without a story, what is held is a former copy of the same event.
        guard event.story != nil || held.version != nil && event.version != nil else { return .same }
        guard let former = held.version, let version = event.version else {
            let partition = Fingerprint(of: source.partition.description).value
            guard held.version == nil, known[key]?.version == nil, event.version == nil, held.partition == partition,
                held.offset <= source.offset
            else { return .unrelated }
            return held.offset == source.offset ? .same : .older
        }
        return version < former ? .newer : former < version ? .older : .same
    }

    /// What is held of the story is an older version.
    func hasOlder(than version: NewsEvent.Version, of story: String) -> Bool {
        self.version(of: story).map { $0 < version } ?? false
    }

    /// The version that is held of the story; `nil` for none, or an event without a version.
    func version(of story: String) -> NewsEvent.Version? {
        guard !isEmpty else { return nil }
        let key = Fingerprint(of: story).value
        return (added[key] ?? known[key])?.version
    }

    /// What is held of the story is asked back.
    ///
    /// - Returns: `false` if nothing is held of it.
    mutating func takeBack(_ story: String) -> Bool {
        guard !isEmpty else { return false }
        let key = Fingerprint(of: story).value
        let wasAdded = added.removeValue(forKey: key) != nil
        return known.removeValue(forKey: key) != nil || wasAdded
    }
}

extension NewsEvent {
    /// For single readers of a story that others may be told of too: no version of what is held for them.
    var isForSomeOfItsStory: Bool { !users.isEmpty && story != nil }
}
