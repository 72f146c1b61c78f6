import NewsModel
import PublishEngine

/// The Kafka bridge of a process, as `KafkaIO` has it: credit, partitions that are held, generations, commits.
extension World {
    mutating func obey(_ command: Command, _ address: Address) {
        switch command {
        case .grant(let lane, let records, let bytes):
            processes[address.process].clients[lane].records += records
            processes[address.process].clients[lane].bytes += bytes
            wakePoll(address.process)
        case .hold(let partition, let lane, let generation, let isHeld):
            hold(partition, lane: lane, generation: generation, isHeld, address)
        case .commit(let lane, let generation, let offsets):
            requestCommit(lane: lane, generation: generation, offsets, address)
        case .release(let lane, let generation):
            unassign(address, lane: lane, generation: generation)
        case .restore(let lane, let generation, let results):
            let job = LedgerJob(lane: lane, generation: generation, results: results)
            agenda.add(.readLedger(address, job), at: now + ledgerDelay())
        case .close: close(address)
        }
    }

    private mutating func hold(
        _ partition: TopicPartition, lane: Int, generation: Int, _ isHeld: Bool, _ address: Address
    ) {
        guard processes[address.process].clients[lane].generation == generation,
            let slot = processes[address.process].clients[lane].slots.firstIndex(where: { $0.partition == partition })
        else { return }
        processes[address.process].clients[lane].slots[slot].isHeld = isHeld
        wakePoll(address.process)
    }

    // MARK: Reading

    mutating func wakePoll(_ index: Int) {
        guard processes[index].engine != nil, !processes[index].isPolling else { return }
        processes[index].isPolling = true
        let address = Address(process: index, incarnation: processes[index].incarnation)
        agenda.add(.poll(address), at: now + random.milliseconds(0...4))
    }

    /// One turn: each partition that is not held gives one batch, as far as credit goes.
    mutating func poll(_ address: Address) {
        let index = address.process
        processes[index].isPolling = false
        var hasMore = false
        for lane in processes[index].clients.indices {
            for slot in processes[index].clients[lane].slots.indices
            where !processes[index].clients[lane].slots[slot].isHeld {
                guard processes[index].clients[lane].records > 0, processes[index].clients[lane].bytes > 0 else {
                    break
                }
                if read(lane: lane, slot: slot, address) { hasMore = true }
            }
        }
        if hasMore { wakePoll(index) }
    }

    /// Whether more may be ready.
    private mutating func read(lane: Int, slot index: Int, _ address: Address) -> Bool {
        let client = processes[address.process].clients[lane]
        var slot = client.slots[index]
        guard let log = books.sources[slot.partition] else { return false }
        let limit = min(client.records, random.number(1...64))
        var records: [SourceRecord] = []
        var bytes = client.bytes
        var position = log.index(from: slot.position)
        // The last record may overdraw the bytes.
        while records.count < limit, bytes > 0, position < log.items.count {
            let (offset, item) = log.items[position]
            var record = life.news[item].record
            record.offset = offset
            records.append(record)
            bytes -= record.byteCount
            slot.position = offset + 1
            position += 1
        }
        if !records.isEmpty {
            processes[address.process].clients[lane].records -= records.count
            processes[address.process].clients[lane].bytes = bytes
            post(
                .records(lane: lane, generation: client.generation, partition: slot.partition, records: records),
                to: address)
        }
        let isAtEnd = position == log.items.count
        if isAtEnd, slot.toldEnd != log.end, records.count < limit, bytes > 0 {
            slot.toldEnd = log.end
            slot.position = log.end
            post(
                .endReached(lane: lane, generation: client.generation, partition: slot.partition, offset: log.end),
                to: address)
        }
        processes[address.process].clients[lane].slots[index] = slot
        return !isAtEnd || slot.toldEnd != log.end
    }

    // MARK: Commits

    private mutating func requestCommit(lane: Int, generation: Int, _ offsets: [CommitOffset], _ address: Address) {
        let client = processes[address.process].clients[lane]
        guard generation == client.generation, !client.slots.isEmpty || client.isDraining else {
            post(.committed(lane: lane, succeeded: false), to: address)
            return
        }
        let request = CommitRequest(lane: lane, groupGeneration: client.groupGeneration, offsets: offsets)
        agenda.add(.commit(address, request), at: now + random.milliseconds(1...15))
    }

    mutating func commit(_ request: CommitRequest, from address: Address) {
        let member = groups[request.lane].index(of: address).map { groups[request.lane].members[$0] }
        let isMember = member?.generation == request.groupGeneration
        let failure = commitFailure
        var succeeded = isMember
        if isMember, failure != .refused {
            for offset in request.offsets { books.committed[request.lane][offset.partition] = offset.offset }
            tell(.committed(address, lane: request.lane, request.offsets))
        }
        if failure != nil { succeeded = false }
        guard processes[address.process].incarnation == address.incarnation else { return }
        post(.committed(lane: request.lane, succeeded: succeeded), to: address, after: .milliseconds(1))
    }

    // MARK: The ledger

    mutating func readLedger(_ given: LedgerJob, _ address: Address) {
        var job = given
        let client = processes[address.process].clients[job.lane]
        guard job.generation >= client.ledgerGeneration, !processes[address.process].isClosing else { return }
        let rows = books.ledger[job.results.partition] ?? []
        let range: Range<Int64>
        if let begun = job.range {
            range = begun
        } else {
            let end = rows.last.map { $0.offset + 1 } ?? 0
            let window = Int64(life.setting.engine.duplicateWindow)
            let start = max(0, (books.committed[job.lane][job.results] ?? 0) - window)
            range = min(start, end)..<end
            for tenure in processes[address.process].tenures
            where books.tenures[tenure].lane == job.lane && books.tenures[tenure].generation == job.generation
                && books.tenures[tenure].partition.partition == job.results.partition
            {
                books.tenures[tenure].ledgerStart = range.lowerBound
            }
        }
        let part = min(range.lowerBound + Int64(random.number(1...40)), range.upperBound)
        let entries = (range.lowerBound..<part).map { rows[Int($0)].result }
        let isLast = part == range.upperBound
        post(
            .restored(
                lane: job.lane, generation: job.generation, results: job.results, entries: entries,
                end: isLast ? range.upperBound : nil),
            to: address)
        guard !isLast else { return }
        job.range = part..<range.upperBound
        agenda.add(.readLedger(address, job), at: now + random.milliseconds(1...30))
    }

    // MARK: Closing

    private mutating func close(_ address: Address) {
        guard !processes[address.process].isClosing else { return }
        processes[address.process].isClosing = true
        for lane in groups.indices where !processes[address.process].clients[lane].isDraining {
            if processes[address.process].clients[lane].slots.isEmpty {
                leave(address, lane: lane)
            } else {
                revoke(address, lane: lane, isLost: false)
            }
        }
        agenda.add(.exit(address), at: now)
    }
}
