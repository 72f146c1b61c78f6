import HubModel
import NewsModel
import NotificationHub

/// Records a pool's actions without sockets, and reports actions that the connection's state forbids.
struct PoolShell {
    var state: PoolState
    private(set) var now = Instant(nanoseconds: 0)
    /// One line for each result: its request and its outcome.
    private(set) var results: [String] = []
    private(set) var wakes: [Instant] = []
    private(set) var isFinished = false
    /// The number of requests that the owner sends while it receives results, for tests of reentrancy.
    var sendsAgain = 0

    /// The slots of the requests written on each connection, by the requests' numbers.
    private var written: [Int: [UInt8: RequestSlot]] = [:]

    init(connections: Int = 2, waiting: Int = 4, waitingTimeout: Duration? = nil, offersHTTP2: Bool = false) {
        var limits = SenderLimits(connections: connections)
        limits.waitingMax = waiting
        limits.waitingTimeout = waitingTimeout
        limits.connectTimeout = .seconds(10)
        limits.requestTimeout = .seconds(30)
        limits.idleTimeout = .seconds(60)
        state = PoolState(limits, offersHTTP2: offersHTTP2)
    }

    /// Passes an event to the pool.
    ///
    /// - Returns: the resulting actions except alarms and results, which are recorded.
    @discardableResult
    mutating func tell(_ event: (inout PoolState, Instant) -> Void) -> [String] {
        event(&state, now)
        return carryOut()
    }

    @discardableResult
    mutating func send(_ number: UInt8) -> [String] { send([number]) }

    /// Sends requests in one turn.
    @discardableResult
    mutating func send(_ numbers: [UInt8]) -> [String] {
        tell { state, now in
            for number in numbers {
                let request = SendRequest(format: .template, tags: "World", body: [number])
                state.send(.send(request), id: RequestID(rawValue: UInt64(number)), at: now)
            }
        }
    }

    @discardableResult
    mutating func open(_ place: Int, _ http: HTTPVersion = .http1, streams: Int = 1) -> [String] {
        tell {
            $0.connected(ConnectionID(place), at: $1)
            $0.ready(ConnectionID(place), http, streams: streams, at: $1)
        }
    }

    @discardableResult
    mutating func reply(_ place: Int, keepsAlive: Bool = true) -> [String] {
        guard let number = inFlight(place).first else { return [] }
        return answer(number, on: place) {
            $0.replied($1, on: $2, HubReply(status: 201), keepsAlive: keepsAlive, at: $3)
        }
    }

    /// The numbers of the requests that were written on the connection and have not ended, in order.
    func inFlight(_ place: Int) -> [UInt8] {
        (written[place] ?? [:]).filter {
            state.request(in: $0.value, on: ConnectionID(place))?.request.body == [$0.key]
        }.keys
            .sorted()
    }

    /// Passes an event that concerns one request.
    @discardableResult
    mutating func answer(
        _ number: UInt8, on place: Int, _ event: (inout PoolState, RequestSlot, ConnectionID, Instant) -> Void
    ) -> [String] {
        guard let slot = written[place]?.removeValue(forKey: number) else { return ["no such request"] }
        return tell { event(&$0, slot, ConnectionID(place), $1) }
    }

    @discardableResult
    mutating func closed(_ place: Int, _ kind: SendFailure.Kind = .closedEarly) -> [String] {
        tell { $0.closed(ConnectionID(place), SendFailure(kind, ""), at: $1) }
    }

    /// Advances the time, then wakes the pool.
    @discardableResult
    mutating func wait(_ duration: Duration) -> [String] {
        now = now + duration
        return tell { $0.wake(at: $1) }
    }

    subscript(place: Int) -> ConnectionState { state.connections[ConnectionID(place)] }

    private mutating func carryOut() -> [String] {
        guard state.actions.startDraining() else { return ["nested actions"] }
        var lines: [String] = []
        var handsOver = false
        while let action = state.actions.next() {
            if isFinished { lines.append("an action after the end") }
            switch action {
            case .open(let id, let offersHTTP2): lines.append("open \(id.index)\(offersHTTP2 ? ", h2" : "")")
            case .write(let slot, let id, let checked):
                let number = state.request(in: slot, on: id)?.request.body.first
                if number == nil { lines.append("a write without a request") }
                if let number { written[id.index, default: [:]][number] = slot }
                lines.append("\(checked ? "check, " : "")write \(number ?? 0) on \(id.index)")
            case .cancel(let slot, let id):
                let number = written[id.index]?.first { $0.value == slot }?.key
                lines.append("cancel \(number ?? 0) on \(id.index)")
            case .ping(let id): lines.append("ping \(id.index)")
            case .close(let id): lines.append("close \(id.index)")
            case .abort(let id): lines.append("abort \(id.index)")
            case .wake(let at): wakes.append(at)
            case .handOver: handsOver = true
            case .finish:
                isFinished = true
                lines.append("finish")
            }
        }
        if handsOver { lines += handOver() }
        return lines
    }

    private mutating func handOver() -> [String] {
        for settled in state.takeResults() {
            switch settled.result {
            case .replied(let reply): results.append("\(settled.id.rawValue) \(reply.status)")
            case .notSent(let failure): results.append("\(settled.id.rawValue) not sent: \(failure.kind)")
            case .unknown(let failure): results.append("\(settled.id.rawValue) unknown: \(failure.kind)")
            }
        }
        var lines: [String] = []
        while sendsAgain > 0 {
            sendsAgain -= 1
            lines += send(99)
        }
        return lines + tell { state, _ in state.handedOver() }
    }
}
