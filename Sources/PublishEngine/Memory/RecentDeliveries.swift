import KafkaModel
import NewsModel

/// The deliveries made lately: a bounded window that recognises a second record with the same id and version,
/// and an older version of a story that arrives behind a newer one.
struct RecentDeliveries: Sendable {
    private var known: AgingTable<Void>
    /// The newest version of each story. The stories whose last version is oldest age out.
    private var newest: AgingTable<NewsEvent.Version>
    /// The newest version of each story for each of its single readers. An event has up to 20 of them, which would push stories for
    /// all readers out of `newest`. The ledger does not restore it, because results show only pseudonyms.
    private var newestOfReaders: AgingTable<NewsEvent.Version>

    init(capacity: Int) {
        known = AgingTable(capacity: capacity)
        newest = AgingTable(capacity: capacity)
        newestOfReaders = AgingTable(capacity: capacity)
    }

    private static func delivery(of routed: RoutedEvent, platform: Int) -> Fingerprint {
        delivery(id: routed.event.id, version: routed.ledgerVersion, platform: platform)
    }

    static func delivery(id: String, version: String?, platform: Int) -> Fingerprint {
        var fingerprint = Fingerprint()
        fingerprint.mix(UInt8(truncatingIfNeeded: platform))
        fingerprint.mix(id)
        if let version { fingerprint.mix(version) }
        return fingerprint
    }

    /// A record that repeats a delivery because a person put it back on its lane.
    static func repetition(_ delivery: Fingerprint, of repeated: String) -> Fingerprint {
        var fingerprint = delivery
        // No version contains this byte, so that the fingerprint is not that of another version.
        fingerprint.mix(UInt8.max)
        fingerprint.mix(repeated)
        return fingerprint
    }

    static func story(_ key: String, platform: Int) -> Fingerprint {
        var fingerprint = Fingerprint()
        fingerprint.mix(UInt8(truncatingIfNeeded: platform))
        fingerprint.mix(key)
        return fingerprint
    }

    enum Entry: Sendable, Hashable {
        /// Seen for the first time.
        case first
        /// Its event was seen before, but a person put this record back on the lane.
        case redriven
        /// The same id and version was seen before; for a redriven record, another one that repeats the same delivery.
        case seen
        /// A newer version of the story was seen, for all readers or for one of its single readers.
        case outdated
    }

    /// Enters a delivery that may be sent. Its version is noted if it is for all readers; see `note` for single readers.
    ///
    /// - Parameters:
    ///   - story: the fingerprint of its story.
    ///   - origin: the way in which its record came to the lane.
    mutating func enter(
        _ routed: RoutedEvent, platform: Int, _ story: Fingerprint, origin: SourceRecord.Origin
    ) -> Entry {
        let delivery = Self.delivery(of: routed, platform: platform)
        // A record that was seen does not enter its event's id, because it would never remove it.
        if case .redriven(let repeated?) = origin {
            guard known.insert(Self.repetition(delivery, of: repeated)) else { return .seen }
        }
        let isFirst = known.insert(delivery)
        if case .published = origin, !isFirst { return .seen }
        if let version = routed.event.version, isOutdated(version, of: routed, story) {
            remove(routed, platform: platform, origin: origin, isOwner: isFirst)
            return .outdated
        }
        if routed.event.users.isEmpty { note(routed, story) }
        return isFirst ? .first : .redriven
    }

    /// Returns true if a delivery with the same id and version may still be sent, or was accepted.
    func contains(_ routed: RoutedEvent, platform: Int) -> Bool {
        known.contains(Self.delivery(of: routed, platform: platform))
    }

    /// Learns a delivery that was accepted in a former run.
    mutating func restore(_ entry: LedgerEntry, platform: Int) {
        guard let eventID = entry.eventID else { return }
        let delivery = Self.delivery(id: eventID, version: entry.version, platform: platform)
        _ = known.insert(delivery)
        if let repeated = entry.redriveOf { _ = known.insert(Self.repetition(delivery, of: repeated)) }
    }

    /// Forgets a delivery that was not made, so that another try is no duplicate.
    ///
    /// - Parameter isOwner: it entered its event's id; otherwise the id stays.
    mutating func remove(_ routed: RoutedEvent, platform: Int, origin: SourceRecord.Origin, isOwner: Bool) {
        let delivery = Self.delivery(of: routed, platform: platform)
        if isOwner { known.remove(delivery) }
        if case .redriven(let repeated?) = origin { known.remove(Self.repetition(delivery, of: repeated)) }
    }

    /// Returns `true` if a newer version of the story was seen that was for all readers.
    func hasNewer(than version: NewsEvent.Version, ofStory story: Fingerprint) -> Bool {
        newest.isNewer(story, than: version)
    }

    /// Restores a version that left in a former run.
    mutating func restore(_ version: NewsEvent.Version, ofStory story: Fingerprint) {
        newest.note(version, for: story)
    }

    /// Returns `true` if a newer version of the story was seen for all readers, or has left for one of the event's single readers.
    ///
    /// An event for single readers is outdated for all of them if one has a newer version. It would replace the newer text on that
    /// reader's phone, and its result would not show this. Its result `superseded` shows that the others did not get it.
    private func isOutdated(_ version: NewsEvent.Version, of routed: RoutedEvent, _ story: Fingerprint) -> Bool {
        if routed.event.users.isEmpty { return newest.isNewer(story, than: version) }
        return routed.event.users.contains { newestOfReaders.isNewer(Self.reader($0, of: story), than: version) }
    }

    /// Remembers the version of an event for all readers, or for each of its single readers, once it has left or is withheld.
    mutating func note(_ routed: RoutedEvent, _ story: Fingerprint) {
        guard let version = routed.event.version else { return }
        if routed.event.users.isEmpty { newest.note(version, for: story) }
        for user in routed.event.users { newestOfReaders.note(version, for: Self.reader(user, of: story)) }
    }

    private static func reader(_ user: String, of story: Fingerprint) -> Fingerprint {
        var fingerprint = story
        fingerprint.mix(user)
        return fingerprint
    }
}

extension AgingTable<NewsEvent.Version> {
    fileprivate func isNewer(_ key: Fingerprint, than version: NewsEvent.Version) -> Bool {
        guard !isEmpty, let seen = self[key] else { return false }
        return version < seen
    }

    /// Remembers a version unless a newer one is there.
    fileprivate mutating func note(_ version: NewsEvent.Version, for key: Fingerprint) {
        if !isNewer(key, than: version) { set(version, for: key) }
    }
}
