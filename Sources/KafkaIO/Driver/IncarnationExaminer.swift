import CRdkafka
import KafkaModel
import NewsModel

/// Finds out what `ConsumerState` wants to know about incarnations. Lives on the watcher's thread, and blocks for at most some
/// seconds a lane.
final class IncarnationExaminer {
    private let settings: KafkaSettings
    private let members: [RdClient]
    private let commands: CommandQueue
    private var consumer: AssignedConsumer?

    private static let timeout = Duration.seconds(2)

    init(settings: KafkaSettings, members: [RdClient], commands: CommandQueue) {
        self.settings = settings
        self.members = members
        self.commands = commands
    }

    typealias Check = ConsumerState.IncarnationCheck

    func examine(_ checks: [(LaneID, Check)]) {
        for lane in members.indices.map(LaneID.init) {
            let ours = checks.filter { $0.0 == lane }.map(\.1)
            readNotes(lane, ours.filter { $0.anchor == nil })
            readAnchors(lane, ours.filter { $0.anchor != nil })
        }
    }

    private func readNotes(_ lane: LaneID, _ checks: [Check]) {
        guard !checks.isEmpty else { return }
        let list = RdPartitionList(capacity: checks.count)
        for check in checks { list.append(check.partition) }
        let error = list.withPointer {
            rd_kafka_committed(members[lane.index].handle, $0, TopicWatcher.timeout)
        }
        guard error == RD_KAFKA_RESP_ERR_NO_ERROR else { return }
        for element in list.elements where element.error == RD_KAFKA_RESP_ERR_NO_ERROR {
            guard let check = checks.first(where: { $0.partition == element.partition }) else { continue }
            commands.post(.foundNote(lane, check, note: element.offset >= 0 ? element.note : nil))
        }
    }

    private func consumerMadeOnce() throws(KafkaFailure) -> AssignedConsumer {
        if let consumer { return consumer }
        let made = try AssignedConsumer(settings, examining: settings.group)
        consumer = made
        return made
    }

    /// Reads one record of each partition, from its anchor's offset on.
    private func readAnchors(_ lane: LaneID, _ checks: [Check]) {
        if checks.isEmpty { return }
        var open: [TopicPartition: Check] = [:]
        for check in checks { open[check.partition] = check }
        do throws(KafkaFailure) {
            let consumer = try consumerMadeOnce()
            try consumer.assign(
                checks.compactMap { check in check.anchor.map { PartitionOffset(check.partition, $0.offset) } })
            let until = MonotonicClock.now + Self.timeout
            while !open.isEmpty, MonotonicClock.now < until {
                _ = consumer.read(milliseconds: 100) { partition, message in
                    guard let check = open.removeValue(forKey: partition) else { return }
                    let finding: IncarnationAnchor.Finding =
                        switch message.pointee.err {
                        case RD_KAFKA_RESP_ERR_NO_ERROR: .record(IncarnationAnchor(SourceRecord(message)))
                        case RD_KAFKA_RESP_ERR__PARTITION_EOF: .nothing
                        default: .unknown
                        }
                    commands.post(.checked(lane, check, finding))
                }
            }
            try consumer.assign([])
        } catch {
            consumer = nil
        }
    }
}
