import CRdkafka
import KafkaModel
import NewsModel

/// One lane's member of its consumer group: carries out the decisions of `ConsumerState`. Confined to the polling thread.
///
/// Each partition's queue is read only within its credit. Unread records fill the fetch budget; then fetching stops. Partitions
/// are never paused, because pausing skips offsets in librdkafka before 2.1.
final class LaneConsumer {
    let lane: LaneID
    let client: RdClient
    /// Commands that need no call of librdkafka go to it directly.
    var state: ConsumerState
    /// Queues of the state's slots, in their order; `nil` if librdkafka had no queue.
    private var queues: [PartitionQueue?] = []
    private let queue: RdQueue
    /// Answers to commits, and all other events while closing.
    private let replies: RdQueue
    private let wakeUp: WakeUp
    private let topics: [String]
    private let start: Start
    private let nudge: FetchNudge?
    /// The failures of partitions as last notified.
    private var unreadable: [TopicPartition: KafkaFailure] = [:]
    /// Number of bytes taken from a partition's queue after which its fetching is nudged.
    private let nudgeEvery: Int
    private let statistics = StatisticsReader()
    private var commits = PendingCommits()
    private var isClosing = false

    /// The position at which an assigned partition is first read.
    enum Start {
        case committed
        /// The first offset, regardless of commits, because each owner reads the whole topic.
        case beginning
    }

    /// In milliseconds. The default of 45 s would delay alerts too long after a member dies. Brokers replace a dead coordinator after
    /// 9 s and some more for its move; a member that gave up by then would have to join the group again, which takes longer.
    static let sessionTimeout = "18000"

    init(
        lane: LaneID, subscription: LaneSubscription, from start: Start = .committed, settings: KafkaSettings,
        budget: Int, shards: Int, wakeUp: WakeUp, nudge: FetchNudge?
    ) throws(KafkaFailure) {
        self.lane = lane
        self.topics = subscription.topics
        self.start = start
        self.wakeUp = wakeUp
        self.nudge = nudge
        state = ConsumerState(lane: lane, shards: shards, patience: settings.releaseTimeout)
        let budget = FetchBudget(bytes: budget, partitions: subscription.partitionCount)
        nudgeEvery = budget.queued / 2
        var fixed = [
            ("group.id", settings.consumerGroup(lane: lane.index, named: subscription.name)),
            ("enable.auto.commit", "false"), ("enable.auto.offset.store", "false"), ("enable.partition.eof", "true"),
            ("partition.assignment.strategy", "range"), ("log.queue", "true"),
        ]
        if let instance = settings.instance { fixed.append(("group.instance.id", instance)) }
        let configuration = try RdConfiguration(
            settings: settings,
            defaults: [
                ("auto.offset.reset", "earliest"), ("isolation.level", "read_committed"),
                ("session.timeout.ms", Self.sessionTimeout), ("heartbeat.interval.ms", "2500"),
                // A broker answers one fetch at a time. One that waits for idle partitions, 500 ms by default, delays the
                // records of a busy partition whose queue was full when it left.
                ("fetch.wait.max.ms", "20"),
                ("statistics.interval.ms", KafkaSettings.statisticsInterval),
            ] + budget.properties,
            fixed: fixed)
        configuration.setEvents(
            RD_KAFKA_EVENT_REBALANCE | RD_KAFKA_EVENT_OFFSET_COMMIT | RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_FETCH
                | RD_KAFKA_EVENT_LOG | RD_KAFKA_EVENT_STATS)
        client = try configuration.makeClient(RD_KAFKA_CONSUMER)
        rd_kafka_poll_set_consumer(client.handle)
        client.takeLogs()
        guard let queue = RdQueue.consumer(client), let replies = RdQueue.new(client) else {
            throw KafkaFailure(code: "_STATE", detail: "The Kafka consumer has no queue")
        }
        self.queue = queue
        self.replies = replies
        queue.wake(wakeUp)
        replies.wake(wakeUp)
    }

    var generation: Generation { state.generation }

