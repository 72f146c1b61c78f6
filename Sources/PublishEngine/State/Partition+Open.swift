import DequeModule
import KafkaModel
import NewsModel

/// The records and deliveries that are not done.
extension Partition {
    /// The stories in which deliveries keep their places.
    var openStories: [StoryID] {
        entries.indices.flatMap { index in
            (0..<platformCount).filter { self[index, $0].isOpen }.map { self[index, $0].story }
        }
    }

    /// The size of the records.
    var openBytes: Int { entries.reduce(0) { $0 + ($1.open > 0 ? $1.byteCount : 0) } }

    /// Counts the deliveries without an outcome that wait and that are in flight.
    ///
    /// - Parameter isCounted: true for the records that count. The content of a record that was not examined is `nil`.
    func unsettled(where isCounted: (ExaminedRecord?) -> Bool) -> (waiting: Int, inFlight: Int) {
        var (waiting, inFlight) = (0, 0)
        for index in entries.indices where isCounted(content(at: index)) {
            for platform in 0..<platformCount {
                let delivery = self[index, platform]
                if delivery.waits { waiting += 1 }
                if delivery.phase == .inFlight { inFlight += 1 }
            }
        }
        return (waiting, inFlight)
    }

    /// Calls `body` with each record of which a delivery waits. The content of a record that was not examined is `nil`.
    func forEachWaiting(_ body: (Entry, ExaminedRecord?) -> Void) {
        for index in entries.indices {
            guard (0..<platformCount).contains(where: { self[index, $0].waits }) else { continue }
            body(entries[index], content(at: index))
        }
    }

    /// Counts the stories' deliveries that the hub may have accepted and whose results are not acknowledged. Those that a former
    /// owner had sent and that ended when their record was read have no story, so each story counts them.
    func unreported(of stories: Set<StoryID>) -> Int {
        guard unstored > 0 else { return 0 }
        return entries.indices.reduce(0) { count, index in
            count
                + (0..<platformCount).count { platform in
                    let delivery = self[index, platform]
                    return (delivery.phase == .settled || delivery.phase == .pending) && !delivery.isCertain
                        && (delivery.story == .none || stories.contains(delivery.story))
                }
        }
    }
}
