import ByteText
import HubModel
import NewsModel
import NotificationHub
import PublishEngine

/// Carries out a pool's actions, as `SenderPool` and its connections do on sockets.
extension SimulatedCluster {
    mutating func makePool() -> PoolState {
        var limits = SenderLimits(connections: setting.engine.connections)
        limits.waitingTimeout = StandstillWatch.gapMin
        limits.connectTimeout = setting.connectTimeout
        limits.requestTimeout = setting.requestTimeout
        interference?.alter(&limits)
        return PoolState(limits, offersHTTP2: setting.hub != .plain)
    }

    /// Passes an event to the pool, with the process's monotonic time, and carries out the resulting actions.
    mutating func tellPool(_ address: Address, _ event: (inout PoolState, Instant) -> Void) {
        let process = address.process
        guard processes[process].run == address.run else { return }
        event(&processes[process].pool, processes[process].moment(at: now).steady)
        guard var action = processes[process].pool.actions.first() else { return }
        while true {
            carryOut(action, address)
            guard let next = processes[process].pool.actions.next() else { return }
            action = next
        }
    }

    private mutating func carryOut(_ action: PoolState.Action, _ address: Address) {
        let process = address.process
        switch action {
        case .open(let id, let offersHTTP2): open(id, offersHTTP2: offersHTTP2, address)
        case .write(let slot, let id, let checked): write(slot, on: id, checked: checked, address)
        case .cancel(let slot, let id): processes[process].connections[id]?.requests[slot] = nil
        case .ping(let id): tell(address, id, .pong, after: random.milliseconds(1...20))
        case .close(let id), .abort(let id):
            // The pool awaits nothing more over it, whenever the socket reports its end.
            processes[process].connections[id]?.requests = [:]
            tell(address, id, .closed(SendFailure(.closedEarly, "closed")), after: random.milliseconds(0...2))
        case .wake(let at):
            agenda.add(.wakePool(address), at: max(at - processes[process].steadyOffset, now))
        case .handOver: agenda.add(.handOver(address), at: now)
        case .finish: break
        }
    }

    mutating func wakePool(_ address: Address) { tellPool(address) { $0.wake(at: $1) } }

    /// Passes the results of requests to the engine.
    mutating func handOver(_ address: Address) {
        let settled = processes[address.process].pool.takeResults()
        for one in settled {
            guard let attempt = processes[address.process].attempts.removeValue(forKey: one.id) else { continue }
            truth.attempts[attempt].end(with: one.result, at: now)
            record(.replied(attempt: attempt))
        }
        feed(address.process, .replies(settled))
        // The shell looks once a second for a new date.
        let hasDate = settled.contains { $0.result.reply != nil }
        if hasDate, now - processes[address.process].heardHubAt >= .seconds(1) {
            processes[address.process].heardHubAt = now
            agenda.add(.hearHub(address, now), at: now + .milliseconds(500))
        }
        tellPool(address) { pool, _ in pool.handedOver() }
    }

    private mutating func write(_ slot: RequestSlot, on id: ConnectionID, checked: Bool, _ address: Address) {
        let process = address.process
        guard let connection = processes[process].connections[id],
            let request = processes[process].pool.request(in: slot, on: id),
            let attempt = processes[process].attempts[request.id]
        else { return }
        if checked, let fault = idleClose(connection, attempt) {
            strike(fault, .connectionLost)
            return tellPool(address) { $0.endedBeforeWriting(on: id, at: $1) }
        }
        if connection.http == .http2, let fault = activeFault(.closedWindows) {
            strike(fault, .closedWindows)
            processes[process].connections[id]?.isBlocked = true
            return tellPool(address) { $0.blocked(slot, on: id, at: $1) }
        }
        writes += 1
        let flight = Flight(
            address: address, attempt: attempt, write: writes, mintedAt: processes[process].mintedAt, connection: id,
            number: connection.number, slot: slot)
        processes[process].connections[id]?.requests[slot] = flight
        let inFlight = processes[process].connections.values.reduce(0) { $0 + $1.requests.count }
        record(.written(attempt: attempt, inFlight: inFlight))
        agenda.add(.arrive(flight), at: now + random.milliseconds(0...5))
    }

    /// Returns the fault in which the hub has ended the connection before a group of requests was written.
    private func idleClose(_ connection: SimulatedConnection, _ attempt: Int) -> Int? {
        activeFaults.first { fault in
            guard case .hub(.connectionLost, let share) = scenario.faults[fault].kind else { return false }
            var draw = SeededRandom(seed: scenario.seed, 9, connection.number, attempt)
            return draw.chance(percent: share)
        }
    }
}