    // MARK: Commands

    func subscribe(_ turn: inout Turn) {
        let list = RdPartitionList(capacity: topics.count)
        for topic in topics { list.append(TopicPartition(topic: topic, partition: RD_KAFKA_PARTITION_UA)) }
        let error = list.withPointer { rd_kafka_subscribe(client.handle, $0) }
        if error != RD_KAFKA_RESP_ERR_NO_ERROR { turn.notify(.error(KafkaFailure(error))) }
    }

    /// Seeks without waiting. Messages fetched from the old position have an older version from now on, so librdkafka drops
    /// them.
    func rewind(_ partition: TopicPartition, _ generation: Generation, _ turn: inout Turn) {
        guard state.rewind(partition, generation) else { return }
        let list = RdPartitionList([PartitionOffset(partition, Int64(RD_KAFKA_OFFSET_BEGINNING))])
        let error = list.withPointer { rd_kafka_seek_partitions(client.handle, $0, 0) }
        if let error {
            turn.notify(.error(KafkaFailure(consuming: error, during: "Reading \(partition) from its beginning")))
        }
    }

    func commit(_ offsets: [PartitionOffset], _ generation: Generation, shard: ShardID, _ turn: inout Turn) {
        send(offsets, of: commits.open(shard: shard, generation: generation), &turn)
    }

    private func send(_ offsets: [PartitionOffset], of commit: Int, _ turn: inout Turn) {
        let request = commits.begin(offsets, of: commit)
        guard let generation = commits.generation(of: commit), state.mayCommit(generation) else {
            return answer(request, .staleGeneration, &turn)
        }
        let list = RdPartitionList(capacity: offsets.count)
        for offset in offsets {
            list.append(offset.partition, offset.offset, metadata: state.note(for: offset) ?? "")
        }
        let error = list.withPointer {
            rd_kafka_commit_queue(
                client.handle, $0, replies.handle, nil, UnsafeMutableRawPointer(bitPattern: request))
        }
        if error != RD_KAFKA_RESP_ERR_NO_ERROR { answer(request, KafkaFailure(error), &turn) }
    }

    private func answer(_ request: UInt, _ failure: KafkaFailure?, _ turn: inout Turn) {
        switch commits.answered(request, failure) {
        case .wait: break
        case .divide(let commit, let parts):
            for part in parts { send(part, of: commit, &turn) }
        case .answer(let answer):
            if let failure = answer.failure, failure.isFatal { turn.notify(.error(failure)) }
            turn.events.add(
                .committed(lane, answer.generation, offsets: answer.offsets, failure: answer.failure), for: answer.shard
            )
        }
    }

    func release(_ generation: Generation, shard: ShardID) {
        if state.release(generation, shard: shard) { unassign() }
    }

    // MARK: Turns

    /// Handles librdkafka's events, and stops waiting for shards that do not release in time.
    ///
    /// - Parameter onChange: called with the generation that the ledger's reader must serve from now on.
    func serve(_ turn: inout Turn, onChange: (Generation) -> Void) {
        for source in [queue, replies] {
            while let event = rd_kafka_queue_poll(source.handle, 0) {
                handle(event, &turn, onChange)
                rd_kafka_event_destroy(event)
            }
        }
        if state.expired(at: turn.now) {
            turn.notify(
                .error(
                    KafkaFailure(
                        code: "_RELEASE_TIMEOUT", detail: "Shards did not finish revoked partitions in time",
                        remedy: "The next owner repeats what was under way.")))
            unassign()
        }
    }

    /// - Returns: true if more records may be ready.
    func read(_ batch: RdBatch, _ turn: inout Turn) -> Bool {
        let queues = queues
        let hasMore = state.read(batch: RdBatch.capacity, &turn.events) { slot, limit in
            queues[slot]?.read(batch, limit: limit) ?? []
        }
        let failures = state.unreadable
        if unreadable != failures {
            for (partition, failure) in failures where unreadable[partition] != failure {
                turn.notify(.error(failure))
            }
            unreadable = failures
            turn.notify(.unreadable(lane, failures))
        }
        if let nudge {
            let due = queues.compactMap { $0 }.filter { $0.taken >= nudgeEvery }
            for queue in due { queue.taken = 0 }
            if !due.isEmpty { nudge.request(client, due.map(\.partition)) }
        }
        return hasMore
    }

