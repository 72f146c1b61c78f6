import EditorialControl
import KafkaModel
import NewsModel
import PublishEngine

/// Starts and ends of processes, and of their ownerships of partitions.
extension SimulatedCluster {
    mutating func start(_ index: Int) {
        guard processes[index].engine == nil else { return }
        let run = processes[index].run + 1
        let wallOffset = processes[index].wallOffset
        processes[index] = SimulatedProcess()
        processes[index].wallOffset = wallOffset
        // A monotonic clock starts at an arbitrary time.
        processes[index].steadyOffset = Instant(nanoseconds: 0) + random.milliseconds(0...100_000_000) - Scenario.start
        processes[index].run = run
        processes[index].mintedAt = now
        processes[index].lanes = setting.lanes.laneIDs.map { lane in
            LaneClient(
                consumer: ConsumerState(lane: lane, shards: 1, patience: setting.releaseTimeout),
                ledger: LedgerState(lane: lane))
        }
        processes[index].engine = makeEngine(process: index, run: run)
        processes[index].pool = makePool()
        for lane in setting.lanes.laneIDs where isPaused(lane) { feed(index, .pause(lane)) }
        let address = Address(process: index, run: run)
        record(.started(address))
        for lane in setting.lanes.laneIDs { join(address, lane: lane) }
        openControl(address)
        openHeld(address)
        agenda.add(.askCounts(address, isRegular: true), at: now)
        agenda.add(.lookAtIncarnations(address), at: now + .seconds(2))
        agenda.add(.inspect(address), at: now + .seconds(2))
    }

    mutating func crash(_ index: Int, returnsAfter: Duration) {
        guard processes[index].engine != nil else { return }
        let address = Address(process: index, run: processes[index].run)
        writesInTransit[address] = now + random.milliseconds(0...20)
        die(address)
        report.crashes += 1
        for lane in groups.laneIDs {
            agenda.add(.expireSession(address, lane: lane), at: now + setting.sessionTimeout)
        }
        agenda.add(.start(process: index), at: now + returnsAfter)
    }

    private mutating func die(_ address: Address) {
        for ownership in processes[address.process].ownerships { end(ownership, as: .died) }
        processes[address.process].ownerships = []
        record(.died(address))
        processes[address.process].engine = nil
    }

    /// Starts an orderly shutdown after the engine has finished: leaves the groups and empties the producer.
    mutating func close(_ address: Address) {
        guard !processes[address.process].isClosing else { return }
        processes[address.process].isClosing = true
        processes[address.process].closesAt = now + setting.releaseTimeout + .seconds(10)
        for lane in groups.laneIDs {
            switch processes[address.process].lanes[lane].consumer.phase {
            case .unassigned: leave(address, lane: lane)
            case .assigned: revoke(address, lane: lane, isLost: false)
            case .draining: break
            }
        }
        tellControlState(.drain, address)
        agenda.add(.exit(address), at: now)
    }

    mutating func exit(_ address: Address) {
        let process = processes[address.process]
        guard process.isClosing else { return }
        let isDone =
            process.lanes.allSatisfy(\.hasLeft) && process.outstanding == 0 && process.refused.isEmpty
            && process.control?.isFinished != false
        guard isDone || now >= process.closesAt else {
            agenda.add(.exit(address), at: now + .milliseconds(50))
            return
        }
        for lane in groups.laneIDs where !process.lanes[lane].hasLeft { leave(address, lane: lane) }
        die(address)
        agenda.add(.start(process: address.process), at: now + process.returnsAfter)
    }

    // MARK: Ownerships

    /// Records the ownerships that an input begins or ends.
    mutating func note(_ input: Input, _ items: [Int], _ address: Address) {
        guard case .kafka(let event) = input else { return }
        switch event {
        case .assigned(let lane, let generation, let partitions):
            let former = processes[address.process].ownerships.filter { truth.ownerships[$0].lane == lane }
            for ownership in former { end(ownership, as: .replaced) }
            processes[address.process].ownerships.removeAll { former.contains($0) }
            for partition in partitions { begin(partition, lane, generation, address) }
            noteOwned(lane, address)
        case .restored(let lane, let generation, let results, let entries, let end):
            noteLedger(entries, end, of: results, in: ownerships(lane, generation, address))
        case .records(let lane, let generation, let partition, let records):
            guard let number = ownership(of: partition, address), records.count == items.count,
                truth.ownerships[number].lane == lane, truth.ownerships[number].generation == generation
            else { return }
            for (record, item) in zip(records, items) {
                truth.ownerships[number].taken[record.offset] = item
                truth.takenBy[item].append(number)
                hideTwin(item, at: record.offset, of: number)
            }
            self.record(.taken(ownership: number, items: items))
        case .restarted(let lane, let generation, let partition, _):
            for number in ownerships(lane, generation, address) where truth.ownerships[number].partition == partition {
                truth.ownerships[number].isEnding = true
            }
        case .revoked(let lane, let generation, let partitions, let isLost):
            for number in ownerships(lane, generation, address)
            where partitions.contains(truth.ownerships[number].partition) {
                if isLost {
                    end(number, as: .lost)
                } else {
                    truth.ownerships[number].revokedAt = now
                }
            }
            processes[address.process].ownerships.removeAll { truth.ownerships[$0].end != nil }
            noteOwned(lane, address)
        default:
            break
        }
    }

