internal import DequeModule
package import NewsModel
package import NotificationHub

/// The fate of single requests on an HTTP/2 connection.
extension PoolState {
    /// The server has changed its limit of streams. Streams beyond it go on.
    package mutating func capacityChanged(_ connection: ConnectionID, to streams: Int, at now: Instant) {
        let serving = connections.update(connection) { $0.capacity = min(streams, SenderLimits.streamsMax) }
        if serving?.isUseless == true { arm(deadline(of: connection)) }
        serveWaiting(at: now)
    }

    /// The server's flow control has no room for the request, of which nothing was written. It waits, like all that follow
    /// on this connection, until `unblocked`.
    package mutating func blocked(_ slot: RequestSlot, on connection: ConnectionID, at now: Instant) {
        guard let pooled = requests.remove(slot, from: connection) else { return }
        wait(pooled)
        let serving = connections.update(connection) {
            ($0.inFlight, $0.isBlocked, $0.since) = ($0.inFlight - 1, true, now)
        }
        if serving?.inFlight == 0 { arm(deadline(of: connection)) }
        serveWaiting(at: now)
    }

    package mutating func unblocked(_ connection: ConnectionID, at now: Instant) {
        guard connections.serving(connection)?.isBlocked == true else { return }
        connections.update(connection) { $0.isBlocked = false }
        serveWaiting(at: now)
    }

    /// The server did not process the request, and says so.
    package mutating func refused(_ slot: RequestSlot, on connection: ConnectionID, at now: Instant) {
        takeBack([slot], from: connection)
        closeIfDone(connection, by: .close(connection), at: now)
        serveWaiting(at: now)
    }

    /// The stream of the request has ended without a reply.
    package mutating func ended(
        _ slot: RequestSlot, on connection: ConnectionID, _ failure: SendFailure, at now: Instant
    ) {
        guard let pooled = requests.remove(slot, from: connection) else { return }
        settle(pooled.id, .unknown(failure))
        free(connection, at: now)
    }

    /// The connection takes no more requests: the server is about to close it, or it has no more streams.
    ///
    /// - Parameters:
    ///   - slots: the requests that the server has not processed, in the order in which they were written.
    ///   - isCalm: the server asks for fewer requests. The next connection is opened a moment later.
    package mutating func leave(
        _ connection: ConnectionID, refused slots: [RequestSlot] = [], isCalm: Bool = false, at now: Instant
    ) {
        if isCalm { opensFrom = now.advanced(by: Self.calmPause) }
        guard connections[connection].isServing else {
            let reason = "the server ended the connection before it took a request"
            return fail(connection, SendFailure(.closedEarly, reason), at: now)
        }
        connections.update(connection) { $0.isLeaving = true }
        takeBack(slots, from: connection)
        closeIfDone(connection, by: .close(connection), at: now)
        serveWaiting(at: now)
    }

    /// Lets requests that were not processed wait again.
    mutating func takeBack(_ slots: [RequestSlot], from connection: ConnectionID) {
        for slot in slots {
            guard var pooled = requests.remove(slot, from: connection) else { continue }
            connections.update(connection) { $0.inFlight -= 1 }
            pooled.refusals += 1
            if pooled.refusals <= Self.refusalsMax, isOpen {
                wait(pooled)
            } else {
                settle(pooled.id, .notSent(SendFailure(.refused, "the server refused to process the request")))
            }
        }
    }

    mutating func closeIfDone(_ connection: ConnectionID, by action: Action, at now: Instant) {
        guard let serving = connections.serving(connection), serving.inFlight == 0, serving.isLeaving || !isOpen
        else { return }
        expectClosed(connection, after: action, at: now)
    }

    /// Bytes have come from the server.
    package mutating func heard(_ connection: ConnectionID, at now: Instant) {
        let wasPinged = connections.serving(connection)?.pingedAt != nil
        connections.update(connection) { ($0.heardAt, $0.pingedAt) = (now, nil) }
        if wasPinged { serveWaiting(at: now) }
    }

    /// Handles a request that needs HTTP/1.1. This connection takes no more requests, and new ones do not offer HTTP/2 for
    /// ten minutes.
    ///
    /// - Parameter slots: requests of which nothing was written.
    package mutating func fallBack(_ connection: ConnectionID, refused slots: [RequestSlot] = [], at now: Instant) {
        distrustHTTP2(at: now)
        leave(connection, refused: slots, at: now)
    }

    private mutating func distrustHTTP2(at now: Instant) {
        http2From = now.advanced(by: Self.http2Pause)
        expectedCapacity = 1
    }

    /// The server chose HTTP/2 and does not speak it. No request was written, so none fails.
    package mutating func breaksHTTP2(_ connection: ConnectionID, at now: Instant) {
        guard case .handshaking = connections[connection] else { return }
        distrustHTTP2(at: now)
        expectClosed(connection, after: .abort(connection), at: now)
        openConnectionsNeeded(at: now)
    }
}
