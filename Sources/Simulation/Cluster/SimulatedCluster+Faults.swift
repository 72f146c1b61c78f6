import KafkaModel
import NewsModel
import PublishEngine

/// The start and end of faults.
extension SimulatedCluster {
    mutating func begin(_ index: Int) {
        let fault = scenario.faults[index]
        switch fault.kind {
        case .crash(let process):
            if processes[process].engine != nil { strike(index, .crash) }
            crash(process, returnsAfter: fault.lasts)
        case .drain(let process):
            guard processes[process].engine != nil, !processes[process].isClosing else { return }
            strike(index, .drain)
            processes[process].returnsAfter = fault.lasts
            agenda.add(.input(address(process), .drain, items: []), at: now)
        case .rebalance(let lane):
            guard !groups[lane].members.isEmpty else { return }
            strike(index, .rebalance)
            rebalance(lane)
        case .expel(let process, let lane):
            guard processes[process].engine != nil, groups[lane].index(of: address(process)) != nil else { return }
            strike(index, .expel)
            expel(address(process), lane: lane, noticedAfter: fault.lasts)
        case .freeze(let process):
            if processes[process].engine != nil { strike(index, .freeze) }
            freeze(process, for: fault.lasts)
        case .wrongClock(let process, let size), .clockStep(let process, let size):
            if case .wrongClock = fault.kind {
                strike(index, .wrongClock)
            } else {
                strike(index, size > .zero ? .clockStepForward : .clockStepBack)
            }
            stepClock(process, by: size)
            agenda.add(.ends(fault: index), at: now + fault.lasts)
        case .recreated(let topic, let partitions): recreate(index, topic, partitions: partitions, after: fault.lasts)
        case .cutBack(let partition, let records): cutBack(index, partition, records: records)
        case .grown(let topics, let count): grow(topics, to: count, within: fault.lasts)
        case .retention(let share): dropResults(index, share: share)
        case .sourceRetention(let topic, let share): dropSource(index, topic, share: share)
        case .forgottenOffsets(let lane): forgetOffsets(index, lane: lane)
        case .compactedControl: compactControl(index)
        case .truncatedControl: truncateControl(index)
        case .garbledControl: litterControl(index)
        case .compactedHeld: compactHeld(index)
        case .truncatedHeld: truncateHeld(index)
        case .openTransaction:
            transactions[index] = truth.control.end
            agenda.add(.ends(fault: index), at: now + fault.lasts)
        case .recreatedHeld:
            deleteHeld(index)
            activeFaults.append(index)
            agenda.add(.ends(fault: index), at: now + fault.lasts)
        case .pausedLane(let lane):
            strike(index, .pausedLane)
            activeFaults.append(index)
            pause(lane)
            agenda.add(.ends(fault: index), at: now + fault.lasts)
        case .releasedLane(let lane, let decision):
            activeFaults.append(index)
            release(index, lane, decision)
            agenda.add(.ends(fault: index), at: now + fault.lasts)
        case .connections(let kind):
            activeFaults.append(index)
            begin(index, kind)
            agenda.add(.ends(fault: index), at: now + fault.lasts)
        case .silentNetwork(let process):
            if processes[process].engine != nil { strike(index, .silentNetwork) }
            activeFaults.append(index)
            agenda.add(.ends(fault: index), at: now + fault.lasts)
        case .hub, .badMinute, .slowHub, .poison, .stalledResults, .failingCommits, .refusedCommits, .slowLedger,
            .unavailable, .refusedTopic, .smallRecords, .controlAway, .slowControl, .slowHeld, .blockedLog:
            activeFaults.append(index)
            agenda.add(.ends(fault: index), at: now + fault.lasts)
        }
    }

    mutating func end(_ index: Int) {
        activeFaults.removeAll { $0 == index }
        switch scenario.faults[index].kind {
        case .pausedLane(let lane) where !isPaused(lane):
            for process in processes.indices where processes[process].engine != nil {
                agenda.add(.input(address(process), .resume(lane), items: []), at: now)
            }
        case .releasedLane(let lane, let decision): release(index, lane, decision)
        case .connections(let kind): end(kind)
        case .openTransaction:
            transactions[index] = nil
            for process in processes.indices { wakeControl(process) }
        case .wrongClock(let process, let size), .clockStep(let process, let size):
            stepClock(process, by: .zero - size)
        case .unavailable(let partition) where setting.lane(of: partition.topic) != nil:
            for process in processes.indices { wakePoll(process) }
        default: break
        }
    }

    private func address(_ process: Int) -> Address {
        Address(process: process, run: processes[process].run)
    }

