import KafkaModel
import NewsModel

/// G2: every record below a committed offset has all its results on the results topic. An owner that has not noticed a recreated
/// partition cannot know its records. Its successor must detect that from the note of the committed offset, and read the
/// partition again.
struct CommitsBehindResults: Checker {
    let promise = Promise.commitsBehindResults
    /// The last commits. Everything below them was checked.
    private var last: [TopicPartition: GroundTruth.Commit] = [:]

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        guard case .committed(let address, let lane, let offsets) = fact else { return nil }
        for offset in offsets {
            guard let log = truth.sources[offset.partition] else { continue }
            let before = last.updateValue(
                GroundTruth.Commit(offset: offset.offset, at: truth.now), forKey: offset.partition)
            if isOutdated(address, offset.partition, log, truth) { continue }
            if isFormer(truth.committed[lane][offset.partition]?.note, log, truth) { continue }
            guard offset.offset <= log.end else {
                return "\(offset.partition) was committed to \(offset.offset), past its end \(log.end)"
            }
            let checked = before.map { $0.at >= log.startedAt ? $0.offset : 0 } ?? 0
            for (stands, item) in log.items[log.index(from: checked)...] where stands < offset.offset {
                if truth.places[item]?.isHidden == true { continue }
                for delivery in truth.deliveries(of: item) where truth.resultsOf[delivery].isEmpty {
                    return
                        "\(offset.partition) was committed to \(offset.offset); \(truth.name(delivery)) has no result"
                }
            }
        }
        return nil
    }

    /// Returns true if the note of the offset belongs to another incarnation.
    private func isFormer(_ note: String?, _ log: SourceLog, _ truth: GroundTruth) -> Bool {
        guard let anchor = note.flatMap(CommitNote.anchor) else { return false }
        let index = log.index(from: anchor.offset)
        guard index < log.items.count else { return true }
        var record = truth.news[log.items[index].item].record
        record.offset = log.items[index].offset
        if anchor.isBeginning { return anchor.verdict(.record(IncarnationAnchor(record))) == .another }
        return IncarnationAnchor(record) != anchor
    }

    /// Returns true if the owner began with the partition or its present incarnation before the log was recreated. A commit from
    /// just before the owner rewound may still be in flight.
    private func isOutdated(
        _ address: Address, _ partition: TopicPartition, _ log: SourceLog, _ truth: GroundTruth
    ) -> Bool {
        guard let owner = truth.ownerships.last(where: { $0.address == address && $0.partition == partition }) else {
            return true
        }
        return owner.beganAt <= log.startedAt || (owner.hasRewound && truth.now < owner.beganAt + .milliseconds(200))
    }
}
