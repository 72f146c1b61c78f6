import DequeModule
import KafkaModel
import NewsModel

/// Finds events that wait together with a newer version or a recall of their story: which of them leaves first is decided by
/// milliseconds, and no rehearsal can tell.
struct OvertakingVersions {
    private struct Waiting {
        var isVersion: Bool
        var sentAt: Instant
        /// Its number among those sent of its partition.
        var number: Int
    }

    /// At most so many records of a lane wait in a process.
    private let window: Int
    private var stories: [UInt64: [Waiting]] = [:]
    /// By partition, the stories of those sent last.
    private var order: [Int32: (count: Int, stories: Deque<UInt64>)] = [:]

    init(window: Int) { self.window = window }

    /// - Parameter outcome: as the rehearsal says, where nothing waits.
    /// - Returns: how many events before it may still wait when this one is read.
    mutating func note(
        _ event: NewsEvent, _ outcome: Outcome, on partition: Int32, writtenAt: Instant, sentAt: Instant
    ) -> Int {
        let isRecall = outcome == .canceled && event.status == .canceled
        guard outcome == .accepted || isRecall else { return 0 }
        var fingerprint = Fingerprint()
        fingerprint.mix(event.orderKey)
        let story = fingerprint.value
        let first = order[partition, default: (0, [])].count - window
        var (overtaken, left) = (0, [] as [Waiting])
        for waiting in stories[story] ?? [] where waiting.number >= first && waiting.sentAt >= writtenAt {
            if isRecall || waiting.isVersion && event.version != nil {
                overtaken += 1
            } else {
                left.append(waiting)
            }
        }
        stories[story] = left.isEmpty ? nil : left
        if !isRecall { append(story, event, partition, sentAt) }
        return overtaken
    }

    private mutating func append(_ story: UInt64, _ event: NewsEvent, _ partition: Int32, _ sentAt: Instant) {
        var (count, known) = order.removeValue(forKey: partition) ?? (0, [])
        stories[story, default: []].append(
            Waiting(isVersion: event.version != nil, sentAt: sentAt, number: count))
        known.append(story)
        count += 1
        // What has left the window by now can be forgotten: its story is looked at once for each of its events.
        if known.count > window, let oldest = known.popFirst() {
            stories[oldest]?.removeAll { $0.number < count - window }
            if stories[oldest]?.isEmpty == true { stories[oldest] = nil }
        }
        order[partition] = (count, known)
    }
}
