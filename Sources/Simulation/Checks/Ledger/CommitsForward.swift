import KafkaModel
import NewsModel

/// G2: within an incarnation, the committed offset of a source partition only rises, and only its owner commits it.
struct CommitsForward: Checker {
    let promise = Promise.commitsForward
    private var highest: [TopicPartition: GroundTruth.Commit] = [:]
    /// Start times of the ownerships whose commits are in flight. A process has at most one commit of a partition in flight.
    private var beganAt: [Place: Instant] = [:]

    private struct Place: Hashable {
        var address: Address
        var partition: TopicPartition
    }

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        switch fact {
        case .committing(let address, let lane, let generation, let offsets):
            for offset in offsets {
                if let sentence = strange(offset, address, lane, generation, truth) { return sentence }
                let owner = truth.ownerships.last {
                    $0.end == nil && $0.address == address && $0.partition == offset.partition
                }
                beganAt[Place(address: address, partition: offset.partition)] = owner?.beganAt
            }
        case .committed(let address, _, let offsets):
            for offset in offsets {
                guard let log = truth.sources[offset.partition] else { continue }
                if let before = highest[offset.partition], offset.offset < before.offset, log.startedAt <= before.at,
                    !hasRewound(address, offset.partition, since: before.at, truth)
                {
                    return "\(offset.partition) was committed back from \(before.offset) to \(offset.offset)"
                }
                // An offset of a former incarnation may be reverted. Its owner, which has just noticed the new one, may have sent the
                // commit before.
                let began = beganAt[Place(address: address, partition: offset.partition)]
                highest[offset.partition] = GroundTruth.Commit(offset: offset.offset, at: began ?? .distantPast)
            }
        default:
            break
        }
        return nil
    }

    /// Returns true if the owner has since noticed, perhaps late, that the partition was recreated. It has to start again. A
    /// commit that was in flight then still has the offset of the former incarnation.
    private func hasRewound(
        _ address: Address, _ partition: TopicPartition, since time: Instant, _ truth: GroundTruth
    ) -> Bool {
        truth.ownerships.reversed().contains {
            $0.address == address && $0.partition == partition && $0.beganAt >= time && $0.hasRewound
        }
    }

    private func strange(
        _ offset: PartitionOffset, _ address: Address, _ lane: LaneID, _ generation: Generation, _ truth: GroundTruth
    ) -> String? {
        guard truth.scenario.setting.lane(of: offset.partition.topic) != nil else { return nil }
        let isOwner = truth.ownerships.reversed().contains {
            $0.end == nil && $0.address == address && $0.lane == lane && $0.generation == generation
                && $0.partition == offset.partition
        }
        return isOwner ? nil : "\(offset.partition) is committed in \(generation), which does not have it"
    }
}
