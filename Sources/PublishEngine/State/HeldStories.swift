import EditorialControl
import KafkaModel
import NewsModel

/// The stories with an event on the held topic, each with the highest version there: about 80 bytes for each.
struct HeldStories: Sendable {
    /// Events read from the held topic.
    private var known: [UInt64: Held] = [:]
    /// Events held by this engine and not read back from the topic yet.
    private var added: [UInt64: Held] = [:]

    private struct Held: Sendable {
        var version: NewsEvent.Version?
        /// The source position of the event, as a hash of the partition and an offset.
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
        // An earlier held event may be read back after a newer version was added.
        if let newest = added[key]?.version, let version = story.version, version < newest { return }
        added[key] = nil
    }

    /// This engine holds the event.
    mutating func add(_ routed: RoutedEvent, from source: ResultRecord.Source) {
        added[Fingerprint(of: routed.orderKey).value] = Held(routed.event.version, source)
    }

    /// Removes an event that the held topic refused.
    mutating func remove(_ routed: RoutedEvent) {
        let key = Fingerprint(of: routed.orderKey).value
        if let held = added[key], held.version == routed.event.version { added[key] = nil }
    }

    /// True if this engine holds an event of the story that was not read back yet.
    func isBeingHeld(_ story: String) -> Bool { added[Fingerprint(of: story).value] != nil }

    /// True if an event of the story is on the held topic, or has been sent there.
    func contains(_ story: String) -> Bool {
        guard !isEmpty else { return false }
        let key = Fingerprint(of: story).value
        return known[key] != nil || added[key] != nil
    }

    /// The held event of a story, compared with another event of it.
    enum Relation: Sendable, Hashable {
        case nothing
        /// An older version; if one of the two has no version, an earlier event of the same partition.
        case older
        /// The same version, perhaps the same event, read again because its result was not stored in time.
        case same
        case newer
        /// Another event of the story with no order between the two: both are news.
        case unrelated
    }

    /// - Parameter source: the event's place on its topic; `nil` for a redriven record, whose place says nothing about its age.
    func relation(to routed: RoutedEvent, from source: ResultRecord.Source?) -> Relation {
        guard !isEmpty, !routed.event.isForSomeOfItsStory else { return .nothing }
        let event = routed.event
        let key = Fingerprint(of: routed.orderKey).value
        guard let held = added[key] ?? known[key] else { return .nothing }
        // Without a story, the held event is a former copy of the same event.
        guard event.story != nil || source == nil || held.version != nil && event.version != nil else { return .same }
        guard let former = held.version, let version = event.version else {
            guard let source, held.partition == Fingerprint(of: source.partition.description).value,
                held.offset <= source.offset
            else { return .unrelated }
            return held.offset == source.offset ? .same : .older
        }
        return version < former ? .newer : former < version ? .older : .same
    }

    /// True if the held event of the story is older than this one, or, once this one is gone, if it is the same.
    ///
    /// A redriven record is for some platforms only, so the others may need the same event.
    func mayBeReplaced(by routed: RoutedEvent, from source: ResultRecord.Source?, isGone: Bool) -> Bool {
        switch relation(to: routed, from: source) {
        case .older: true
        case .same: isGone && source != nil
        case .nothing, .newer, .unrelated: false
        }
    }

    func hasOlder(than version: NewsEvent.Version, of story: String) -> Bool {
        self.version(of: story).map { $0 < version } ?? false
    }

    /// The latest held event of a story: its version, and its offset, which is `Int64.max` on another partition.
    func latest(of story: String, on partition: TopicPartition) -> (version: NewsEvent.Version?, offset: Int64)? {
        guard !isEmpty else { return nil }
        let key = Fingerprint(of: story).value
        guard let held = added[key] ?? known[key] else { return nil }
        let isHere = held.partition == Fingerprint(of: partition.description).value
        return (held.version, isHere ? held.offset : .max)
    }

    /// The held version of the story; `nil` if no event is held, or the event has no version.
    func version(of story: String) -> NewsEvent.Version? {
        guard !isEmpty else { return nil }
        let key = Fingerprint(of: story).value
        return (added[key] ?? known[key])?.version
    }

    /// Forgets the held events of a story, because they are requested back.
    ///
    /// - Returns: `false` if no event of the story is held.
    mutating func takeBack(_ story: String) -> Bool {
        guard !isEmpty else { return false }
        let key = Fingerprint(of: story).value
        let wasAdded = added.removeValue(forKey: key) != nil
        return known.removeValue(forKey: key) != nil || wasAdded
    }
}

extension NewsEvent {
    /// True for news for single readers of a story that other readers may get too; held versions are not theirs.
    var isForSomeOfItsStory: Bool { !users.isEmpty && story != nil }
}
