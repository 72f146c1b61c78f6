import CRdkafka
import KafkaModel
import NewsModel

/// Checks incarnations and first offsets for `ConsumerState`. Runs on the watcher's thread and blocks for a few seconds per lane at most.
final class IncarnationExaminer {
    private let settings: KafkaSettings
    private let lanes: Int
    private let commands: CommandQueue<DriverCommand>
    private var consumer: AssignedConsumer?

    private static let timeout = Duration.seconds(2)

    init(settings: KafkaSettings, lanes: Int, commands: CommandQueue<DriverCommand>) {
        self.settings = settings
        self.lanes = lanes
        self.commands = commands
    }

    typealias Check = ConsumerState.IncarnationCheck

    func examine(_ checks: [(LaneID, Check)]) {
        for lane in (0..<lanes).map(LaneID.init) {
            let ours = checks.filter { $0.0 == lane }.map(\.1)
            readAnchors(lane, ours)
        }
    }

    /// Reads the first offsets of partitions. `ConsumerState` requests those that cannot be read again.
    func examine(_ checks: [(LaneID, ConsumerState.RemovalCheck)]) {
        for (lane, check) in checks {
            do throws(KafkaFailure) {
                let kept = try consumerMadeOnce().watermarks(check.partition)
                commands.post(.begins(lane, check, at: kept.lowerBound))
            } catch {
                // Each of the others would wait as long in vain.
                guard error.isMissingPartition else { return }
                commands.post(.begins(lane, check, at: nil))
            }
        }
    }

    private func consumerMadeOnce() throws(KafkaFailure) -> AssignedConsumer {
        if let consumer { return consumer }
        let made = try AssignedConsumer(settings, examining: settings.group)
        consumer = made
        return made
    }

    /// Reads one record of each partition, starting at its anchor's offset.
    private func readAnchors(_ lane: LaneID, _ checks: [Check]) {
        if checks.isEmpty { return }
        var open: [TopicPartition: Check] = [:]
        for check in checks { open[check.partition] = check }
        do throws(KafkaFailure) {
            let consumer = try consumerMadeOnce()
            try consumer.assign(
                checks.map { PartitionOffset($0.partition, $0.anchor.offset) })
            let until = ServiceClock.steady + Self.timeout
            while !open.isEmpty, ServiceClock.steady < until {
                _ = consumer.read(milliseconds: 100) { partition, message in
                    guard let check = open.removeValue(forKey: partition) else { return }
                    switch message.pointee.err {
                    case RD_KAFKA_RESP_ERR_NO_ERROR:
                        commands.post(.checked(lane, check, .record(IncarnationAnchor(SourceRecord(message)))))
                    case RD_KAFKA_RESP_ERR__PARTITION_EOF:
                        commands.post(.checked(lane, check, .nothing(end: message.pointee.offset)))
                    default: commands.post(.failed(lane, check, KafkaFailure(reading: partition, message)))
                    }
                }
            }
            try consumer.assign([])
        } catch {
            consumer = nil
        }
    }
}
