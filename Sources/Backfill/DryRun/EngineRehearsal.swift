import EditorialControl
import KafkaModel
package import NewsModel
package import NotificationHub
package import PublishEngine

/// Gives events to the engine of `newswire run`, one after the other, as if the hub accepted everything. Nothing is sent. The
/// decisions are those of the engine's own code.
package struct EngineRehearsal {
    /// The engine's decision about one event.
    package struct Decision: Sendable {
        /// The results for its platforms, in order. Empty while the event is buffered until its time.
        package var results: [ResultRecord] = []
        package var requests: [(platform: Platform, request: SendRequest)] = []
        /// The time at which a held event is due.
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
    ///   - lane: the position of the lane that the events would come from.
    ///   - wall: the time of the wall clock.
    ///   - partitions: the number of partitions of the lane's topic. Earlier events are remembered per partition.
    ///   - decoder: has the schemas that events need; `nil` for one without a registry.
    package init(
        _ settings: EngineSettings, _ rules: ContentRules, lane: Int, at wall: Instant, partitions: Int32 = 1,
        decoder: NewsDecoder? = nil
    ) {
        var engineSettings = settings
        // The pace decides when an event is sent, not its outcome. Orders are known at run time only.
        engineSettings.rate = nil
        engineSettings.awaitsOrders = false
        engineSettings.holdsBeyond = .zero
        // Each event of a file is explained independently, even if many of them fail.
        engineSettings.floodGuard.sharePercent = 0
        self.lane = LaneID(lane)
        let topic = engineSettings.lanes[lane].topics.first ?? ""
        sources = (0..<max(partitions, 1)).map { Source(id: TopicPartition(topic: topic, partition: $0)) }
        resultsTopic = engineSettings.resultsTopic
        engine = Engine(settings: engineSettings, decoder: decoder, rules: rules, seed: 1)
        moment = Moment(steady: wall, wall: wall)
        begin()
    }

    private mutating func begin() {
        let generation = Generation(1)
        handle(.kafka(.assigned(lane, generation, sources.map(\.id))))
        for source in sources {
            let results = TopicPartition(topic: resultsTopic, partition: source.id.partition)
            handle(
                .kafka(
                    .restored(
                        lane, generation, results: results, entries: [],
                        end: RestoreEnd(offset: 0, start: 0, basis: .committed))))
        }
        actions = []
    }

    private mutating func handle(_ input: Input) { engine.handle(input, at: moment, into: &actions) }

    /// - Parameters:
    ///   - partition: the partition of the event; 0 if the topic has no such partition.
    ///   - time: the time at which the engine reads the event. Without a later time, it is that of the previous event.
    ///   - writtenAt: the time at which the event was put on its topic; `nil` for the time at which it is read.
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
        handle(.kafka(.records(lane, Generation(1), place.partition, [record])))
        var decision = Decision()
        while !actions.isEmpty {
            let batch = actions
            actions = []
            for action in batch { answer(action, to: place, &decision) }
        }
        return decision
    }

    /// Answers an action as Kafka and the hub do when nothing fails.
    private mutating func answer(_ action: Action, to place: ResultRecord.Source, _ decision: inout Decision) {
        switch action {
        case .send(let id, let request):
            decision.requests.append((request.format, request))
            handle(.reply(.replied(HubReply(status: 201)), to: id))
        case .store(let request):
            // A newer version may settle an older one that still waited.
            if request.result.source == place { decision.results.append(request.result) }
            stored(request, .result)
        case .storeDeadLetter(let request, _): stored(request, .deadLetter)
        case .hold(let request, _, let held):
            decision.due = held.due
            stored(request, .held)
        case .kafka(.commit(let lane, let generation, let offsets)):
            handle(.kafka(.committed(lane, generation, offsets: offsets, failure: nil)))
        case .kafka, .renewToken, .clockStepped, .askHubForTime, .confirmOrders, .returnHeld, .recall, .applied,
            .fetchSchema, .finish:
            break
        }
    }

    private mutating func stored(_ request: StoreRequest, _ kind: StoredRecord.Kind) {
        handle(.kafka(.stored([StoredRecord(delivery: request.delivery, kind: kind, offset: 0)])))
    }
}
