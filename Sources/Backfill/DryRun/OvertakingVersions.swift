import DequeModule
import KafkaModel
import NewsModel
import PublishEngine

/// Finds events that wait together with a newer version or a recall of their story. Milliseconds decide which of them leaves
/// first, so a rehearsal cannot predict it.
struct OvertakingVersions {
    private struct Waiting {
        var event: UInt64
        var isVersion: Bool
        /// True if the event would be too old when its turn comes, but may overtake others until then.
        var expires: Bool
        var sentAt: Instant
        /// The sequence number among the events sent from its partition.
        var number: Int
    }

    /// Maximum number of a lane's records that wait in one process.
    private let window: Int
    private var stories: [UInt64: [Waiting]] = [:]
    /// Events that may be overtaken. A later copy of one is a duplicate, or is older than the event sent in its place.
    private var overtaken: Set<UInt64> = []
    private var sent: [Int32: Sent] = [:]

    /// The events sent from one partition.
    private struct Sent {
        var count = 0
        /// Stories of the most recent events.
        var stories: Deque<UInt64> = []
    }

    /// Time that an event may wait even without an event ahead of it, because records are read in batches.
    private static let slack = Duration.seconds(2)

    init(window: Int) { self.window = window }

    /// - Parameters:
    ///   - copy: a fingerprint that is equal for every copy of the event.
    ///   - outcome: the outcome of the rehearsal, in which nothing waits.
    ///   - expires: true if the event expires by waiting: it was not too old yet when it was written.
    /// - Returns: the number of events whose outcome may differ: this one, or earlier ones that may wait when it is read.
    mutating func note(
        _ event: NewsEvent, copy: UInt64, _ outcome: Outcome, expires: Bool, on partition: Int32, writtenAt: Instant,
        sentAt: Instant
    ) -> Int {
        let isRecall = outcome == .canceled && event.status == .canceled
        guard isRecall || expires || outcome == .accepted || outcome == .duplicate else { return 0 }
        if outcome == .duplicate, overtaken.contains(copy) { return 1 }
        let story = Fingerprint(of: event.orderKey).value
        let first = sent[partition, default: Sent()].count - window
        var waiting = stories.removeValue(forKey: story) ?? []
        waiting.removeAll { $0.number < first || $0.sentAt + Self.slack < writtenAt }
        let isOutdated = outcome == .accepted && event.version != nil && waiting.contains { $0.expires && $0.isVersion }
        let before = waiting.count
        // A duplicate waits for the outcome of its original and overtakes nothing.
        if outcome != .duplicate, !isOutdated {
            waiting.removeAll {
                guard isRecall || $0.isVersion && event.version != nil else { return false }
                overtaken.insert($0.event)
                return true
            }
        }
        let count = before - waiting.count + (isOutdated ? 1 : 0)
        if outcome == .accepted || expires || outcome == .duplicate && !waiting.isEmpty {
            waiting.append(
                Waiting(
                    event: copy, isVersion: event.version != nil, expires: expires, sentAt: sentAt,
                    number: append(story, on: partition)))
        }
        if !waiting.isEmpty { stories[story] = waiting }
        return count
    }

    /// - Returns: the event's sequence number in its partition.
    private mutating func append(_ story: UInt64, on partition: Int32) -> Int {
        var last = sent.removeValue(forKey: partition) ?? Sent()
        defer { sent[partition] = last }
        last.stories.append(story)
        last.count += 1
        // Drops events that have left the window, because their story may never be looked up again.
        if last.stories.count > window, let oldest = last.stories.popFirst(), var waiting = stories[oldest] {
            waiting.removeAll { $0.number < last.count - window }
            stories[oldest] = waiting.isEmpty ? nil : waiting
        }
        return last.count - 1
    }
}
