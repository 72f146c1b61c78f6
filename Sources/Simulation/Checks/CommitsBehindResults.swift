import KafkaModel
import NewsModel
import PublishEngine

/// G2: every record below a committed offset has all its results on the results topic. An owner that has not yet heard that
/// the partition began anew cannot know the records that stand there now.
struct CommitsBehindResults: Checker {
    let promise = Promise.commitsBehindResults

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        guard case .committed(let address, _, let offsets) = fact else { return nil }
        for offset in offsets {
            guard let log = truth.sources[offset.partition], !isOutdated(address, offset.partition, log, truth) else {
                continue
            }
            guard offset.offset <= log.end else {
                return "\(offset.partition) was committed to \(offset.offset), past its end \(log.end)"
            }
            for (stands, item) in log.items.reversed() where stands < offset.offset {
                if truth.places[item]?.isHidden == true { continue }
                for delivery in truth.deliveries(of: item) where truth.resultsOf[delivery].isEmpty {
                    return
                        "\(offset.partition) was committed to \(offset.offset); \(truth.name(delivery)) has no result"
                }
            }
        }
        return nil
    }

    /// Whether the owner took the partition, or went on to its new incarnation, before the log began anew.
    private func isOutdated(
        _ address: Address, _ partition: TopicPartition, _ log: SourceLog, _ truth: GroundTruth
    ) -> Bool {
        guard let owner = truth.ownerships.last(where: { $0.address == address && $0.partition == partition }) else {
            return true
        }
        return owner.beganAt <= log.startedAt
    }
}
