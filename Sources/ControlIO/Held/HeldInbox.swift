import EditorialControl
import KafkaModel
import NewsModel

/// Inputs that a held link has not handled yet. Only the latest value of each state is kept, so memory does not grow while the
/// link is busy. Orders and recall requests are all kept.
struct HeldInbox: Sendable {
    private var counts: [String: Int]?
    private var owned: [Owner: [TopicPartition]] = [:]
    private var settled: [ShardID: (count: Int, perSecond: Int?)] = [:]
    private var hubTime: HeldState.Input?
    private var events: [HeldState.Input] = []

    private struct Owner: Hashable, Comparable {
        var lane: LaneID
        var shard: ShardID

        static func < (one: Owner, other: Owner) -> Bool {
            (one.lane.index, one.shard.index) < (other.lane.index, other.shard.index)
        }
    }

    var count: Int { (counts == nil ? 0 : 1) + (hubTime == nil ? 0 : 1) + owned.count + settled.count + events.count }

    mutating func add(_ input: HeldState.Input) {
        switch input {
        case .counts(let counts): self.counts = counts
        case .owned(let lane, let shard, let partitions): owned[Owner(lane: lane, shard: shard)] = partitions
        case .settled(let shard, let count, let perSecond): settled[shard] = (count, perSecond)
        case .hubTime(let time): if time != nil || hubTime == nil { hubTime = input }
        case .alarm: break
        default: events.append(input)
        }
    }

    /// Removes and returns all inputs. Orders and recall requests keep their order; the order of the others does not matter.
    mutating func takeAll() -> [HeldState.Input] {
        guard count > 0 else { return [] }
        var inputs: [HeldState.Input] = counts.map { [.counts($0)] } ?? []
        if let hubTime { inputs.append(hubTime) }
        inputs += owned.sorted { $0.key < $1.key }.map { .owned($0.key.lane, $0.key.shard, $0.value) }
        inputs += events
        inputs += settled.sorted { $0.key.index < $1.key.index }
            .map { .settled($0.key, $0.value.count, perSecond: $0.value.perSecond) }
        self = HeldInbox()
        return inputs
    }
}
