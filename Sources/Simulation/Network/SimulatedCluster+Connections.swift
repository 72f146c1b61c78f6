import ByteText
import HubModel
import NewsModel
import NotificationHub

/// The connections between processes and the hub, and the network that carries them.
extension SimulatedCluster {
    mutating func open(_ id: ConnectionID, offersHTTP2: Bool, _ address: Address) {
        opened += 1
        processes[address.process].connections[id] = SimulatedConnection(number: opened)
        var draw = SeededRandom(seed: scenario.seed, 8, opened)
        if isUnreachable(&draw) {
            return tell(address, id, .closed(SendFailure(.connectRefused, "refused")), after: draw.milliseconds(0...3))
        }
        let connect = draw.milliseconds(0...20)
        guard connect < setting.connectTimeout, silence(of: address.process) == nil else {
            return tell(address, id, .closed(SendFailure(.connectTimeout, "timeout")), after: setting.connectTimeout)
        }
        tell(address, id, .connected, after: connect)
        let handshake = connect + draw.milliseconds(0...20) + slowness()
        if let fault = hubFault(.certificate, &draw) {
            strike(fault, .certificate)
            return tell(address, id, .failed(SendFailure(.tls, "expired")), after: handshake)
        }
        var http = offersHTTP2 && setting.hub == .http2 ? HTTPVersion.http2 : .http1
        if http == .http2, let fault = activeFault(.brokenHTTP2) {
            strike(fault, .brokenHTTP2)
            tell(address, id, .choseHTTP2, after: handshake)
            // It ends the connection, or says nothing.
            if draw.chance(percent: 50) { tell(address, id, .brokenHTTP2, after: handshake) }
            return
        }
        if http == .http2, let fault = activeFault(.onlyHTTP1) {
            strike(fault, .onlyHTTP1)
            http = .http1
        }
        if http == .http2 { tell(address, id, .choseHTTP2, after: handshake) }
        tell(address, id, .ready(http), after: handshake + (http == .http2 ? draw.milliseconds(0...10) : .zero))
    }

    /// Lets a process hear an event of its connection, unless another connection has taken the place by then.
    mutating func tell(_ address: Address, _ id: ConnectionID, _ event: ConnectionEvent, after delay: Duration) {
        guard let number = processes[address.process].connections[id]?.number else { return }
        agenda.add(.connection(address, id, number: number, event), at: now + delay)
    }

    /// The hub ends the connection; what it has not read is lost.
    mutating func end(_ id: ConnectionID, _ address: Address, _ failure: SendFailure) {
        guard let number = processes[address.process].connections[id]?.number else { return }
        finished.insert(number)
        tell(address, id, .closed(failure), after: random.milliseconds(0...10))
    }

    mutating func hear(_ event: ConnectionEvent, _ address: Address, _ id: ConnectionID, number: Int) {
        guard processes[address.process].connections[id]?.number == number else { return }
        if event.comesFromHub, let until = silence(of: address.process) {
            return agenda.add(.connection(address, id, number: number, event), at: until)
        }
        switch event {
        case .connected: tellPool(address) { $0.connected(id, at: $1) }
        case .choseHTTP2: tellPool(address) { pool, _ in pool.choseHTTP2(id) }
        case .ready(let http):
            processes[address.process].connections[id]?.http = http
            let streams = streamsMax
            tellPool(address) { $0.ready(id, http, streams: streams, at: $1) }
        case .closed(let failure):
            processes[address.process].connections[id] = nil
            tellPool(address) { $0.closed(id, failure, at: $1) }
        case .failed(let failure): tellPool(address) { $0.fail(id, failure, at: $1) }
        case .brokenHTTP2:
            processes[address.process].connections[id] = nil
            tellPool(address) {
                $0.breaksHTTP2(id, at: $1)
                $0.closed(id, SendFailure(.closedEarly, "closed"), at: $1)
            }
        case .replied(let flight, let reply, let keepsAlive):
            endRequest(flight) { $0.replied(flight.slot, on: id, reply, keepsAlive: keepsAlive, at: $1) }
        case .streamEnded(let flight, let failure):
            endRequest(flight) { $0.ended(flight.slot, on: id, failure, at: $1) }
        case .streamRefused(let flight): endRequest(flight) { $0.refused(flight.slot, on: id, at: $1) }
        case .leaving(let processed, let isCalm): leave(address, id, processed, isCalm: isCalm)
        case .streamsChanged:
            let streams = streamsMax
            hearFrame(address, id) { $0.capacityChanged(id, to: streams, at: $1) }
        case .unblocked: hearFrame(address, id) { $0.unblocked(id, at: $1) }
        case .pong: hearFrame(address, id) { _, _ in }
        }
    }