    private mutating func freeze(_ process: Int, for duration: Duration) {
        guard processes[process].engine != nil else { return }
        processes[process].frozenAt = processes[process].frozenAt ?? now
        processes[process].frozenUntil = max(processes[process].frozenUntil, now + duration)
        agenda.add(.thaw(process: process), at: processes[process].frozenUntil)
        guard duration > setting.sessionTimeout else { return }
        for lane in groups.laneIDs {
            agenda.add(.expireSession(address(process), lane: lane), at: now + setting.sessionTimeout)
        }
    }

    mutating func thaw(_ process: Int) {
        guard processes[process].frozenUntil <= now else { return }
        if let since = processes[process].frozenAt, now - since >= StandstillWatch.gapMin {
            record(.thawed(address(process)))
        }
        let missed = processes[process].missed
        processes[process].missed = []
        for occurrence in missed where isStillMeant(occurrence) { happen(occurrence) }
    }

    /// Sets the wall clock without notifying the process.
    private mutating func stepClock(_ process: Int, by size: Duration) {
        processes[process].wallOffset += size
        record(.clockStepped(address(process), by: size, wallBefore: now + processes[process].wallOffset - size))
    }

    private mutating func pause(_ lane: LaneID) {
        for process in processes.indices where processes[process].engine != nil {
            agenda.add(.input(address(process), .pause(lane), items: []), at: now)
        }
    }

    private mutating func release(_ fault: Int, _ lane: LaneID, _ decision: FloodRelease) {
        for process in processes.indices {
            guard let engine = processes[process].engine else { continue }
            let status = engine.laneStatus(at: processes[process].moment(at: now))
            guard status[lane].flood != nil else { continue }
            strike(fault, decision == .send ? .releasedToSend : .releasedToDeadLetters)
            let ends = truth.sources.filter { setting.lane(of: $0.key.topic) == lane }.mapValues(\.end)
            agenda.add(.input(address(process), .release(lane, decision, upTo: ends), items: []), at: now)
        }
    }

    // MARK: Faults in force

    func isPaused(_ lane: LaneID) -> Bool {
        activeFaults.contains { scenario.faults[$0].kind == .pausedLane(lane: lane) }
    }

    /// Returns the fault that makes a partition unreadable and unwritable.
    func unavailability(of partition: TopicPartition) -> Int? {
        activeFaults.first {
            let kind = scenario.faults[$0].kind
            return kind == .unavailable(partition) || kind == .recreatedHeld && partition.topic == Setting.held
        }
    }

    /// Returns the time before which nothing is appended to a partition.
    mutating func appendBlock(_ partition: TopicPartition) -> Instant? {
        var until: Instant?
        for fault in activeFaults {
            switch scenario.faults[fault].kind {
            case .stalledResults where partition.topic == setting.results: strike(fault, .stalledResults)
            case .recreatedHeld where partition.topic == Setting.held: strike(fault, .unavailableHeld)
            case .unavailable(partition):
                switch partition.topic {
                case setting.results: strike(fault, .unavailableResults)
                case Setting.held: strike(fault, .unavailableHeld)
                default: strike(fault, .unavailableDeadLetters)
                }
            default: continue
            }
            until = max(until ?? now, Scenario.start + scenario.faults[fault].end)
        }
        return until.flatMap { $0 > now ? $0 : nil }
    }

    /// Returns the broker's reason for refusing a record.
    mutating func refusal(of production: Production) -> String? {
        if production.bytes > setting.recordBytesMax {
            strike(.tooLarge)
            return "MSG_SIZE_TOO_LARGE"
        }
        if !exists(production.partition) { return "_UNKNOWN_PARTITION" }
        for fault in activeFaults {
            switch scenario.faults[fault].kind {
            case .refusedTopic(production.partition.topic):
                strike(fault, .refusedTopic)
                return "TOPIC_AUTHORIZATION_FAILED"
            case .smallRecords(production.partition.topic, let bytes) where production.bytes > bytes:
                strike(fault, .tooLarge)
                return "MSG_SIZE_TOO_LARGE"
            default: continue
            }
        }
        return nil
    }

    enum CommitFailure {
        case refused
        /// The commit was applied, but its answer is an error.
        case applied
    }

    mutating func commitFailure(lane: LaneID) -> CommitFailure? {
        for fault in activeFaults {
            guard case .failingCommits(lane, let isApplied) = scenario.faults[fault].kind else { continue }
            strike(fault, isApplied ? .appliedCommits : .failingCommits)
            return isApplied ? .applied : .refused
        }
        return nil
    }

    mutating func refusesCommit(of partition: TopicPartition) -> Bool {
        guard let fault = activeFaults.first(where: { scenario.faults[$0].kind == .refusedCommits(partition) }) else {
            return false
        }
        strike(fault, .refusedCommits)
        return true
    }

    mutating func slowness() -> Duration {
        var sum = Duration.zero
        for fault in activeFaults {
            guard case .slowHub(let more) = scenario.faults[fault].kind else { continue }
            strike(fault, .slowHub)
            sum += more
        }
        return sum
    }
}