    /// Hides a record with the coordinates and identity of one in another incarnation. The ledger cannot distinguish them.
    private mutating func hideTwin(_ item: Int, at offset: Int64, of ownership: Int) {
        guard let others = truth.ownerships[ownership].settled[offset], !others.contains(item) else { return }
        let identity = RecordIdentity(of: truth.news[item].record)
        if others.contains(where: { RecordIdentity(of: truth.news[$0].record) == identity }) {
            truth.places[item]?.hiding = .twin
        }
    }

    private mutating func noteLedger(
        _ entries: [LedgerEntry], _ end: RestoreEnd?, of results: TopicPartition, in numbers: [Int]
    ) {
        // An engine that has restored a partition ignores entries that are read again for another topic's partition.
        for number in numbers
        where truth.ownerships[number].partition.partition == results.partition
            && (!truth.ownerships[number].isRestored || truth.ownerships[number].readsOnFrom != nil)
        {
            let horizon = truth.ownerships[number].readsOnFrom ?? .min
            for entry in entries
            where entry.source.partition == truth.ownerships[number].partition && entry.source.offset >= horizon {
                truth.ownerships[number].seen.insert(entry.offset)
                guard entry.isOpen else { continue }
                truth.ownerships[number].known[entry.offset] = entry.source.offset
                guard let row = truth.ledger[results.partition]?.rows[Int(entry.offset)] else { continue }
                truth.ownerships[number].settled[entry.source.offset, default: []].insert(truth.item(of: row.delivery))
            }
            guard let end else { continue }
            truth.ownerships[number].isRestored = true
            truth.ownerships[number].ledgerEnd = end.offset
            truth.ownerships[number].readsOnFrom = nil
            record(.restored(ownership: number))
        }
    }

    private mutating func begin(
        _ partition: TopicPartition, _ lane: LaneID, _ generation: Generation, _ address: Address
    ) {
        truth.ownerships.append(
            Ownership(address: address, lane: lane, generation: generation, partition: partition, beganAt: now))
        processes[address.process].ownerships.append(truth.ownerships.count - 1)
        record(.began(ownership: truth.ownerships.count - 1))
    }

    /// Records that the engine releases a generation.
    mutating func noteRelease(_ address: Address, _ lane: LaneID, _ generation: Generation) {
        for number in ownerships(lane, generation, address) {
            let revokedAt = truth.ownerships[number].revokedAt ?? now
            let isInTime = now - revokedAt < setting.engine.revokeDeadline
            end(number, as: isInTime ? .released : .overdue)
        }
        processes[address.process].ownerships.removeAll { truth.ownerships[$0].end != nil }
    }

    /// Records that the engine has finished a former incarnation.
    mutating func noteRewind(_ partition: TopicPartition, _ address: Address, _ lane: LaneID, _ generation: Generation)
    {
        guard
            let number = ownerships(lane, generation, address).last(where: {
                truth.ownerships[$0].partition == partition && truth.ownerships[$0].isEnding
            })
        else { return }
        end(number, as: .rewound)
        processes[address.process].ownerships.removeAll { $0 == number }
        begin(partition, lane, generation, address)
        truth.ownerships[truth.ownerships.count - 1].hasRewound = true
    }

    private mutating func end(_ ownership: Int, as end: Ownership.End) {
        guard truth.ownerships[ownership].end == nil else { return }
        truth.ownerships[ownership].end = end
        record(.ended(ownership: ownership))
    }

    /// Returns the ownership under which an engine handles a partition.
    func ownership(of partition: TopicPartition, _ address: Address) -> Int? {
        processes[address.process].ownerships.last { truth.ownerships[$0].partition == partition }
    }

    func ownerships(_ lane: LaneID, _ generation: Generation, _ address: Address) -> [Int] {
        processes[address.process].ownerships.filter {
            truth.ownerships[$0].lane == lane && truth.ownerships[$0].generation == generation
        }
    }
}
