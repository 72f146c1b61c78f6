import KafkaModel
import NewsModel

/// The thread that reads one lane's ledger as `LedgerState` decides.
extension SimulatedCluster {
    /// Wakes a resting reader after a request.
    mutating func wakeLedger(_ address: Address, lane: LaneID) {
        guard !processes[address.process].lanes[lane].isLocating else { return }
        scheduleLedger(address, lane: lane, at: now + random.milliseconds(0...5))
    }

    private mutating func scheduleLedger(_ address: Address, lane: LaneID, at: Instant) {
        processes[address.process].lanes[lane].ledgerTurn += 1
        agenda.add(
            .readLedger(address, lane: lane, turn: processes[address.process].lanes[lane].ledgerTurn), at: at)
    }

    mutating func readLedger(_ address: Address, lane: LaneID, turn: Int) {
        let index = address.process
        guard processes[index].lanes[lane].ledgerTurn == turn, !processes[index].isClosing else { return }
        let steady = processes[index].moment(at: now).steady
        while true {
            switch processes[index].lanes[lane].ledger.next(at: steady) {
            case .locate(let requests):
                processes[index].lanes[lane].isLocating = true
                let isBlocked = requests.contains { unavailability(of: $0.results) != nil }
                let delay = isBlocked ? random.milliseconds(1_000...5_000) : ledgerDelay(lane)
                agenda.add(.locate(address, lane: lane, requests), at: now + delay)
                return
            case .assign(let offsets):
                processes[index].lanes[lane].ledgerPositions = Dictionary(
                    offsets.map { ($0.partition, $0.offset) }, uniquingKeysWith: { $1 })
            case .read:
                readLedgerOnce(address, lane: lane)
                scheduleLedger(address, lane: lane, at: now + random.milliseconds(5...60))
                return
            case .wait(let until):
                if let until {
                    scheduleLedger(address, lane: lane, at: max(until - processes[index].steadyOffset, now))
                }
                return
            }
        }
    }

    /// Handles the broker's answer about the first and last offsets of partitions.
    mutating func locate(_ requests: [LedgerState.Request], _ address: Address, lane: LaneID) {
        let index = address.process
        processes[index].lanes[lane].isLocating = false
        let steady = processes[index].moment(at: now).steady
        var events = ShardEvents(shards: 1)
        for request in requests {
            if let failure = ledgerFailure(request.results) {
                processes[index].lanes[lane].ledger.failed(request.results, failure, at: steady, &events)
                continue
            }
            let log = truth.ledger[request.results.partition] ?? ResultsLog()
            var watermarks: [TopicPartition: Int64] = [:]
            var notes: [TopicPartition: String] = [:]
            for source in request.sources {
                watermarks[source] = truth.committed[lane][source]?.offset
                notes[source] = truth.committed[lane][source]?.note
            }
            let location = LedgerState.Location(
                committed: truth.committed[lane][request.results]?.offset, watermarks: watermarks,
                uncommitted: Set(request.sources.filter { watermarks[$0] == nil }), notes: notes,
                kept: log.start..<log.end, since: request.since.flatMap(log.offset(since:)),
                at: processes[index].moment(at: now).wall)
            let found = processes[index].lanes[lane].ledger.located(request.results, location, at: steady)
            guard let found else { continue }
            processes[index].lanes[lane].consumer.found(found)
            checkIncarnations(address, lane: lane, includingIdle: false)
            for number in ownerships(lane, found.generation, address) where !truth.ownerships[number].isRestored {
                let note = notes[truth.ownerships[number].partition]
                truth.ownerships[number].progress = note.map(CommitNote.progress) ?? truth.ownerships[number].progress
            }
        }
        post(events, to: address)
        scheduleLedger(address, lane: lane, at: now)
    }

    private mutating func ledgerFailure(_ results: TopicPartition) -> KafkaFailure? {
        if !exists(results) {
            return KafkaFailure(code: "_UNKNOWN_PARTITION", isRetriable: true, detail: "\(results) does not exist")
        }
        guard let fault = unavailability(of: results) else { return nil }
        strike(fault, .unavailableLedger)
        return KafkaFailure(code: "_TIMED_OUT", isRetriable: true, detail: "\(results) has no leader")
    }

    private mutating func readLedgerOnce(_ address: Address, lane: LaneID) {
        let index = address.process
        let steady = processes[index].moment(at: now).steady
        var events = ShardEvents(shards: 1)
        for (results, position) in processes[index].lanes[lane].ledgerPositions.sorted(by: { $0.key < $1.key }) {
            if let fault = unavailability(of: results) {
                strike(fault, .unavailableLedger)
                continue
            }
            let log = truth.ledger[results.partition] ?? ResultsLog()
            // A deleted offset is out of range, so the reader starts at the first offset kept.
            let first = position > log.end ? log.start : max(position, log.start)
            let next = min(first + Int64(random.number(1...40)), log.end)
            let entries = (first..<next).map { log.rows[Int($0)].entry }
            processes[index].lanes[lane].ledgerPositions[results] = next
            processes[index].lanes[lane].ledger.read(
                results, entries, next: next, isAtEnd: next == log.end, at: steady, &events)
        }
        processes[index].lanes[lane].ledger.tick(at: steady, standstill: .standstill, &events)
        post(events, to: address)
    }

    private mutating func ledgerDelay(_ lane: LaneID) -> Duration {
        guard let fault = activeFaults.first(where: { scenario.faults[$0].kind == .slowLedger(lane: lane) }) else {
            return random.milliseconds(1...60)
        }
        strike(fault, .slowLedger)
        return random.milliseconds(500...5_000)
    }
}
