internal import DequeModule
package import NewsModel
internal import NotificationHub

/// Deadlines, and the end of the pool.
extension PoolState {
    /// Sets the alarm. One alarm serves all connections, because most requests are answered long before their deadline.
    mutating func arm(_ deadline: Instant) {
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
        // First, because a request that ends lets another one be written, which a connection must not take in its last
        // moment.
        for connection in connections.all { expire(connection, at: now) }
        for (slot, connection) in requests.expired(at: now) { expire(slot, on: connection, at: now) }
        expireWaiting(at: now)
        if let first = waiting.first {
            openConnectionsNeeded(at: now)
            if waitingTimeout < .max { next = min(next, first.since.advanced(by: waitingTimeout)) }
        }
        next = min(next, requests.nextDeadline)
        for connection in connections.all { next = min(next, deadline(of: connection)) }
        if connections.open > 0 || !waiting.isEmpty, next < .distantFuture {
            arm(max(next, now.advanced(by: Self.wakeInterval)))
        }
    }

    /// The shortest time between two calls of `wake`.
    static let wakeInterval: Int64 = 10_000_000

    /// The time at which the pool must act on the connection itself.
    func deadline(of connection: ConnectionID) -> Instant {
        switch connections[connection] {
        case .vacant, .opening: .distantFuture
        case .handshaking(let until, _), .closing(let until): until
        case .serving(let serving):
            if serving.inFlight == 0 {
                serving.since.advanced(
                    by: serving.isBlocked || serving.isUseless ? min(Self.blockedMax, idleTimeout) : idleTimeout)
            } else if serving.http == .http2 {
                (serving.pingedAt ?? serving.heardAt).advanced(by: Self.silenceMax)
            } else {
                .distantFuture
            }
        }
    }

    /// The time for which a connection without a request in flight stays blocked. Some servers grant room only once half of it is
    /// used. Without anything in flight that may never happen, and a new connection has all room. A server that allows no request
    /// may be starting, and may allow requests only on connections that are opened later.
    static let blockedMax: Int64 = 1_000_000_000

    mutating func expire(_ slot: RequestSlot, on connection: ConnectionID, at now: Instant) {
        let failure = SendFailure(.requestTimeout, "no complete reply in time")
        guard connections.serving(connection)?.http == .http2 else { return fail(connection, failure, at: now) }
        actions.append(.cancel(slot, connection))
        ended(slot, on: connection, failure, at: now)
    }

    mutating func expire(_ connection: ConnectionID, at now: Instant) {
        guard deadline(of: connection) <= now else { return }
        switch connections[connection] {
        case .vacant, .opening: break
        case .handshaking(_, isHTTP2: true): breaksHTTP2(connection, at: now)
        case .handshaking: fail(connection, SendFailure(.connectTimeout, "no TLS handshake in time"), at: now)
        case .serving(let serving):
            if serving.inFlight == 0 {
                expectClosed(connection, after: .close(connection), at: now)
                // As for a failed connection, one request fails that has waited for it. Its owner learns the reason.
                if serving.isUseless, let unserved = waiting.first, unserved.since <= serving.since {
                    waiting.removeFirst()
                    settle(unserved.id, .notSent(SendFailure(.connectTimeout, "the server allows no request")))
                }
            } else if serving.pingedAt == nil {
                connections.update(connection) { $0.pingedAt = now }
                actions.append(.ping(connection))
            } else {
                fail(connection, SendFailure(.requestTimeout, "the server answers no ping"), at: now)
            }
        case .closing:
            expectClosed(connection, after: .abort(connection), at: now)
        }
    }

    // MARK: Closing

    package var isOpen: Bool { if case .open = phase { true } else { false } }

    static let poolClosed = SendFailure(.poolClosed, "the pool was closed")

    /// Closes idle connections now, and the others after their reply or after `timeout`. Waiting requests are not sent.
    package mutating func close(within timeout: Duration, at now: Instant) {
        guard isOpen else { return }
        let until = now.advanced(by: Self.nanoseconds(timeout))
        phase = .closing(until: until)
        for connection in connections.all {
            switch connections[connection] {
            case .handshaking: expectClosed(connection, after: .close(connection), at: now)
            case .serving: closeIfDone(connection, by: .close(connection), at: now)
            // A connection that is being opened is closed once it has connected.
            case .vacant, .opening, .closing: break
            }
        }
        while let next = waiting.popFirst() { settle(next.id, .notSent(Self.poolClosed)) }
        arm(until)
        finishIfDone()
    }

    /// Ends all connections, because the time to close is over.
    mutating func giveUp(at now: Instant) {
        for connection in connections.all {
            let isOpening = if case .opening = connections[connection] { true } else { false }
            fail(connection, Self.poolClosed, at: now)
            // There is no socket yet, so its owner would not report the close.
            if isOpening { closed(connection, Self.poolClosed, at: now) }
        }
    }

    mutating func finishIfDone() {
        guard case .closing = phase, results.areHandedOver, connections.open == 0 else { return }
        phase = .closed
        actions.append(.finish)
    }
}
