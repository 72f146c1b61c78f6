import Feeds
import KafkaModel
import NewsModel

/// Turns events of the state topic into inputs of an ingester. For one thread at a time.
final class StateBooks {
    private let layout: StateLayout
    private let topic: String
    /// Number of layouts read from partition 0.
    private var layoutsSeen = 0
    private var lacksLayout = false
    private var unrestored: Set<Int32>?
    /// True if the broker reports that the topic does not exist. The group then assigns no partitions, which looks like
    /// an empty share.
    private(set) var isTopicMissing = false

    init(layout: StateLayout, topic: String) {
        self.layout = layout
        self.topic = topic
    }

    /// True once the group has given this process its share, possibly an empty one, and all of it has been read.
    var isRestored: Bool { !isTopicMissing && unrestored?.isEmpty ?? false }

    func note(_ failure: KafkaFailure) {
        if failure.code == "UNKNOWN_TOPIC_OR_PART" { isTopicMissing = true }
    }

    func translate(_ event: SharedStateEvent) -> [IngestInput] {
        switch event {
        case .assigned(let partitions, _):
            layoutsSeen = 0
            unrestored = Set(partitions)
            if !partitions.isEmpty { isTopicMissing = false }
            return [.assigned(partitions)]
        case .records(let partition, let records):
            return records.compactMap { record in
                // Keys are ours; records of other programs are ignored.
                guard let key = record.key.flatMap({ String(validating: $0, as: UTF8.self) }) else { return nil }
                if key == StateLayout.key {
                    layoutsSeen += 1
                    return nil
                }
                return .record(partition: partition, offset: record.offset, key: key, value: record.value)
            }
        case .removed(let partition, let offset):
            if partition == 0, unrestored?.contains(0) == false { lacksLayout = true }
            return [.removed(partition: partition, below: offset)]
        case .restored(let partition):
            if partition == 0, layoutsSeen == 0 { lacksLayout = true }
            unrestored?.remove(partition)
            return [.restored(partition: partition)]
        case .revoked(let partitions): return [.revoked(partitions)]
        case .lost(let partitions): return [.lost(partitions)]
        case .restarted(let partition):
            if partition == 0 { layoutsSeen = 0 }
            unrestored?.insert(partition)
            return [.lost([partition]), .assigned([partition])]
        // Feeds commit nothing, because each owner reads the whole topic.
        case .committed: return []
        case .written(let number):
            switch WriteNumber(raw: number) {
            case .events(let write): return [.published(write)]
            case .state(let write): return [.stored(write)]
            case .layout: return []
            }
        case .refused(let number, let places, let failure):
            switch WriteNumber(raw: number) {
            case .events(let write): return [.refused(write, events: places, because: "\(failure)")]
            case .state(let write): return [.writeFailed(write, because: "\(failure)")]
            case .layout: return []
            }
        case .notWritten(let number, let failure):
            switch WriteNumber(raw: number) {
            case .events(let write), .state(let write): return [.writeFailed(write, because: "\(failure)")]
            case .layout: return []
            }
        }
    }

    /// Returns, once, the layout record for a topic that was created again, so that the layout is not lost.
    func missingLayout() -> ProducedRecord? {
        defer { lacksLayout = false }
        return lacksLayout ? layout.record(topic: topic) : nil
    }
}
