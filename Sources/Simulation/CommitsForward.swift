import NewsModel
import PublishEngine

/// G2: the committed offset of a source partition only rises, and only its owner commits it.
struct CommitsForward: Checker {
    let promise = Promise.commitsForward
    private var highest: [Int: [TopicPartition: Int64]] = [:]

    mutating func see(_ fact: Fact, _ books: Books) -> String? {
        switch fact {
        case .committing(let address, let lane, let generation, let offsets):
            for offset in offsets {
                if let sentence = strange(offset, address, lane, generation, books) { return sentence }
            }
        case .committed(_, let lane, let offsets):
            for offset in offsets where books.sources[offset.partition] != nil {
                if let before = highest[lane]?[offset.partition], offset.offset < before {
                    return "\(offset.partition) was committed back from \(before) to \(offset.offset)"
                }
                highest[lane, default: [:]][offset.partition] = offset.offset
            }
        default:
            break
        }
        return nil
    }

    private func strange(
        _ offset: CommitOffset, _ address: Address, _ lane: Int, _ generation: Int, _ books: Books
    ) -> String? {
        guard books.sources[offset.partition] != nil else { return nil }
        let isOwner = books.tenures.contains {
            $0.end == nil && $0.address == address && $0.lane == lane && $0.generation == generation
                && $0.partition == offset.partition
        }
        return isOwner ? nil : "\(offset.partition) is committed in generation \(generation), which does not have it"
    }
}
