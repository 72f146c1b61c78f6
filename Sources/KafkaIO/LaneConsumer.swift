import CRdkafka
import NewsModel

/// One lane's member of its consumer group. Lives on the polling thread.
///
/// Every partition has its own queue, and a queue is read only on credit: what is not read fills up to the fetch
/// budget, then fetching stops. Nothing is ever paused, which skips offsets in librdkafka before 2.1.
final class LaneConsumer {
    let lane: Int
    let client: RdClient
    private let queue: RdQueue
    /// Answers to commits, and everything else while closing.
    private let replies: RdQueue
    private let wakeUp: WakeUp
    private let topics: [String]
    private let nudge: FetchNudge?
    /// A partition's fetching is nudged each time so many bytes of its queue were taken.
    private let nudgeEvery: Int
    private let statistics = StatisticsReader()
    private var slots: [PartitionSlot] = []
    private var shards: [ShardCredit]
    private(set) var generation = 0
    private var draining: Drain?
    private var isClosing = false

    /// A revoke that waits for the shards.
    private struct Drain {
        var waiting: Set<Int>
        var until: ContinuousClock.Instant
    }

    /// What one shard may still be given, and where its next turn begins.
    private struct ShardCredit {
        var records = 0
        var bytes = 0
        var slots: [PartitionSlot] = []
        var next = 0
    }

