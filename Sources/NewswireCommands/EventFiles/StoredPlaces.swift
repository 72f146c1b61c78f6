import Backfill
import ByteText
import KafkaIO
import KafkaModel
import NewsModel

/// The records that a topic has at the places where earlier commands have stored theirs. A topic that was deleted and made again
/// ends before such a place, or has the record of another run there.
struct StoredPlaces {
    /// The ends of the partitions that exist.
    private(set) var ends: [Int32: Int64] = [:]
    /// The run of each record that was found; empty if it belongs to none.
    private(set) var runs: [PublishProgress.Place: String] = [:]
    /// False if records could not be read in time.
    private(set) var isComplete = true

    private static let patience = Duration.seconds(10)

    /// Reads the records. Blocks.
    init(
        _ places: Set<PublishProgress.Place>, topic: String, partitions: Int, _ admin: KafkaAdmin,
        _ settings: KafkaSettings, _ stop: StopFlag
    ) throws(KafkaFailure) {
        for partition in Set(places.map(\.partition)) where Int(partition) < partitions {
            ends[partition] = try admin.watermarks(TopicPartition(topic: topic, partition: partition)).upperBound
        }
        let wanted = places.filter { $0.offset < ends[$0.partition] ?? 0 }
        if wanted.isEmpty { return }
        let reader = try PlaceReader(settings: settings, topic: topic, partitions: ends.count)
        try reader.begin(Dictionary(grouping: wanted, by: \.partition).mapValues { $0.map(\.offset).sorted() })
        let deadline = ContinuousClock.now + Self.patience
        while !reader.isDone, !stop.isRaised, deadline > .now {
            for case .found(let partition, let record) in try reader.next(timeout: .milliseconds(200)) {
                let place = PublishProgress.Place(partition: partition, offset: record.offset)
                runs[place] = RunSource.run(of: record, for: settings.group) ?? ""
            }
        }
        isComplete = reader.isDone
    }
}

extension PublishProgresses {
    /// Checks that the topic is the one to which earlier commands have published.
    ///
    /// - Throws: `EventFile.Failure` if it was deleted and made again, or cut back; `KafkaFailure` if its ends cannot be read.
    func compare(
        _ topic: String, partitions: Int, _ admin: KafkaAdmin, _ settings: KafkaSettings, _ stop: StopFlag
    ) throws {
        let places = Set(begun.compactMap(\.progress.stored))
        if places.isEmpty { return }
        let found = try StoredPlaces(places, topic: topic, partitions: partitions, admin, settings, stop)
        for (path, progress) in begun where progress.isOfFormerTopic(ends: found.ends, runs: found.runs) {
            throw EventFile.Failure(
                "\(path): \(counted(progress.published, "event was", plural: "events were")) published to \(topic) before that topic was deleted and made again, or cut back; remove \(ProgressFile.path(for: path)) to publish everything"
            )
        }
        if !found.isComplete, !stop.isRaised {
            notice(
                "\(topic) cannot be read: if it was deleted and made again, what earlier commands published is missing there"
            )
        }
    }
}
