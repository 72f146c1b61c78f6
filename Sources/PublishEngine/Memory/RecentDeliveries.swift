import KafkaModel
import NewsModel

/// The deliveries made lately: a bounded window that recognises a second record with the same id and version,
/// and an older version of a story that arrives behind a newer one.
struct RecentDeliveries: Sendable {
    private var known: AgingTable<Void>
    /// The newest version of each story. The stories whose last version is oldest age out.
    private var newest: AgingTable<NewsEvent.Version>

    init(capacity: Int) {
        known = AgingTable(capacity: capacity)
        newest = AgingTable(capacity: capacity)
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

    /// The fingerprint whose versions are compared: the story, as these readers get it.
    static func versions(of event: NewsEvent, _ story: Fingerprint) -> Fingerprint {
        var fingerprint = story
        if event.users.isEmpty { return fingerprint }
        // The order of the readers says nothing.
        for user in Set(event.users).sorted() { fingerprint.mix(user) }
        return fingerprint
    }

    enum Entry: Sendable, Hashable {
        /// Seen for the first time.
        case first
        /// Its event was seen before, but a person put this record back on the lane.
        case redriven
        /// The same id and version was seen before; for a redriven record, another one that repeats the same delivery.
        case seen
        /// A newer version of the story was seen.
        case outdated
    }

    /// Enters a delivery that may be sent.
    ///
    /// - Parameters:
    ///   - story: the fingerprint of its story.
    ///   - origin: the way in which its record came to the lane.
    mutating func enter(
        _ routed: RoutedEvent, platform: Int, _ story: Fingerprint, origin: SourceRecord.Origin
    ) -> Entry {
        let delivery = Self.delivery(of: routed, platform: platform)
        let isFirst = known.insert(delivery)
        switch origin {
        case .published: guard isFirst else { return .seen }
        case .redriven(let repeated?): guard known.insert(Self.repetition(delivery, of: repeated)) else { return .seen }
        case .redriven(nil): break
        }
        if let version = routed.event.version,
            isOutdated(version, ofStory: Self.versions(of: routed.event, story))
        {
            remove(routed, platform: platform, origin: origin, isOwner: isFirst)
            return .outdated
        }
        return isFirst ? .first : .redriven
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

    /// Returns `true` if a newer version of the story was seen.
    func hasNewer(than version: NewsEvent.Version, ofStory story: Fingerprint) -> Bool {
        guard !newest.isEmpty, let seen = newest[story] else { return false }
        return version < seen
    }

    /// Restores a version that left in a former run.
    mutating func restore(_ version: NewsEvent.Version, ofStory story: Fingerprint) {
        _ = isOutdated(version, ofStory: story)
    }

    /// Returns `true` if a newer version of the story was seen; remembers this one if it is the newest.
    private mutating func isOutdated(_ version: NewsEvent.Version, ofStory story: Fingerprint) -> Bool {
        if let seen = newest[story], version < seen { return true }
        newest.set(version, for: story)
        return false
    }
}
