internal import DequeModule
package import NewsModel
package import NotificationHub

/// The decisions of a sender pool: which connection takes a request, when connections open and close, and how a request
/// without a reply ends. Each event is a method with the time as an argument. It appends to `actions`, which
/// `SenderPool` carries out on sockets.
///
/// A connection opens when a request needs one and all are busy. The most recently used one is chosen first, and a
/// closed one is replaced only on demand. No request is tried twice.
package struct PoolState {
    package enum Action: Sendable {
        /// Connect. Answered by `connected` and `ready`, or by `closed`.
        case open(ConnectionID)
        /// Write the request. Answered by `replied`, or by `unwritable` or `endedBeforeWriting` if nothing was written.
        ///
        /// - checked: first ask the kernel if the server has ended the connection, which has been idle for a while.
        case write(SendRequest, ConnectionID, checked: Bool)
        /// Close with TLS close_notify. Answered by `closed`, as for every connection.
        case close(ConnectionID)
        /// Close without TLS close_notify.
        case abort(ConnectionID)
        /// Call `wake` at this time. Additional calls are harmless.
        case wake(at: Instant)
        /// Hand over the results in a later turn of the event loop: call `takeResults`, then `handedOver`.
        case handOver
        /// Report the end. No further actions follow.
        case finish
    }

    package private(set) var connections: PoolConnections
    package var actions = ReentrancyQueue<Action>()

    private var waiting: Deque<(id: RequestID, request: SendRequest, since: Instant)> = []
    private var results = PoolResults()
    private var phase = Phase.open
    /// The earliest pending `wake`.
    private var alarm: Instant?
    private let waitingMax: Int
    private let waitingTimeout: Int64
    // Timeouts are in nanoseconds, because adding a `Duration` divides 128 bits, and every request adds one.
    private let connectTimeout: Int64
    private let requestTimeout: Int64
    private let idleTimeout: Int64

    private enum Phase {
        /// Accepting requests. Followed by `closing`.
        case open
        /// Waiting for the replies in flight; nothing new is sent. Followed by `closed`.
        case closing(until: Instant)
        case closed
    }

    package init(_ limits: SenderLimits) {
        connections = PoolConnections(most: limits.connections)
        waitingMax = limits.waitingMax
        waitingTimeout = limits.waitingTimeout.map(Self.nanoseconds) ?? .max
        connectTimeout = Self.nanoseconds(limits.connectTimeout)
        requestTimeout = Self.nanoseconds(limits.requestTimeout)
        idleTimeout = Self.nanoseconds(limits.idleTimeout)
    }

    // MARK: Requests

    /// - Parameter id: returned with the result.
    package mutating func send(_ request: SendRequest, id: RequestID, at now: Instant) {
        switch phase {
        case .closed: return
        case .closing: settle(id, .notSent(SendFailure(.poolClosed, "the pool is closed")))
        case .open:
            if waiting.isEmpty, let connection = connections.lastUsed {
                write(request, id, on: connection, at: now)
            } else if waiting.count < waitingMax {
                waiting.append((id, request, now))
                openConnectionsNeeded(at: now)
            } else {
                settle(id, .notSent(SendFailure(.queueFull, "\(waiting.count) requests wait already")))
            }
        }
    }

    private mutating func write(_ request: SendRequest, _ id: RequestID, on connection: ConnectionID, at now: Instant) {
        guard case .idle(let since, _) = connections[connection] else { return }
        let until = now.advanced(by: requestTimeout)
        connections.change(connection, to: .inFlight(request: id, until: until))
        arm(until)
        // A request on a connection that the server has closed ends as unknown. The kernel is therefore asked first,
        // but only after an idle time: asking costs a system call, and quick requests leave little time for a close.
        let isRested = now.nanoseconds - since.nanoseconds >= Self.trustedIdleTime
        actions.append(.write(request, connection, checked: isRested))
    }

    private static let trustedIdleTime: Int64 = 10_000_000

    /// A complete reply has arrived.
    package mutating func replied(
        _ connection: ConnectionID, _ reply: consuming HubReply, keepsAlive: Bool, at now: Instant
    ) {
        guard case .inFlight(let request, _) = connections[connection] else { return }
        settle(request, .replied(consume reply))
        if keepsAlive, isOpen {
            becomeIdle(connection, at: now)
        } else {
            expectClosed(connection, after: .abort(connection), at: now)
        }
    }

    /// The request cannot be written as HTTP. Nothing was written.
    package mutating func unwritable(_ connection: ConnectionID, at now: Instant) {
        guard case .inFlight(let request, _) = connections[connection] else { return }
        let reason = "a header name or value cannot stand in an HTTP request, or the tag expression is empty"
        settle(request, .notSent(SendFailure(.invalidRequest, reason)))
        becomeIdle(connection, at: now)
    }

    /// The server closed the connection before the request was written. Another connection takes the request.
    package mutating func endedBeforeWriting(_ request: SendRequest, on connection: ConnectionID, at now: Instant) {
        guard case .inFlight(let id, _) = connections[connection] else { return }
        waiting.prepend((id, request, now))
        expectClosed(connection, after: .close(connection), at: now)
        serveWaiting(at: now)
    }

    private mutating func serveWaiting(at now: Instant) {
        while let next = waiting.first, now.nanoseconds - next.since.nanoseconds >= waitingTimeout {
            waiting.removeFirst()
            settle(next.id, .notSent(SendFailure(.waitedTooLong, "no connection was ready in time")))
        }
        while !waiting.isEmpty, let connection = connections.lastUsed, let next = waiting.popFirst() {
            write(next.request, next.id, on: connection, at: now)
        }
        openConnectionsNeeded(at: now)
    }

    // MARK: Results

    private mutating func settle(_ id: RequestID, _ result: consuming SendResult) {
        if results.add(SettledRequest(id: id, result: consume result)) { actions.append(.handOver) }
    }

    package mutating func takeResults() -> [SettledRequest] { results.take() }

    /// The owner has received the results. Newer ones follow in another turn of the loop, so that an owner that sends
    /// after each result does not block it.
    package mutating func handedOver() {
        if results.finishHandOver() { actions.append(.handOver) } else { finishIfDone() }
    }

    // MARK: Connections

    package func awaitsReply(_ connection: ConnectionID) -> Bool {
        if case .inFlight = connections[connection] { true } else { false }
    }

    /// The TCP connection exists.
    package mutating func connected(_ connection: ConnectionID, at now: Instant) {
        guard case .opening(let until) = connections[connection] else { return }
        guard isOpen else { return fail(connection, Self.poolClosed, at: now) }
        connections.change(connection, to: .handshaking(until: until))
        arm(until)
    }

    /// The connection can carry requests.
    package mutating func ready(_ connection: ConnectionID, at now: Instant) {
        guard case .handshaking = connections[connection] else { return }
        becomeIdle(connection, at: now)
    }

    /// Aborts a connection after an error that makes it unusable.
    package mutating func fail(_ connection: ConnectionID, _ failure: SendFailure, at now: Instant) {
        end(connection, failure, .abort(connection), at: now)
    }

    /// The socket has closed or was never opened.
    ///
    /// - Parameter failure: the reason, used unless an earlier one was reported.
    package mutating func closed(_ connection: ConnectionID, _ failure: SendFailure, at now: Instant) {
        end(connection, failure, nil, at: now)
        connections.change(connection, to: .vacant)
        openConnectionsNeeded(at: now)
        finishIfDone()
    }

    /// Ends a connection's request, if it has one. Has no effect on a connection that is already closing.
    private mutating func end(_ connection: ConnectionID, _ failure: SendFailure, _ action: Action?, at now: Instant) {
        switch connections[connection] {
        case .vacant, .closing: return
        case .idle: expectClosed(connection, after: action, at: now)
        case .inFlight(let request, _):
            expectClosed(connection, after: action, at: now)
            settle(request, .unknown(failure))
        case .opening, .handshaking:
            expectClosed(connection, after: action, at: now)
            // One waiting request fails for each failed connection, unless connections in progress suffice for all. It
            // leaves the queue before another connection opens, or a dead hub would be tried without end.
            if waiting.count > connections.connecting, let unserved = waiting.popFirst() {
                settle(unserved.id, .notSent(failure))
            }
            openConnectionsNeeded(at: now)
        }
    }

    private mutating func becomeIdle(_ connection: ConnectionID, at now: Instant) {
        let until = now.advanced(by: idleTimeout)
        connections.change(connection, to: .idle(since: now, until: until))
        arm(until)
        serveWaiting(at: now)
    }

    private mutating func expectClosed(_ connection: ConnectionID, after action: Action?, at now: Instant) {
        connections.change(connection, to: .closing(until: now.advanced(by: Self.closeTimeout)))
        if let action { actions.append(action) }
    }

    private static let closeTimeout: Int64 = 2_000_000_000

    private mutating func openConnectionsNeeded(at now: Instant) {
        guard isOpen else { return }
        while connections.connecting < waiting.count, let place = connections.vacantPlace {
            connections.change(place, to: .opening(until: now.advanced(by: connectTimeout)))
            actions.append(.open(place))
        }
    }

    /// Closes the idle connections beyond the given number, the least recently used ones first.
    package mutating func keep(connections count: Int, at now: Instant) {
        var surplus = connections.open - max(count, 1)
        while surplus > 0, let idle = connections.longestIdle {
            expectClosed(idle, after: .close(idle), at: now)
            surplus -= 1
        }
    }

    // MARK: Time

    /// Sets the alarm. One alarm serves all connections, because most requests are answered long before their deadline.
    private mutating func arm(_ deadline: Instant) {
        if let alarm, alarm <= deadline { return }
        alarm = deadline
        actions.append(.wake(at: deadline))
    }

    package mutating func wake(at now: Instant) {
        if let alarm, alarm <= now { self.alarm = nil }
        var next = Instant.distantFuture
        if case .closing(let until) = phase {
            if until <= now { giveUp(at: now) } else { next = until }
        }
        for connection in connections.all { expire(connection, at: now) }
        next = min(next, connections.nextDeadline)
        if connections.open > 0, next < .distantFuture { arm(max(next, now.advanced(by: Self.wakeInterval))) }
    }

    /// The shortest time between two calls of `wake`.
    private static let wakeInterval: Int64 = 10_000_000

    private mutating func expire(_ connection: ConnectionID, at now: Instant) {
        let state = connections[connection]
        guard state.deadline <= now else { return }
        switch state {
        case .vacant, .opening: break
        case .handshaking: fail(connection, SendFailure(.connectTimeout, "no TLS handshake in time"), at: now)
        case .idle: expectClosed(connection, after: .close(connection), at: now)
        case .inFlight: fail(connection, SendFailure(.requestTimeout, "no complete reply in time"), at: now)
        case .closing:
            expectClosed(connection, after: .abort(connection), at: now)
        }
    }

    // MARK: Closing

    var isOpen: Bool { if case .open = phase { true } else { false } }

    private static let poolClosed = SendFailure(.poolClosed, "the pool was closed")

    /// Closes idle connections now, and the others after their reply or after `timeout`. Waiting requests are not sent.
    package mutating func close(within timeout: Duration, at now: Instant) {
        guard isOpen else { return }
        let until = now.advanced(by: Self.nanoseconds(timeout))
        phase = .closing(until: until)
        for connection in connections.all {
            switch connections[connection] {
            case .idle, .handshaking: expectClosed(connection, after: .close(connection), at: now)
            // A connection that is being opened is closed once it has connected.
            case .vacant, .opening, .inFlight, .closing: break
            }
        }
        while let next = waiting.popFirst() { settle(next.id, .notSent(Self.poolClosed)) }
        arm(until)
        finishIfDone()
    }

    /// Ends all connections, because the time to close is over.
    private mutating func giveUp(at now: Instant) {
        for connection in connections.all {
            let isOpening = if case .opening = connections[connection] { true } else { false }
            fail(connection, Self.poolClosed, at: now)
            // There is no socket yet, so its owner would not report the close.
            if isOpening { closed(connection, Self.poolClosed, at: now) }
        }
    }

    private mutating func finishIfDone() {
        guard case .closing = phase, results.areHandedOver, connections.open == 0 else { return }
        phase = .closed
        actions.append(.finish)
    }

    /// The duration in nanoseconds, limited to 0 through one year so that adding it to a time never overflows.
    private static func nanoseconds(_ duration: Duration) -> Int64 {
        max(.zero, min(duration, .seconds(365 * 86_400))).nanoseconds
    }
}

extension Instant {
    fileprivate func advanced(by nanoseconds: Int64) -> Instant {
        Instant(nanoseconds: self.nanoseconds + nanoseconds)
    }
}
