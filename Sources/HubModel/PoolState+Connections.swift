internal import DequeModule
package import NewsModel
package import NotificationHub

/// Opens connections on demand, and ends them.
extension PoolState {
    package func awaitsReply(_ connection: ConnectionID) -> Bool {
        connections.serving(connection).map { $0.inFlight > 0 } ?? false
    }

    /// The TCP connection exists.
    package mutating func connected(_ connection: ConnectionID, at now: Instant) {
        guard case .opening(let until) = connections[connection] else { return }
        guard isOpen else { return fail(connection, Self.poolClosed, at: now) }
        connections.change(connection, to: .handshaking(until: until))
        arm(until)
    }

    /// The server has chosen HTTP/2 in the TLS handshake. `ready` follows with its settings.
    package mutating func choseHTTP2(_ connection: ConnectionID) {
        guard case .handshaking(let until, _) = connections[connection] else { return }
        connections.change(connection, to: .handshaking(until: until, isHTTP2: true))
    }

    /// The connection can carry requests.
    ///
    /// - Parameter streams: the server's limit over HTTP/2.
    package mutating func ready(
        _ connection: ConnectionID, _ http: HTTPVersion = .http1, streams: Int = 1, at now: Instant
    ) {
        guard case .handshaking = connections[connection] else { return }
        let capacity = http == .http1 ? 1 : min(streams, SenderLimits.streamsMax)
        // A server that allows nothing is asked again over one connection, however many requests wait.
        expectedCapacity = capacity < 1 ? SenderLimits.streamsMax : capacity
        connections.change(connection, to: .serving(ServingConnection(http, capacity: capacity, at: now)))
        arm(deadline(of: connection))
        serveWaiting(at: now)
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

    /// Ends a connection's requests, if it has any. Has no effect on a connection that is already closing.
    mutating func end(_ connection: ConnectionID, _ failure: SendFailure, _ action: Action?, at now: Instant) {
        switch connections[connection] {
        case .vacant, .closing: return
        case .serving:
            expectClosed(connection, after: action, at: now)
            for pooled in requests.removeAll(from: connection) { settle(pooled.id, .unknown(failure)) }
        case .opening, .handshaking:
            expectClosed(connection, after: action, at: now)
            // One waiting request fails for each failed connection, unless connections in progress suffice for all. It
            // leaves the queue before another connection opens, or a dead hub would be tried without end.
            if waiting.count > connections.connecting * expectedCapacity, let unserved = waiting.popFirst() {
                settle(unserved.id, .notSent(failure))
            }
            openConnectionsNeeded(at: now)
        }
    }

    mutating func expectClosed(_ connection: ConnectionID, after action: Action?, at now: Instant) {
        connections.change(connection, to: .closing(until: now.advanced(by: Self.closeTimeout)))
        if let action { actions.append(action) }
    }

    static let closeTimeout: Int64 = 2_000_000_000

    mutating func openConnectionsNeeded(at now: Instant) {
        // A server that allows no request, or has no room in its flow control, asks for no more connections.
        let wanted = min(waiting.count, requests.room)
        guard isOpen, wanted > 0, !connections.hasBlocked else { return }
        if now < opensFrom { return arm(opensFrom) }
        while connections.connecting * expectedCapacity < wanted, let place = connections.vacantPlace {
            connections.change(place, to: .opening(until: now.advanced(by: connectTimeout)))
            actions.append(.open(place, offersHTTP2: offersHTTP2 && now >= http2From))
        }
    }

    /// Closes the idle connections beyond the given number, the least recently used ones first.
    package mutating func keep(connections count: Int, at now: Instant) {
        var surplus = connections.useful - max(count, 1)
        while surplus > 0, let idle = connections.longestIdle {
            expectClosed(idle, after: .close(idle), at: now)
            surplus -= 1
        }
    }
}