    init(
        lane: Int, subscription: LaneSubscription, settings: KafkaSettings, budget: Int, shards: Int, wakeUp: WakeUp,
        nudge: FetchNudge?
    ) throws(KafkaFailure) {
        self.lane = lane
        self.topics = subscription.topics
        self.wakeUp = wakeUp
        self.nudge = nudge
        let budget = FetchBudget(bytes: budget, partitions: subscription.partitionCount)
        nudgeEvery = budget.queued / 2
        self.shards = Array(repeating: ShardCredit(), count: shards)
        var fixed = [
            ("group.id", settings.consumerGroup(lane: lane, named: subscription.name)), ("enable.auto.commit", "false"),
            ("enable.auto.offset.store", "false"), ("enable.partition.eof", "true"),
            ("partition.assignment.strategy", "range"), ("log.queue", "true"),
        ]
        if let instance = settings.instance { fixed.append(("group.instance.id", instance)) }
        let configuration = try RdConfiguration(
            settings: settings,
            defaults: [
                ("auto.offset.reset", "earliest"), ("isolation.level", "read_committed"),
                // An alert must not wait 45 s for the group to notice that a member died.
                ("session.timeout.ms", "10000"), ("heartbeat.interval.ms", "2500"),
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

    // MARK: Commands

    func subscribe(_ outbox: inout Outbox) {
        let list = RdPartitionList(capacity: topics.count)
        for topic in topics { list.append(TopicPartition(topic: topic, partition: RD_KAFKA_PARTITION_UA)) }
        let error = list.withPointer { rd_kafka_subscribe(client.handle, $0) }
        if error != RD_KAFKA_RESP_ERR_NO_ERROR { outbox.add(.trouble(KafkaFailure(error)), shard: 0) }
    }

    func grant(shard: Int, records: Int, bytes: Int) {
        guard shards.indices.contains(shard) else { return }
        shards[shard].records = shards[shard].records.saturating(adding: records)
        shards[shard].bytes = shards[shard].bytes.saturating(adding: bytes)
    }

    func hold(_ partition: TopicPartition, generation: Int, _ isHeld: Bool) {
        guard generation == self.generation else { return }
        slots.first { $0.partition == partition }?.isHeld = isHeld
    }

    func commit(_ offsets: [PartitionOffset], generation: Int, shard: Int, _ outbox: inout Outbox) {
        let failure: KafkaFailure
        if generation != self.generation || (slots.isEmpty && draining == nil) {
            failure = .staleGeneration
        } else {
            let opaque = UnsafeMutableRawPointer(bitPattern: UInt(bitPattern: shard) &+ 1)
            let error = RdPartitionList(offsets).withPointer {
                rd_kafka_commit_queue(client.handle, $0, replies.handle, nil, opaque)
            }
            if error == RD_KAFKA_RESP_ERR_NO_ERROR { return }
            failure = KafkaFailure(error)
        }
        outbox.add(.committed(lane: lane, offsets: offsets, failure: failure), shard: shard)
    }

    func release(generation: Int, shard: Int) {
        guard generation == self.generation, draining != nil else { return }
        draining?.waiting.remove(shard)
        if draining?.waiting.isEmpty == true { unassign() }
    }

    // MARK: Turns

    /// Handles what librdkafka has to say, and gives up waiting for shards that do not release in time.
    func serve(_ outbox: inout Outbox, settings: KafkaSettings, ledger: LedgerReader) {
        for source in [queue, replies] {
            while let event = rd_kafka_queue_poll(source.handle, 0) {
                handle(event, &outbox, settings, ledger)
                rd_kafka_event_destroy(event)
            }
        }
        if let draining, draining.until <= .now {
            let failure = KafkaFailure(
                code: "_RELEASE_TIMEOUT", detail: "Shards did not finish revoked partitions in time",
                remedy: "The next owner repeats what was under way.")
            outbox.add(.trouble(failure), shard: 0)
            unassign()
        }
    }

    /// Gives every shard one batch from each of its partitions, as far as credit goes. Returns whether more may be
    /// ready.
    func read(_ batch: RdBatch, _ outbox: inout Outbox) -> Bool {
        var more = false
        for shard in shards.indices where shards[shard].records > 0 && shards[shard].bytes > 0 {
            let count = shards[shard].slots.count
            for turn in 0..<count where shards[shard].records > 0 && shards[shard].bytes > 0 {
                let slot = shards[shard].slots[(shards[shard].next + turn) % count]
                if slot.isHeld { continue }
                let limit = min(shards[shard].records, slot.likelyRecords(in: shards[shard].bytes))
                let taken = read(slot, limit, batch, shard, &outbox)
                if taken == min(limit, RdBatch.capacity) { more = true }
            }
            if count > 0 { shards[shard].next = (shards[shard].next + 1) % count }
        }
        if let nudge {
            let due = slots.filter { $0.taken >= nudgeEvery }
            for slot in due { slot.taken = 0 }
            if !due.isEmpty { nudge.request(client, due.map(\.partition)) }
        }
        return more
    }

    private func read(
        _ slot: PartitionSlot, _ limit: Int, _ batch: RdBatch, _ shard: Int, _ outbox: inout Outbox
    ) -> Int {
        var run = RecordRun(lane: lane, generation: generation, partition: slot.partition)
        let taken = batch.read(slot.queue, limit: limit) { run.add($0, shard, &outbox) }
        run.finish(shard, &outbox)
        slot.learn(records: run.records, bytes: run.bytes)
        shards[shard].records -= run.records
        shards[shard].bytes -= run.bytes
        return taken
    }

    // MARK: Closing

    func close(_ outbox: inout Outbox) {
        isClosing = true
        guard let error = rd_kafka_consumer_close_queue(client.handle, replies.handle) else { return }
        outbox.add(.trouble(KafkaFailure(consuming: error, during: "Leaving the consumer group")), shard: 0)
    }

    var isClosed: Bool { isClosing && rd_kafka_consumer_closed(client.handle) != 0 }

    /// Lets the partitions go, whatever the shards say.
    func abandon() {
        if draining != nil { unassign() }
    }

    // MARK: Events

    private func handle(
        _ event: OpaquePointer, _ outbox: inout Outbox, _ settings: KafkaSettings, _ ledger: LedgerReader
    ) {
        switch rd_kafka_event_type(event) {
        case RD_KAFKA_EVENT_REBALANCE:
            if rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS {
                assign(rd_kafka_event_topic_partition_list(event), &outbox, ledger)
            } else {
                revoke(&outbox, settings, ledger)
            }
        case RD_KAFKA_EVENT_OFFSET_COMMIT: committed(event, &outbox)
        case RD_KAFKA_EVENT_FETCH:
            while let message = rd_kafka_event_message_next(event) { deliver(message, &outbox) }
        case RD_KAFKA_EVENT_ERROR where rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR__PARTITION_EOF: break
        default: client.report(event, lane: lane, statistics, &outbox)
        }
    }

    private func assign(
        _ list: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?, _ outbox: inout Outbox, _ ledger: LedgerReader
    ) {
        generation += 1
        ledger.begin(lane: lane, generation: generation)
        draining = nil
        // Detached before they are assigned: no record ever lands in the common queue.
        let partitions = RdPartitionList.elements(list).map(\.partition).sorted()
        slots = partitions.compactMap { PartitionSlot($0, client, wakeUp) }
        for shard in shards.indices {
            shards[shard].slots = slots.filter { outbox.shard(of: $0.partition.partition) == shard }
            shards[shard].next = 0
        }
        outbox.addToAll { shard in
            .assigned(
                lane: lane, generation: generation,
                partitions: partitions.filter { Int($0.partition.magnitude) % shards.count == shard })
        }
        let error = rd_kafka_assign(client.handle, list)
        if error != RD_KAFKA_RESP_ERR_NO_ERROR { outbox.add(.trouble(KafkaFailure(error)), shard: 0) }
    }

    private func revoke(_ outbox: inout Outbox, _ settings: KafkaSettings, _ ledger: LedgerReader) {
        ledger.begin(lane: lane, generation: generation + 1)
        let lost = rd_kafka_assignment_lost(client.handle) != 0
        let old = slots.map(\.partition)
        clearSlots()
        outbox.addToAll { shard in
            .revoked(
                lane: lane, generation: generation,
                partitions: old.filter { Int($0.partition.magnitude) % shards.count == shard }, lost: lost)
        }
        if lost || old.isEmpty {
            unassign()
        } else {
            draining = Drain(waiting: Set(shards.indices), until: .now + settings.releaseTimeout)
        }
    }

    private func unassign() {
        draining = nil
        rd_kafka_assign(client.handle, nil)
    }

    private func clearSlots() {
        slots = []
        for shard in shards.indices { shards[shard].slots = [] }
    }

    private func committed(_ event: OpaquePointer, _ outbox: inout Outbox) {
        let elements = RdPartitionList.elements(rd_kafka_event_topic_partition_list(event))
        let overall = rd_kafka_event_error(event)
        let error =
            overall != RD_KAFKA_RESP_ERR_NO_ERROR
            ? overall : elements.first { $0.error != RD_KAFKA_RESP_ERR_NO_ERROR }?.error
        let shard = Int(bitPattern: rd_kafka_event_opaque(event)) &- 1
        outbox.add(
            .committed(
                lane: lane, offsets: elements.map { PartitionOffset($0.partition, $0.offset) },
                failure: error.map { KafkaFailure($0) }), shard: shard)
    }

    /// A record that reached the common queue after all.
    private func deliver(_ message: UnsafePointer<rd_kafka_message_t>, _ outbox: inout Outbox) {
        let topic = rd_kafka_topic_name(message.pointee.rkt).map { String(cString: $0) } ?? ""
        let partition = TopicPartition(topic: topic, partition: message.pointee.partition)
        guard slots.contains(where: { $0.partition == partition }) else { return }
        let shard = outbox.shard(of: partition.partition)
        var run = RecordRun(lane: lane, generation: generation, partition: partition)
        run.add(message, shard, &outbox)
        run.finish(shard, &outbox)
        shards[shard].records -= run.records
        shards[shard].bytes -= run.bytes
    }
}

extension FixedWidthInteger {
    func saturating(adding other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}
