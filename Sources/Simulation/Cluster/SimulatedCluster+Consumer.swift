import KafkaModel
import NewsModel
import PublishEngine

/// The driver of a process: it carries out commands, and reads and commits as `ConsumerState` decides.
extension SimulatedCluster {
    /// Carries out a command a little later. Commands keep their order.
    mutating func command(_ command: KafkaCommand, _ address: Address) {
        let at = obeyTime(address)
        agenda.add(.command(address, command), at: at)
    }

    mutating func obeyTime(_ address: Address) -> Instant {
        let at = max(processes[address.process].obeyedUntil, now + random.milliseconds(0...2))
        processes[address.process].obeyedUntil = at
        return at
    }

    mutating func obey(_ command: KafkaCommand, _ address: Address) {
        let index = address.process
        switch command {
        case .restore(let lane, let generation, let results, let sources, let start):
            if start.offset != nil {
                for number in ownerships(lane, generation, address)
                where sources.contains(truth.ownerships[number].partition) {
                    let horizon = processes[index].engine?.ledgerHorizon(of: truth.ownerships[number].partition)
                    truth.ownerships[number].readsOnFrom = horizon
                    // The engine had no room for these. Retention may remove them before they are read again.
                    truth.ownerships[number].known = truth.ownerships[number].known.filter { _, source in
                        source < horizon ?? .max
                    }
                }
            }
            processes[index].lanes[lane].ledger.restore(
                results, for: sources, from: start, shard: ShardID(0), generation: generation)
            wakeLedger(address, lane: lane)
        case .grant(let lane, let records, let bytes):
            processes[index].lanes[lane].consumer.grant(records: records, bytes: bytes, shard: ShardID(0))
            wakePoll(index)
        case .pause(let partition, let lane, let generation):
            processes[index].lanes[lane].consumer.pause(partition, generation)
        case .resume(let partition, let lane, let generation):
            processes[index].lanes[lane].consumer.resume(partition, generation)
            wakePoll(index)
        case .rewind(let partition, let lane, let generation):
            guard processes[index].lanes[lane].consumer.rewind(partition, generation) else { return }
            processes[index].lanes[lane].positions[partition] = LaneClient.FetchPosition(
                offset: 0, incarnation: truth.sources[partition]?.incarnation ?? 0)
            wakePoll(index)
        case .commit(let lane, let generation, let offsets):
            requestCommit(lane, generation, offsets, address)
        case .release(let lane, let generation):
            if processes[index].lanes[lane].consumer.release(generation, shard: ShardID(0)) {
                unassign(address, lane: lane)
            }
        }
    }

    // MARK: Reading

    mutating func wakePoll(_ index: Int) {
        guard processes[index].engine != nil, !processes[index].isPolling else { return }
        processes[index].isPolling = true
        let address = Address(process: index, run: processes[index].run)
        agenda.add(.poll(address), at: now + random.milliseconds(0...4))
    }

    /// One turn of the polling thread.
    mutating func poll(_ address: Address) {
        let index = address.process
        processes[index].isPolling = false
        var hasMore = false
        for lane in processes[index].lanes.laneIDs {
            var consumer = processes[index].lanes[lane].consumer
            let slots = consumer.slots
            guard !slots.isEmpty else { continue }
            var positions = processes[index].lanes[lane].positions
            var events = ShardEvents(shards: 1)
            var items: [TopicPartition: [Int]] = [:]
            var isMoving = false
            let isFull = consumer.read(batch: random.number(1...64), &events) { slot, limit in
                let partition = slots[slot].partition
                guard var position = positions[partition] else { return [] }
                let (readings, taken) = fetch(partition, &position, limit: limit, for: address)
                positions[partition] = position
                items[partition] = taken
                if !readings.isEmpty { isMoving = true }
                return readings
            }
            if isFull || isMoving { hasMore = true }
            processes[index].lanes[lane].consumer = consumer
            processes[index].lanes[lane].positions = positions
            post(events, items: items, to: address)
        }
        lookAtRemovals(address)
        if hasMore { wakePoll(index) }
    }

