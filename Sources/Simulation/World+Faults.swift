import NewsModel
import PublishEngine

/// Faults begin and end.
extension World {
    mutating func begin(_ index: Int) {
        let fault = life.faults[index]
        switch fault.kind {
        case .crash(let process): crash(process, returnsAfter: fault.lasts)
        case .drain(let process):
            guard processes[process].engine != nil, !processes[process].isClosing else { return }
            processes[process].returnsAfter = fault.lasts
            agenda.add(.input(address(process), .drain), at: now)
        case .rebalance(let lane):
            if !groups[lane].members.isEmpty { rebalance(lane) }
        case .expel(let process, let lane):
            if processes[process].engine != nil { expel(address(process), lane: lane, noticedAfter: fault.lasts) }
        case .freeze(let process): freeze(process, for: fault.lasts)
        case .clockJump(let process): jump(process, by: fault.lasts)
        case .pausedLane(let lane):
            spells.append(index)
            pause(lane, true)
            agenda.add(.ends(fault: index), at: now + fault.lasts)
        case .hub, .slowHub, .stalledResults, .failingCommits, .slowLedger, .refusedDeadLetters:
            spells.append(index)
            agenda.add(.ends(fault: index), at: now + fault.lasts)
        }
    }

    mutating func end(_ index: Int) {
        spells.removeAll { $0 == index }
        if case .pausedLane(let lane) = life.faults[index].kind, !isPaused(lane) { pause(lane, false) }
    }

    private func address(_ process: Int) -> Address {
        Address(process: process, incarnation: processes[process].incarnation)
    }

    private mutating func freeze(_ process: Int, for duration: Duration) {
        guard processes[process].engine != nil else { return }
        processes[process].frozenUntil = max(processes[process].frozenUntil, now + duration)
        agenda.add(.thaw(process: process), at: processes[process].frozenUntil)
        guard duration > life.setting.sessionTimeout else { return }
        for lane in groups.indices {
            agenda.add(.expireSession(address(process), lane: lane), at: now + life.setting.sessionTimeout)
        }
    }

    mutating func thaw(_ process: Int) {
        guard processes[process].frozenUntil <= now else { return }
        let missed = processes[process].missed
        processes[process].missed = []
        for occurrence in missed where isStill(occurrence) { happen(occurrence) }
    }

    private mutating func jump(_ process: Int, by duration: Duration) {
        processes[process].skew += duration
        tell(.clockJumped)
        guard processes[process].engine != nil else { return }
        agenda.add(.input(address(process), .alarm), at: now)
    }

    private mutating func pause(_ lane: Int, _ isPaused: Bool) {
        for process in processes.indices where processes[process].engine != nil {
            agenda.add(.input(address(process), .pause(lane: lane, isPaused)), at: now)
        }
    }

    // MARK: What is in force

    func isPaused(_ lane: Int) -> Bool {
        spells.contains { life.faults[$0].kind == .pausedLane(lane: lane) }
    }

    /// Until when nothing is appended to the results topic.
    var stallEnd: Instant? {
        spells.filter { life.faults[$0].kind == .stalledResults }.map { Life.start + life.faults[$0].end }.max()
            .flatMap { $0 > now ? $0 : nil }
    }

    enum CommitFailure {
        case refused
        /// Done; only the answer says otherwise.
        case applied
    }

    var commitFailure: CommitFailure? {
        for spell in spells {
            if case .failingCommits(let isApplied) = life.faults[spell].kind { return isApplied ? .applied : .refused }
        }
        return nil
    }

    var refusesDeadLetters: Bool { spells.contains { life.faults[$0].kind == .refusedDeadLetters } }

    var slowness: Duration {
        spells.reduce(.zero) { sum, spell in
            if case .slowHub(let more) = life.faults[spell].kind { sum + more } else { sum }
        }
    }

    mutating func ledgerDelay() -> Duration {
        let isSlow = spells.contains { life.faults[$0].kind == .slowLedger }
        return random.milliseconds(isSlow ? 500...5_000 : 1...60)
    }
}
