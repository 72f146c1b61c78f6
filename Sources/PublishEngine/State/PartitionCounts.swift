import NewsModel

/// The partition count of each topic of a lane, by present knowledge.
struct PartitionCounts: Sendable {
    private(set) var byTopic: [String: Int] = [:]
    /// The counts were read since the last assignment; only then our share is known.
    private(set) var isFresh = false

    /// The time since which the topics differ in length; by the monotonic clock.
    private(set) var unequalSince: Instant?
    /// Missing topics in the order of the settings, and the time since when any is missing.
    private(set) var missing: [String] = []
    private(set) var missingSince = Instant.distantPast
    private(set) var assignedAt = Instant.distantPast

    mutating func assigned(at now: Instant) {
        isFresh = false
        assignedAt = now
    }

    /// Updates the counts. Missing topics keep their count. Until the next assignment no count shrinks, because others
    /// may still own removed partitions.
    mutating func learn(_ counts: [String: Int], of topics: [String], isFresh: Bool, at now: Instant) {
        for topic in topics {
            guard let count = counts[topic] else { continue }
            byTopic[topic] = isFresh && !self.isFresh ? count : max(byTopic[topic] ?? 0, count)
        }
        if isFresh { self.isFresh = true }
        unequalSince = areEqual ? nil : unequalSince ?? now
        if missing.isEmpty { missingSince = now }
        missing = topics.filter { counts[$0] == nil }
    }

    var total: Int { byTopic.values.reduce(0, +) }

    /// All topics of a lane have the same count, so one member owns partition p of all of them.
    var areEqual: Bool { Set(byTopic.values).count <= 1 }
}
