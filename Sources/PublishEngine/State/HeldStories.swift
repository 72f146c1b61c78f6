import EditorialControl
import KafkaModel
import NewsModel

/// The stories with an event on the held topic, each with the highest version there: about 100 bytes for each. A story's events for
/// single readers count as stories of their own, by their `HeldKey`, and take 100 bytes more.
struct HeldStories: Sendable {
    /// Events read from the held topic.
    private var known: [UInt64: Held] = [:]
    /// Events held by this engine and not read back from the topic yet.
    private var added: [UInt64: Held] = [:]
    /// The keys of news for single readers, by its order key.
    private var personal: [String: Set<String>] = [:]
    /// The present incarnation of our partitions, by a hash of the partition.
    private var incarnations: [UInt64: Int] = [:]

    private struct Held: Sendable {
        var version: NewsEvent.Version?
        /// The source position of the event, as a hash of the partition and an offset.
        var partition: UInt64?
        var offset: Int64 = 0
        var original: HeldOriginal?
        /// A hash of the event's id.
        var event: UInt64?
        /// The number of the partition's incarnation (see `CommitNote`), as far as it was known when the event was held.
        var incarnation = 0
        var writtenAt: Instant?

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
            if added[key] == nil { forgetPersonal(story.story) }
            return
        }
        notePersonal(story.story)
        known[key] = Held(story.version, story.source)
        known[key]?.original = story.original
        known[key]?.event = story.eventID.map { Fingerprint(of: $0).value }
        known[key]?.incarnation = story.incarnation
        known[key]?.writtenAt = story.writtenAt
        if let ours = added[key], let read = known[key], precedes(read, ours) { return }
        added[key] = nil
    }

    /// True if our own held event will be read from the topic behind this one: it has a higher version, or was published later on
    /// the same partition.
    private func precedes(_ read: Held, _ ours: Held) -> Bool {
        if let version = read.version, let newest = ours.version, version != newest { return version < newest }
        return read.partition == ours.partition
            && (read.incarnation, read.offset) < (ours.incarnation, ours.offset)
    }

    /// This engine holds the event.
    mutating func add(_ routed: RoutedEvent, _ content: ExaminedRecord, from source: ResultRecord.Source) {
        var held = Held(routed.event.version, source)
        held.original = HeldOriginal(offset: source.offset, identity: content.identity)
        held.event = Fingerprint(of: routed.event.id).value
        held.incarnation = incarnation(of: source.partition)
        held.writtenAt = content.record.timestamp
        notePersonal(routed.heldKey)
        added[Fingerprint(of: routed.heldKey).value] = held
    }

    /// A partition is ours. Others may have read it in the meantime.
    mutating func assign(_ partition: TopicPartition) {
        incarnations[Fingerprint(of: partition.description).value] = nil
    }

    /// Reading of an incarnation begins.
    mutating func begin(_ incarnation: Int, of partition: TopicPartition) {
        incarnations[Fingerprint(of: partition.description).value] = max(incarnation, self.incarnation(of: partition))
    }

    func incarnation(of partition: TopicPartition) -> Int {
        incarnations[Fingerprint(of: partition.description).value] ?? 0
    }

    /// Removes an event that the held topic refused. A later one of the story stays.
    mutating func remove(_ routed: RoutedEvent, from source: ResultRecord.Source) {
        let key = Fingerprint(of: routed.heldKey).value
        if let held = added[key], held.original?.offset == source.offset,
            held.partition == Fingerprint(of: source.partition.description).value
        {
            added[key] = nil
            if known[key] == nil { forgetPersonal(routed.heldKey) }
        }
    }

    private mutating func notePersonal(_ key: String) {
        let orderKey = HeldKey.orderKey(of: key)
        if orderKey.utf8.count < key.utf8.count { personal[orderKey, default: []].insert(key) }
    }

    private mutating func forgetPersonal(_ key: String) {
        guard !personal.isEmpty else { return }
        let orderKey = HeldKey.orderKey(of: key)
        personal[orderKey]?.remove(key)
        if personal[orderKey]?.isEmpty == true { personal[orderKey] = nil }
    }

    /// The other keys of the event's story under which the same event is held, because it is for other readers there.
    func otherKeys(of routed: RoutedEvent) -> [String] {
        let event = Fingerprint(of: routed.event.id).value
        let (story, own) = (routed.orderKey, routed.heldKey)
        func isOther(_ key: String) -> Bool { key != own && last(of: key)?.event == event }
        // A story may have thousands of keys, so only those found are sorted.
        let others = personal[story]?.filter(isOther).sorted() ?? []
        return isOther(story) ? [story] + others : others
    }

    /// The keys under which events with an order key may be held.
    func keys(of orderKey: String) -> [String] {
        personal.isEmpty ? [orderKey] : [orderKey] + (personal[orderKey] ?? []).sorted()
    }

    /// True if this engine holds an event of the story that was not read back yet.
    func isBeingHeld(_ story: String) -> Bool { added[Fingerprint(of: story).value] != nil }

    /// True if an event of the story is on the held topic, or has been sent there.
    func contains(_ story: String) -> Bool {
        guard !isEmpty else { return false }
        let key = Fingerprint(of: story).value
        return known[key] != nil || added[key] != nil
    }

    /// The event that was held last under a key. The key is made only if anything is held.
    private func last(of key: @autoclosure () -> String) -> Held? {
        if isEmpty { return nil }
        let key = Fingerprint(of: key()).value
        return added[key] ?? known[key]
    }

    /// The held event of a story, compared with another event of it.
    enum Relation: Sendable, Hashable {
        case nothing
        /// An older version; if one of the two has no version, an earlier event of the same partition.
        case older
        /// An event of a former incarnation of the partition, and one of the two has no version.
        case former
        /// The same version, perhaps the same event, read again because its result was not stored in time.
        case same
        case newer
        /// Another event of the story with no order between the two: both are news.
        case unrelated
    }

    /// - Parameters:
    ///   - key: the key of the held event; `nil` for that of the event itself.
    ///   - source: the event's place on its topic; `nil` for a redriven record, whose place says nothing about its age.
    ///   - writtenAt: its timestamp. Records of a new incarnation may be held before anyone notices that it is new.
    func relation(
        to routed: RoutedEvent, at key: String? = nil, from source: ResultRecord.Source?, writtenAt: Instant? = nil
    ) -> Relation {
        guard let held = last(of: key ?? routed.heldKey) else { return .nothing }
        let event = routed.event
        // Without a story, the held event is a former copy of the same event.
        guard event.story != nil || source == nil || held.version != nil && event.version != nil else { return .same }
        guard let former = held.version, let version = event.version else {
            guard let source, held.partition == Fingerprint(of: source.partition.description).value else {
                return .unrelated
            }
            if held.incarnation < incarnation(of: source.partition), let writtenAt,
                held.writtenAt?.precedes(writtenAt) == true
            {
                return .former
            }
            guard held.offset <= source.offset else { return .unrelated }
            return held.offset == source.offset ? .same : .older
        }
        return version < former ? .newer : former < version ? .older : .same
    }

    /// True if the held event of the story is older than this one, or, once this one is gone, if it is the same.
    ///
    /// A redriven record is for some platforms only, so the others may need the same event.
    func mayBeReplaced(
        by routed: RoutedEvent, at key: String? = nil, from source: ResultRecord.Source?, writtenAt: Instant? = nil,
        isGone: Bool
    ) -> Bool {
        switch relation(to: routed, at: key, from: source, writtenAt: writtenAt) {
        case .older, .former: true
        case .same: isGone && source != nil
        case .nothing, .newer, .unrelated: false
        }
    }

    /// True if the held event is of another partition, and one of the two has no version: both are news, but only one of them has a place
    /// on the held topic.
    func isOfAnotherPartition(than source: ResultRecord.Source, _ routed: RoutedEvent) -> Bool {
        guard let held = last(of: routed.heldKey), let partition = held.partition else { return false }
        return partition != Fingerprint(of: source.partition.description).value
            && (held.version == nil || routed.event.version == nil)
    }

    /// True if another event of the story is held that was published behind this one on the same partition. Two versions are compared
    /// as such elsewhere.
    func hasLater(than source: ResultRecord.Source, of routed: RoutedEvent, _ identity: RecordIdentity) -> Bool {
        guard routed.event.story != nil, let held = last(of: routed.heldKey),
            held.version == nil || routed.event.version == nil
        else {
            return false
        }
        return held.partition == Fingerprint(of: source.partition.description).value
            && held.incarnation == incarnation(of: source.partition) && held.offset > source.offset
            // Not a copy of this event, which has a later place.
            && held.original != HeldOriginal(offset: held.offset, identity: identity)
    }

    func hasOlder(than version: NewsEvent.Version, of story: String) -> Bool {
        last(of: story)?.version.map { $0 < version } ?? false
    }

    /// The latest held event of a story.
    ///
    /// - Returns: its version, its offset, which is `Int64.max` on another partition, and its timestamp if it is of a former
    ///   incarnation of the partition.
    func latest(
        of story: String, on partition: TopicPartition
    ) -> (version: NewsEvent.Version?, offset: Int64, formerlyWrittenAt: Instant?)? {
        guard let held = last(of: story) else { return nil }
        let isHere = held.partition == Fingerprint(of: partition.description).value
        let isFormer = isHere && held.incarnation < incarnation(of: partition)
        return (held.version, isHere ? held.offset : .max, isFormer ? held.writtenAt : nil)
    }

    /// Forgets the held events of a story, because they are requested back.
    ///
    /// - Parameter version: the newest version that is meant, if it is not that of the latest held event.
    /// - Returns: the latest ones and those before them; `nil` if no event of the story is held. The topic may refuse our own one, so
    ///   the one read from it is named too.
    mutating func takeBack(_ story: String, upTo version: NewsEvent.Version? = nil) -> HeldPart? {
        guard !isEmpty else { return nil }
        let key = Fingerprint(of: story).value
        let taken = [added.removeValue(forKey: key), known.removeValue(forKey: key)].compactMap { $0 }
        guard let latest = taken.first else { return nil }
        forgetPersonal(story)
        return .older(
            upTo: version ?? latest.version ?? taken.last?.version,
            taken.compactMap(\.original))
    }
}

extension NewsEvent {
    /// True for news for single readers of a story that other readers may get too. Its versions are compared among these readers.
    var isForSomeOfItsStory: Bool { !users.isEmpty && story != nil }
}
