import EditorialControl
import KafkaModel
package import NewsModel
package import NewswireSettings
package import NotificationHub
import PublishEngine

/// Gives events to the engine of `newswire run`, one after the other, in a world where the hub accepts everything and nothing
/// leaves: what the engine would do, by its own code.
package struct EngineRehearsal {
    /// What became of one event.
    package struct Decision: Sendable {
        /// For its platforms, in order. Empty while it waits in memory for its time.
        package var results: [ResultRecord] = []
        package var requests: [(platform: Platform, request: SendRequest)] = []
        /// It goes to the held topic, or waits until then.
        package var due: Instant?
    }

    private struct Source {
        var id: TopicPartition
        var nextOffset: Int64 = 0
    }

    private var engine: Engine
    private var moment: Moment
    private let lane: LaneID
    private var sources: [Source]
    private let resultsTopic: String
    private var actions: [Action] = []

    /// - Parameters:
    ///   - lane: the position of the one that the events would come from.
    ///   - wall: the time by the clock on the wall.
    ///   - partitions: those of the lane's topic; what is remembered of earlier events, is remembered by partition.
    /// - Throws: nothing for checked settings.
    package init(_ settings: Settings, lane: Int, at wall: Instant, partitions: Int32 = 1) throws {
        var engineSettings = settings.engine
        // The pace says when, and not what. Whether orders stand is known at run time only.
        engineSettings.rate = nil
        engineSettings.awaitsOrders = false
        engineSettings.holdsBeyond = .zero
        // Events of one file are explained by themselves, however many of them fail.
        engineSettings.floodGuard.sharePercent = 0
        self.lane = LaneID(lane)
        let topic = engineSettings.lanes[lane].topics.first ?? ""
        sources = (0..<max(partitions, 1)).map { Source(id: TopicPartition(topic: topic, partition: $0)) }
        resultsTopic = engineSettings.resultsTopic
        let rules = try ContentRules(
            table: try settings.categoryTable(), unroutable: settings.unroutable, payload: settings.payload,
            policy: settings.policy)
        engine = Engine(settings: engineSettings, rules: rules, seed: 1)
        moment = Moment(steady: wall, wall: wall)
        begin()
    }

    private mutating func begin() {
        let generation = Generation(1)
        take(.kafka(.assigned(lane, generation, sources.map(\.id))))
        for source in sources {
            let results = TopicPartition(topic: resultsTopic, partition: source.id.partition)
            take(
                .kafka(
                    .restored(
                        lane, generation, results: results, entries: [],
                        end: RestoreEnd(offset: 0, start: 0, basis: .committed))))
        }
        actions = []
    }

    private mutating func take(_ input: Input) { engine.handle(input, at: moment, into: &actions) }

    /// - Parameters:
    ///   - partition: the one that it stands on, of those there are.
    ///   - time: when the engine reads it, not before that of the last one; `nil` for the same.
    ///   - writtenAt: when it was put on its topic; `nil` for when it is read.
    package mutating func decide(
        _ value: [UInt8], headers: [RecordHeader] = [], on partition: Int32 = 0, at time: Instant? = nil,
        writtenAt: Instant? = nil
    ) -> Decision {
        let source = sources.indices.contains(Int(partition)) ? Int(partition) : 0
        if let time, time > moment.wall { moment = Moment(steady: time, wall: time) }
        let record = SourceRecord(
            offset: sources[source].nextOffset, timestamp: writtenAt ?? moment.wall, value: value, headers: headers)
        sources[source].nextOffset += 1
        let place = ResultRecord.Source(partition: sources[source].id, offset: record.offset)
        take(.kafka(.records(lane, Generation(1), place.partition, [record])))
        var decision = Decision()
        while !actions.isEmpty {
            let batch = actions
            actions = []
            for action in batch { answer(action, to: place, &decision) }
        }
        return decision
    }

    /// As Kafka and hub do on a good day.
    private mutating func answer(_ action: Action, to place: ResultRecord.Source, _ decision: inout Decision) {
        switch action {
        case .send(let id, let request):
            if let platform = Platform(rawValue: request.format.rawValue) {
                decision.requests.append((platform, request))
            }
            take(.reply(.replied(HubReply(status: 201)), to: id))
        case .store(let request):
            // A newer version may settle an older one that still waited.
            if request.result.source == place { decision.results.append(request.result) }
            stored(request, .result)
        case .storeDeadLetter(let request, _): stored(request, .deadLetter)
        case .hold(let request, _, let held):
            decision.due = held.due
            stored(request, .held)
        case .kafka(.commit(let lane, let generation, let offsets)):
            take(.kafka(.committed(lane, generation, offsets: offsets, failure: nil)))
        case .kafka, .renewToken, .clockStepped, .askHubForTime, .confirmOrders, .returnHeld, .recall, .applied,
            .finish:
            break
        }
    }

    private mutating func stored(_ request: StoreRequest, _ kind: StoredRecord.Kind) {
        take(.kafka(.stored([StoredRecord(delivery: request.delivery, kind: kind, offset: 0)])))
    }
}