    /// Reads from the client library's queue of the partition.
    private mutating func fetch(
        _ partition: TopicPartition, _ position: inout LaneClient.FetchPosition, limit: Int, for address: Address
    ) -> ([ConsumerState.Reading], [Int]) {
        guard let log = truth.sources[partition], now >= log.servedFrom else { return ([], []) }
        if let fault = unavailability(of: partition) {
            strike(fault, .unavailableSource)
            return ([], [])
        }
        if position.offset < log.start { position.offset = log.start }
        // The library does not notice a recreation as long as its offset exists. It continues there in the new incarnation.
        if position.offset > log.end || position.isOutOfRange {
            position.offset = log.start
            position.reportedEnd = nil
            position.wasCommitted = false
            strike(.regressedOffsets)
        } else if position.incarnation != log.incarnation, position.offset > 0 {
            strike(.silentRecreation)
        }
        if position.wasCommitted, let cut = log.firstCut {
            truth.hide(partition, below: position.offset, publishedAfter: cut, from: address)
        }
        position.wasCommitted = false
        position.incarnation = log.incarnation
        position.isOutOfRange = false
        var records: [SourceRecord] = []
        var items: [Int] = []
        var index = log.index(from: position.offset)
        var bytes = 0
        while records.count < limit, index < log.items.count, bytes < setting.queueBytes {
            let (offset, item) = log.items[index]
            var record = truth.news[item].record
            record.offset = offset
            records.append(record)
            items.append(item)
            bytes += record.byteCount
            position.offset = offset + 1
            index += 1
        }
        var readings: [ConsumerState.Reading] = records.isEmpty ? [] : [.records(records)]
        if index == log.items.count, records.count < limit, bytes < setting.queueBytes, position.reportedEnd != log.end
        {
            position.reportedEnd = log.end
            position.offset = log.end
            readings.append(.end(offset: log.end))
        }
        return (readings, items)
    }

    // MARK: Commits

    private mutating func requestCommit(
        _ lane: LaneID, _ generation: Generation, _ offsets: [PartitionOffset], _ address: Address
    ) {
        let client = processes[address.process].lanes[lane]
        guard client.consumer.mayCommit(generation) else {
            post([.committed(lane, generation, offsets: [], failure: .staleGeneration)], to: address)
            return
        }
        var notes: [TopicPartition: String] = [:]
        for offset in offsets { notes[offset.partition] = client.consumer.note(for: offset) }
        let request = CommitRequest(
            lane: lane, generation: generation, groupGeneration: client.groupGeneration, offsets: offsets, notes: notes)
        agenda.add(.commit(address, request), at: now + random.milliseconds(1...15))
    }

    /// The broker accepts a commit completely or in part.
    mutating func commit(_ request: CommitRequest, from address: Address) {
        let member = groups[request.lane].index(of: address).map { groups[request.lane].members[$0] }
        var failure: KafkaFailure?
        var taken: [PartitionOffset] = []
        let trouble = commitFailure(lane: request.lane)
        if member?.generation != request.groupGeneration {
            failure = KafkaFailure(code: "ILLEGAL_GENERATION", detail: "the group has moved on")
        } else if trouble == .refused {
            failure = KafkaFailure(code: "COORDINATOR_LOAD_IN_PROGRESS", isRetriable: true, detail: "not now")
        } else {
            for offset in request.offsets {
                if refusesCommit(of: offset.partition) {
                    failure = KafkaFailure(code: "TOPIC_AUTHORIZATION_FAILED", detail: "not this partition")
                } else if !exists(offset.partition) {
                    failure = KafkaFailure(code: "UNKNOWN_TOPIC_OR_PART", detail: "no such partition")
                } else {
                    taken.append(offset)
                }
            }
            for offset in taken {
                truth.committed[request.lane][offset.partition] = GroundTruth.Commit(
                    offset: offset.offset, at: now, note: request.notes[offset.partition])
            }
            record(.committed(address, lane: request.lane, taken))
            if trouble == .applied {
                failure = KafkaFailure(code: "_TIMED_OUT", isRetriable: true, detail: "no answer")
                taken = []
            }
        }
        guard processes[address.process].run == address.run else { return }
        post(
            [.committed(request.lane, request.generation, offsets: taken, failure: failure)], to: address,
            after: .milliseconds(1))
    }

    func exists(_ partition: TopicPartition) -> Bool {
        Int(partition.partition) < truth.counts[partition.topic] ?? 0
    }

    // MARK: Partition counts and topics

    /// Reads the topics' partition counts, after every assignment and every 5 seconds.
    mutating func askCounts(_ address: Address, isRegular: Bool) {
        if isRegular { agenda.add(.askCounts(address, isRegular: true), at: now + .seconds(5)) }
        let readIn = processes[address.process].lanes.map(\.consumer.generation)
        agenda.add(
            .takeCounts(address, announcedCounts, readIn: readIn), at: now + random.milliseconds(1...40))
    }
}
