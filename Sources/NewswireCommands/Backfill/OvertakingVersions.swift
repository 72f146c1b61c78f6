import DequeModule
import KafkaModel
import NewsModel
import PublishEngine

/// Finds events that wait together with a newer version or a recall of their story: which of them leaves first is decided by
/// milliseconds, and no rehearsal can tell.
struct OvertakingVersions {
    private struct Waiting {
        var event: UInt64
        var isVersion: Bool
        /// It would be too old when its turn comes, and overtakes others before.
        var expires: Bool
        var sentAt: Instant
        /// Its number among those sent of its partition.
        var number: Int
    }

    /// At most so many records of a lane wait in a process.
    private let window: Int
    private var stories: [UInt64: [Waiting]] = [:]
    /// A later copy of these is a duplicate, or older than what was sent instead.
    private var overtaken: Set<UInt64> = []
    private var sent: [Int32: Sent] = [:]

    /// In one partition.
    private struct Sent {
        var count = 0
        /// Of the last ones.
        var stories: Deque<UInt64> = []
    }

    /// Records are read in batches: so long an event may wait although none is before it.
    private static let slack = Duration.seconds(2)

    init(window: Int) { self.window = window }

    /// - Parameters:
    ///   - copy: the same for every copy of the event.
    ///   - outcome: as the rehearsal says, where nothing waits.
    ///   - expires: it was not too old yet when it was written.
    /// - Returns: how many events, this one or those before it that may still wait when it is read, may end otherwise.
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
        // A copy waits for what becomes of its first, and overtakes nothing.
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

    /// - Returns: its number among those of its partition.
    private mutating func append(_ story: UInt64, on partition: Int32) -> Int {
        var last = sent.removeValue(forKey: partition) ?? Sent()
        defer { sent[partition] = last }
        last.stories.append(story)
        last.count += 1
        // What has left the window is forgotten: its story may never be looked at again.
        if last.stories.count > window, let oldest = last.stories.popFirst(), var waiting = stories[oldest] {
            waiting.removeAll { $0.number < last.count - window }
            stories[oldest] = waiting.isEmpty ? nil : waiting
        }
        return last.count - 1
    }
}
