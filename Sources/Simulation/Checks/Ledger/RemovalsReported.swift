import KafkaModel
import NewsModel

/// A record that retention removes before it gets its results is in a report of removed records, and nothing else is.
struct RemovalsReported: Checker {
    let promise = Promise.removalsReported
    /// The times at which the items were removed.
    private var unread: [Int: Instant] = [:]
    /// The processes that were killed or have shut down.
    private var ended: Set<Address> = []
    private var reported: [TopicPartition: [Range<Int64>]] = [:]

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        switch fact {
        case .removedUnread(let items): for item in items { unread[item] = truth.now }
        case .reportedRemoved(let removed):
            for records in removed {
                guard let log = truth.sources[records.partition], records.offsets.upperBound <= log.start else {
                    return "\(records.partition) reports \(records.offsets) as removed, though they can be read"
                }
                reported[records.partition, default: []].append(records.offsets)
            }
        case .died(let address), .finished(let address, _): ended.insert(address)
        case .over:
            for (item, time) in unread.sorted(by: { $0.key < $1.key })
            where !truth.isSettled(item) && !isReported(item, removedAt: time, truth) {
                return "~\(truth.news[item].serial)~ was removed before it was read, and nobody reports it"
            }
        default: break
        }
        return nil
    }

    private func isReported(_ item: Int, removedAt time: Instant, _ truth: GroundTruth) -> Bool {
        guard let place = truth.places[item] else { return false }
        if reported[place.partition]?.contains(where: { $0.contains(place.offset) }) ?? false { return true }
        // A process that ends after it has committed the offsets behind the removed ones, and before the broker's answer, leaves no
        // report.
        return truth.ownerships.contains { owner in
            owner.partition == place.partition && ended.contains(owner.address) && owner.taken[place.offset] == nil
                && (owner.beganAt > time || owner.taken.keys.contains { $0 > place.offset }
                    || truth.committed[owner.lane][place.partition].map { $0.offset > place.offset } ?? false)
        }
    }
}
