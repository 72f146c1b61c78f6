import KafkaModel
import NewsModel

/// For each story the last events of one partition that have ended, by their offsets: a held event that was published before them
/// must not be sent after them. Holds as many stories as the duplicate window has deliveries; those whose last end is oldest age out.
struct EndedStories: Sendable {
    private var ends: AgingTable<End>
    /// The ends for single readers of a story, and of single events. There are many of them, which would push stories out of `ends`.
    private var parts: AgingTable<End>
    /// The newest version of a story that ended without leaving; few do. Those that left are in the duplicate window.
    private var unsent: [Fingerprint: Unsent] = [:]

    private struct End: Sendable {
        /// The offset of the last event, and of the last one without a version; at least 0.
        var last: Int64 = -1
        var lastWithoutVersion: Int64 = -1
        /// Their timestamps, if they were read here. The ledger contains no timestamps.
        var writtenAt = Instant.distantPast
        var writtenAtWithoutVersion = Instant.distantPast
    }

    private struct Unsent: Sendable {
        var version: NewsEvent.Version
        /// The same version must not follow either.
        var isWithheld: Bool
    }

    init(capacity: Int) {
        ends = AgingTable(capacity: capacity)
        parts = AgingTable(capacity: capacity)
    }

    private func last(of key: Fingerprint) -> End? { ends[key] ?? (parts.isEmpty ? nil : parts[key]) }

    /// - Parameters:
    ///   - outcome: the version is kept for `withheld` and `expired`.
    ///   - isPart: the key is that of single readers of a story, or of one event.
    mutating func note(
        _ story: String, at offset: Int64, writtenAt: Instant? = nil, _ version: NewsEvent.Version?,
        as outcome: Outcome, isPart: Bool = false
    ) {
        let key = Fingerprint(of: story)
        var end = last(of: key) ?? End()
        end.last = max(end.last, offset)
        if let writtenAt { end.writtenAt = max(end.writtenAt, writtenAt) }
        if version == nil {
            end.lastWithoutVersion = max(end.lastWithoutVersion, offset)
            if let writtenAt { end.writtenAtWithoutVersion = max(end.writtenAtWithoutVersion, writtenAt) }
        }
        if let forgotten = isPart ? parts.set(end, for: key) : ends.set(end, for: key) { unsent[forgotten] = nil }
        if last(of: key) != nil, let version, outcome == .withheld || outcome == .expired {
            let next = Unsent(version: version, isWithheld: outcome == .withheld)
            let isNewer = unsent[key].map { $0.version < version || $0.version == version && next.isWithheld } ?? true
            if isNewer { unsent[key] = next }
        }
    }

    /// The key for the end of a withheld event itself, whatever readers its records name.
    static func event(_ id: String, of story: String) -> String { "\(story)\0\(id)" }

    func has(_ story: String) -> Bool { last(of: Fingerprint(of: story)) != nil }

    /// Forgets the ends of a story if one is at this offset or above.
    mutating func forget(_ story: String, from offset: Int64) {
        let key = Fingerprint(of: story)
        if let end = last(of: key), end.last >= offset { forget(key) }
    }

    /// Forgets the stories with an end at this offset or above.
    mutating func forget(from offset: Int64) {
        for key in ends.keys(where: { $0.last >= offset }) + parts.keys(where: { $0.last >= offset }) { forget(key) }
    }

    private mutating func forget(_ key: Fingerprint) {
        ends.remove(key)
        parts.remove(key)
        unsent[key] = nil
    }

    /// True if an event of the story has ended that is newer than one of a former incarnation with this timestamp and version. Without
    /// two versions, timestamps are compared, because offsets of different incarnations are not comparable.
    func endsFormer(writtenAt: Instant, _ version: NewsEvent.Version?, of story: String) -> Bool {
        guard let end = last(of: Fingerprint(of: story)) else { return false }
        return writtenAt.precedes(version == nil ? end.writtenAt : end.writtenAtWithoutVersion)
    }

    /// True if an event of the story has ended that is newer than one with this offset and version. Two versions are compared as
    /// such, others by their offsets.
    func hasNewer(than offset: Int64, _ version: NewsEvent.Version?, of story: String) -> Bool {
        if ends.isEmpty, parts.isEmpty { return false }
        let key = Fingerprint(of: story)
        guard let end = last(of: key) else { return false }
        guard let version else { return offset < end.last }
        if let ended = unsent[key], ended.isWithheld ? version <= ended.version : version < ended.version {
            return true
        }
        return offset < end.lastWithoutVersion
    }
}

extension Instant {
    /// True if a record with this timestamp is older than one with the other. Producers may write any timestamp; one that is far
    /// earlier does not tell the age.
    func precedes(_ later: Instant) -> Bool { self < later && self > later - .seconds(31 * 24 * 3_600) }
}