    // MARK: Closing

    func close(_ turn: inout Turn) {
        isClosing = true
        guard let error = rd_kafka_consumer_close_queue(client.handle, replies.handle) else { return }
        turn.notify(.error(KafkaFailure(consuming: error, during: "Leaving the consumer group")))
    }

    var isClosed: Bool { isClosing && rd_kafka_consumer_closed(client.handle) != 0 }

    /// Revokes the partitions without waiting for the shards.
    func abandon() { if state.abandon() { unassign() } }

    // MARK: Events

    private func handle(_ event: OpaquePointer, _ turn: inout Turn, _ onChange: (Generation) -> Void) {
        switch rd_kafka_event_type(event) {
        case RD_KAFKA_EVENT_REBALANCE:
            if rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS {
                assign(rd_kafka_event_topic_partition_list(event), &turn)
                onChange(state.generation)
            } else {
                onChange(state.generation.next)
                let isLost = rd_kafka_assignment_lost(client.handle) != 0
                queues = []
                if state.revoked(lost: isLost, at: turn.now, &turn.events) { unassign() }
            }
        case RD_KAFKA_EVENT_OFFSET_COMMIT: committed(event, &turn)
        case RD_KAFKA_EVENT_FETCH:
            while let message = rd_kafka_event_message_next(event) { deliver(message, &turn) }
        case RD_KAFKA_EVENT_ERROR where rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR__PARTITION_EOF: break
        default: client.report(event, lane: lane, statistics, turn.notify)
        }
    }

    private func assign(_ list: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?, _ turn: inout Turn) {
        state.assigned(RdPartitionList.elements(list).map(\.partition), &turn.events)
        // The queues are detached before the assignment, so that no record reaches the common queue.
        queues = state.slots.map { PartitionQueue($0.partition, client, wakeUp) }
        let error =
            switch start {
            case .committed: rd_kafka_assign(client.handle, list)
            case .beginning:
                RdPartitionList(state.slots.map { PartitionOffset($0.partition, Int64(RD_KAFKA_OFFSET_BEGINNING)) })
                    .withPointer { rd_kafka_assign(client.handle, $0) }
            }
        if error != RD_KAFKA_RESP_ERR_NO_ERROR { turn.notify(.error(KafkaFailure(error))) }
    }

    private func unassign() { rd_kafka_assign(client.handle, nil) }

    private func committed(_ event: OpaquePointer, _ turn: inout Turn) {
        let elements = RdPartitionList.elements(rd_kafka_event_topic_partition_list(event))
        var failure: KafkaFailure?
        if rd_kafka_event_error(event) != RD_KAFKA_RESP_ERR_NO_ERROR {
            failure = KafkaFailure(rd_kafka_event_error(event))
        } else if let refused = elements.first(where: { $0.error != RD_KAFKA_RESP_ERR_NO_ERROR }) {
            failure = KafkaFailure(refused.error, during: "The offset of \(refused.partition) was not committed")
        }
        answer(UInt(bitPattern: rd_kafka_event_opaque(event)), failure, &turn)
    }

    /// Delivers a record that reached the common queue despite the detached queues.
    private func deliver(_ message: UnsafePointer<rd_kafka_message_t>, _ turn: inout Turn) {
        guard message.pointee.err == RD_KAFKA_RESP_ERR_NO_ERROR, let rkt = message.pointee.rkt,
            let name = rd_kafka_topic_name(rkt)
        else { return }
        let partition = TopicPartition(topic: String(cString: name), partition: message.pointee.partition)
        guard let slot = state.slot(partition, state.generation) else { return }
        state.hand([.records([SourceRecord(message)])], of: slot, &turn.events)
    }
}
