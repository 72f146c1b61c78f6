import EditorialControl
import KafkaModel
import NewsModel

/// A state with a clock that the test sets.
struct PlayedHeldState {
    var state: HeldState
    var now = Moment(steady: Instant(milliseconds: 0), wall: noon)
    /// Requests a second; `nil` if the engine settles returned events at once.
    var pace: Int?
    var settled = 0
    /// The ends that the brokers report at once: those of the records read. `nil` if the test answers.
    var ends: [Int32: Int64]? = [3: 0, 4: 0]
    /// The last refresh that the test must answer.
    var look = 0

    static let noon = Instant(milliseconds: 1_795_348_800_000)
    static let source = TopicPartition(topic: "news", partition: 3)

    /// Makes a state that owns the source partition and has read the empty topic to its end.
    ///
    /// - Parameter former: what the topic contained before the start.
    init(owning partitions: [TopicPartition] = [source], former: HeldTotals? = nil, asksHub: Bool = false) {
        state = HeldState(asksHub: asksHub)
        _ = take(.formerly(former))
        _ = take(.began)
        _ = take(.owned(LaneID(0), ShardID(0), partitions))
    }

    mutating func take(_ input: HeldState.Input) -> [HeldState.Action] {
        if case .read(let partition, let records) = input, let last = records.last {
            let end = max(ends?[partition] ?? 0, last.offset + 1)
            ends?[partition] = end
        }
        var actions: [HeldState.Action] = []
        state.handle(input, at: now, into: &actions)
        answerLooks(&actions)
        if pace == nil, case .ended(let endings) = input { actions += settle(endings.count) }
        return actions
    }

    private mutating func answerLooks(_ actions: inout [HeldState.Action]) {
        for case .findEnds(let look) in actions { self.look = look }
        let asked = actions.count
        actions.removeAll { if case .findEnds = $0 { true } else { false } }
        guard let ends, actions.count < asked else { return }
        state.handle(.ends(look: look, ends, unreported: []), at: now, into: &actions)
    }

    mutating func settle(_ count: Int) -> [HeldState.Action] {
        settled += count
        return take(.settled(ShardID(0), settled, perSecond: pace))
    }

    mutating func read(
        _ offset: Int64, _ reading: HeldRecord.Reading, at time: Instant? = nil, partition: Int32 = 3
    ) -> [HeldState.Action] {
        take(.read(partition: partition, [(offset, time, reading)]))
    }

    mutating func hold(
        _ offset: Int64, _ story: String, version: String? = nil, due: Duration = .seconds(3_600), since: Int64? = nil,
        because: HeldEvent.Because = .embargo, from source: TopicPartition = source
    ) -> [HeldState.Action] {
        let event = HeldEvent(
            eventID: "id-\(story)", story: story, version: version.map { .init($0) }, due: Self.noon + due,
            because: because, lane: "live", source: .init(partition: source, offset: 7))
        return read(offset, .held(event, since: since), partition: source.partition)
    }

    mutating func wait(_ duration: Duration) -> [HeldState.Action] {
        now.steady = now.steady + duration
        now.wall = now.wall + duration
        return take(.alarm)
    }
}

extension [HeldState.Action] {
    var restores: [HeldState.Restore] {
        flatMap { action -> [HeldState.Restore] in if case .restore(let restores) = action { restores } else { [] } }
    }

    var returns: [Int64: ReturnReason] {
        reduce(into: [:]) { found, action in
            guard case .putBack(let returns) = action else { return }
            for next in returns { found[next.place.offset] = next.reason }
        }
    }

    var erasures: [HeldState.Erasure] {
        flatMap { action -> [HeldState.Erasure] in if case .erase(let erasures) = action { erasures } else { [] } }
    }

    var vanished: [HeldState.Vanished] {
        flatMap { action -> [HeldState.Vanished] in if case .eraseVanished(let events) = action { events } else { [] } }
    }

    var again: [Int64] {
        flatMap { action -> [Int64] in if case .writeAgain(let places) = action { places.map(\.offset) } else { [] } }
    }

    var told: [HeldStory] {
        flatMap { action -> [HeldStory] in if case .tell(let stories) = action { stories } else { [] } }
    }
}