    private mutating func endRequest(_ flight: Flight, _ event: (inout PoolState, Instant) -> Void) {
        let connection = processes[flight.address.process].connections[flight.connection]
        guard let connection, connection.awaits(flight) else { return }
        processes[flight.address.process].connections[flight.connection]?.requests[flight.slot] = nil
        hearFrame(flight.address, flight.connection, event)
    }

    /// Bytes have come over the connection; over HTTP/2 the pool wants to know that.
    private mutating func hearFrame(
        _ address: Address, _ id: ConnectionID, _ event: (inout PoolState, Instant) -> Void
    ) {
        if processes[address.process].connections[id]?.http == .http2 {
            tellPool(address) { $0.heard(id, at: $1) }
        }
        tellPool(address, event)
    }

    private mutating func leave(_ address: Address, _ id: ConnectionID, _ processed: Set<Int>, isCalm: Bool) {
        let all = processes[address.process].connections[id]?.requests.values.sorted { $0.write < $1.write } ?? []
        var refused = all.filter { !processed.contains($0.write) }.map(\.slot)
        interference?.alter(refused: &refused, of: all.map(\.slot))
        for slot in refused { processes[address.process].connections[id]?.requests[slot] = nil }
        hearFrame(address, id) { $0.leave(id, refused: refused, isCalm: isCalm, at: $1) }
    }

    // MARK: Faults

    /// The most streams of a connection, by the hub's present settings.
    private var streamsMax: Int {
        for fault in activeFaults {
            if case .connections(.fewStreams(let most)) = scenario.faults[fault].kind { return most }
        }
        return setting.streamsMax
    }

    func activeFault(_ kind: ConnectionFault) -> Int? {
        activeFaults.first { scenario.faults[$0].kind == .connections(kind) }
    }

    /// Returns the time at which packets between the process and the hub arrive again.
    func silence(of process: Int) -> Instant? {
        activeFaults.lazy
            .filter { scenario.faults[$0].kind == .silentNetwork(process: process) }
            .map { Scenario.start + scenario.faults[$0].end }
            .max()
    }

    /// Returns the active fault of the hub, if it concerns this connection.
    private func hubFault(_ trouble: HubFailure, _ draw: inout SeededRandom) -> Int? {
        activeFaults.first { fault in
            guard case .hub(trouble, let share) = scenario.faults[fault].kind else { return false }
            return draw.chance(percent: share)
        }
    }

    private mutating func isUnreachable(_ draw: inout SeededRandom) -> Bool {
        if let fault = hubFault(.unreachable, &draw) {
            strike(fault, .unreachable)
            return true
        }
        let badMinute = activeFaults.first { scenario.faults[$0].kind == .badMinute(isUnreachable: true) }
        if let badMinute { strike(badMinute, .badMinute) }
        return badMinute != nil
    }

    /// A fault of connections begins.
    mutating func begin(_ fault: Int, _ kind: ConnectionFault) {
        forEachConnection { cluster, address, id, http in
            switch (kind, http) {
            case (.reset, _):
                cluster.strike(fault, .connectionsReset)
                cluster.end(id, address, SendFailure(.reset, "reset"))
            case (.goAway(let isCalm), .http2):
                cluster.strike(fault, isCalm ? .askedForCalm : .goAway)
                cluster.goAway(id, address, isCalm: isCalm)
            case (.fewStreams, .http2):
                cluster.strike(fault, .fewStreams)
                cluster.tell(address, id, .streamsChanged, after: cluster.random.milliseconds(0...10))
            default: break
            }
        }
    }

    mutating func end(_ kind: ConnectionFault) {
        forEachConnection { cluster, address, id, http in
            guard http == .http2 else { return }
            switch kind {
            case .fewStreams: cluster.tell(address, id, .streamsChanged, after: cluster.random.milliseconds(0...10))
            case .closedWindows where cluster.processes[address.process].connections[id]?.isBlocked == true:
                cluster.processes[address.process].connections[id]?.isBlocked = false
                cluster.tell(address, id, .unblocked, after: cluster.random.milliseconds(0...10))
            default: break
            }
        }
    }

    private mutating func goAway(_ id: ConnectionID, _ address: Address, isCalm: Bool) {
        guard let connection = processes[address.process].connections[id] else { return }
        finished.insert(connection.number)
        tell(
            address, id, .leaving(processed: connection.processed, isCalm: isCalm), after: random.milliseconds(0...10))
    }

    private mutating func forEachConnection(
        _ body: (inout SimulatedCluster, Address, ConnectionID, HTTPVersion) -> Void
    ) {
        for process in processes.indices where processes[process].engine != nil {
            let address = Address(process: process, run: processes[process].run)
            let connections = processes[process].connections.sorted { $0.key.index < $1.key.index }
            for (id, connection) in connections {
                if let http = connection.http { body(&self, address, id, http) }
            }
        }
    }
}
