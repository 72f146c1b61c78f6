import EditorialControl
import KafkaIO
import KafkaModel
import NewsModel

/// Writes the originals of events that vanished from the held topic to their lanes again, where they are held again. Its call
/// blocks.
struct HeldRestorer {
    let settings: KafkaSettings

    private static let timeout = Duration.seconds(10)

    func restore(_ restores: [HeldState.Restore]) -> [HeldState.RestoreEnding] {
        Dictionary(grouping: restores, by: \.partition.topic).sorted { $0.key < $1.key }.flatMap { topic, restores in
            do throws(KafkaFailure) {
                return try restore(restores, topic)
            } catch {
                return restores.map { .failed($0.id) }
            }
        }
    }

    private func restore(
        _ restores: [HeldState.Restore], _ topic: String
    ) throws(KafkaFailure) -> [HeldState.RestoreEnding] {
        let originals = try read(restores, topic)
        let publisher = try RecordPublisher(settings: settings, skipsRefused: true)
        var written: [(index: Int, id: UInt64)] = []
        var endings: [HeldState.RestoreEnding] = []
        var hasFailed = false
        for restore in restores {
            switch originals[Place(restore)] {
            case .some(.some(let record)) where restore.original.isThe(record):
                let again = HeldRecord.restored(
                    record, to: restore.partition, at: ServiceClock.wall, group: settings.group)
                // What was accepted before a failure may be stored, so its ending is determined below.
                hasFailed = hasFailed || (try? publisher.publish(again, timeout: Self.timeout)) == nil
                if hasFailed {
                    endings.append(.failed(restore.id))
                } else {
                    written.append((publisher.published - 1, restore.id))
                }
            case .some: endings.append(.gone(restore.id))
            case nil: endings.append(.failed(restore.id))
            }
        }
        _ = publisher.settle(within: Self.timeout)
        let refused = Set(publisher.takeRefused().map(\.index))
        // Unsent records are discarded, because they must not be sent in addition to the next attempt.
        if publisher.waiting > 0 { _ = publisher.abandon() }
        for (index, id) in written {
            let isStored = publisher.isAcknowledged(index) && !refused.contains(index)
            endings.append(isStored ? .restored(id) : .failed(id))
        }
        return endings
    }

    private struct Place: Hashable {
        var partition: Int32
        var offset: Int64

        init(_ partition: Int32, _ offset: Int64) { (self.partition, self.offset) = (partition, offset) }
        init(_ restore: HeldState.Restore) { self.init(restore.partition.partition, restore.original.offset) }
    }

    /// - Returns: the records at the places; `nil` if a place has no record. Unreadable places are absent.
    private func read(
        _ restores: [HeldState.Restore], _ topic: String
    ) throws(KafkaFailure) -> [Place: SourceRecord?] {
        let places = Dictionary(grouping: restores, by: \.partition.partition).mapValues { restores in
            Set(restores.map(\.original.offset)).sorted()
        }
        let reader = try PlaceReader(settings: settings, topic: topic, partitions: places.count)
        try reader.begin(places)
        var found: [Place: SourceRecord?] = [:]
        let deadline = ContinuousClock.now + Self.timeout
        while !reader.isDone, ContinuousClock.now < deadline {
            for event in try reader.next(timeout: .milliseconds(200)) {
                switch event {
                case .found(let partition, let record): found[Place(partition, record.offset)] = .some(record)
                case .missing(let partition, let offset): found[Place(partition, offset)] = .some(nil)
                }
            }
        }
        return found
    }
}
