internal import DequeModule
package import NewsModel
package import NotificationHub

/// The decisions of a sender pool: which connection takes a request, when connections open and close, and how a request
/// without a reply ends. Each event is a method with the time as an argument. It appends to `actions`, which
/// HubIO's `SenderPool` carries out on sockets, and the simulation on a network of its own.
///
/// A connection opens when a request needs one and all are busy. The most recently used one is chosen first, and a
/// closed one is replaced only on demand. Over HTTP/1.1 a connection carries one request at a time, over HTTP/2 as many
/// as the server allows; the pool's limit counts requests, however many connections carry them. A request is written
/// again only if the server says that it did not process it.
package struct PoolState {
    package enum Action: Sendable {
        /// Connect. Answered by `connected` and `ready`, or by `closed`.
        ///
        /// - offersHTTP2: let the server choose HTTP/2.
        case open(ConnectionID, offersHTTP2: Bool)
        /// Write the request of the slot. Answered by `replied`, or by `unwritable`, `blocked` or `endedBeforeWriting`
        /// if nothing was written.
        ///
        /// - checked: first ask the kernel if the server has ended the connection, which has been idle for a while.
        case write(RequestSlot, ConnectionID, checked: Bool)
        /// End the stream of a request that has waited too long. Its reply no longer counts.
        case cancel(RequestSlot, ConnectionID)
        /// Ask a silent server whether it is still there. Any bytes from it are an answer: see `heard`.
        case ping(ConnectionID)
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

    package internal(set) var connections: PoolConnections
    package var actions = ReentrancyQueue<Action>()

    var requests: RequestsInFlight
    /// The oldest is first.
    var waiting: Deque<PooledRequest> = []
    var sent: UInt64 = 0
    var results = PoolResults()
    var phase = Phase.open
    /// The earliest pending `wake`.
    var alarm: Instant?
    let waitingMax: Int
    let waitingTimeout: Int64
    // Timeouts are in nanoseconds, because adding a `Duration` divides 128 bits, and every request adds one.
    let connectTimeout: Int64
    let requestTimeout: Int64
    let idleTimeout: Int64

    // MARK: What is known of the server

    let offersHTTP2: Bool
    /// The requests that the next connection is expected to carry at once.
    var expectedCapacity: Int
    /// HTTP/2 is not offered before this time, because the server offered it and then broke it.
    var http2From = Instant(nanoseconds: 0)
    /// No connection is opened before this time, because the server asked for calm.
    var opensFrom = Instant(nanoseconds: 0)

    static let http2Pause: Int64 = 600_000_000_000
    static let calmPause: Int64 = 1_000_000_000
    /// The number of times that a request may be refused before it is returned unsent.
    static let refusalsMax = 3
    /// A server that has said nothing for this long while requests wait is pinged, and given up as long after that.
    static let silenceMax: Int64 = 5_000_000_000

    enum Phase {
        /// Accepting requests. Followed by `closing`.
        case open
        /// Waiting for the replies in flight; nothing new is sent. Followed by `closed`.
        case closing(until: Instant)
        case closed
    }

    package init(_ limits: SenderLimits, offersHTTP2: Bool = false) {
        connections = PoolConnections(most: limits.connections)
        requests = RequestsInFlight(most: limits.connections)
        waitingMax = limits.waitingMax
        waitingTimeout = limits.waitingTimeout.map(Self.nanoseconds) ?? .max
        connectTimeout = Self.nanoseconds(limits.connectTimeout)
        requestTimeout = Self.nanoseconds(limits.requestTimeout)
        idleTimeout = Self.nanoseconds(limits.idleTimeout)
        self.offersHTTP2 = offersHTTP2
        expectedCapacity = offersHTTP2 ? SenderLimits.streamsMax : 1
    }

    // MARK: Requests

    /// The request that is to be written; `nil` if it has ended meanwhile.
    package func request(in slot: RequestSlot, on connection: ConnectionID) -> PooledRequest? {
        requests.request(in: slot, on: connection)
    }

    /// - Parameter id: returned with the result.
    package mutating func send(_ request: HubCall, id: RequestID, at now: Instant) {
        switch phase {
        case .closed: return
        case .closing: settle(id, .notSent(SendFailure(.poolClosed, "the pool is closed")))
        case .open:
            sent += 1
            let pooled = PooledRequest(id: id, request: request, number: sent, since: now)
            if waiting.isEmpty, requests.hasRoom, let connection = connections.lastFree {
                write(pooled, on: connection, at: now)
            } else if waiting.count < waitingMax {
                waiting.append(pooled)
                armWaiting()
                openConnectionsNeeded(at: now)
            } else {
                settle(id, .notSent(SendFailure(.queueFull, "\(waiting.count) requests wait already")))
            }
        }
    }

    mutating func write(_ pooled: consuming PooledRequest, on connection: ConnectionID, at now: Instant) {
        let until = now.advanced(by: requestTimeout)
        guard let serving = connections.serving(connection),
            let slot = requests.add(pooled, on: connection, until: until)
        else { return }
        connections.update(connection) { $0.inFlight += 1 }
        arm(serving.http == .http2 ? min(until, now.advanced(by: Self.silenceMax)) : until)
        // A request on a connection that the server has closed ends as unknown. The kernel is therefore asked first,
        // but only after an idle time: asking costs a system call, and quick requests leave little time for a close.
        let isRested = serving.inFlight == 0 && now.nanoseconds - serving.since.nanoseconds >= Self.trustedIdleTime
        actions.append(.write(slot, connection, checked: isRested))
    }

    static let trustedIdleTime: Int64 = 10_000_000

    /// A complete reply has arrived.
    ///
    /// - Parameter keepsAlive: false if the connection cannot carry another request.
    package mutating func replied(
        _ slot: RequestSlot, on connection: ConnectionID, _ reply: consuming HubReply, keepsAlive: Bool, at now: Instant
    ) {
        // 421: the server does not answer for this host on this connection, and has not processed the request.
        if reply.status == 421, connections.serving(connection)?.http == .http2 {
            return leave(connection, refused: [slot], at: now)
        }
        guard let pooled = requests.remove(slot, from: connection) else { return }
        // The detail of an error says enough about a send.
        if case .send = pooled.request { reply.body = [] }
        settle(pooled.id, .replied(consume reply))
        if keepsAlive, isOpen {
            free(connection, at: now)
        } else {
            connections.update(connection) { ($0.inFlight, $0.isLeaving) = ($0.inFlight - 1, true) }
            closeIfDone(connection, by: .abort(connection), at: now)
        }
    }

    /// The request cannot be written as HTTP. Nothing was written.
    package mutating func unwritable(_ slot: RequestSlot, on connection: ConnectionID, at now: Instant) {
        guard let pooled = requests.remove(slot, from: connection) else { return }
        let reason = "a header name or value cannot stand in an HTTP request, or the tag expression is empty"
        settle(pooled.id, .notSent(SendFailure(.invalidRequest, reason)))
        free(connection, at: now)
    }

    /// The server closed an idle connection before the first request of a group was written. Other connections take the group, of
    /// which nothing was written.
    package mutating func endedBeforeWriting(on connection: ConnectionID, at now: Instant) {
        for pooled in requests.removeAll(from: connection) { wait(pooled) }
        expectClosed(connection, after: .close(connection), at: now)
        serveWaiting(at: now)
    }

    /// A connection has one request less.
    mutating func free(_ connection: ConnectionID, at now: Instant) {
        let serving = connections.update(connection) { ($0.inFlight, $0.since) = ($0.inFlight - 1, now) }
        if serving?.inFlight == 0 { arm(deadline(of: connection)) }
        closeIfDone(connection, by: .close(connection), at: now)
        serveWaiting(at: now)
    }

    /// Puts a request back among those that wait, which are ordered by age.
    mutating func wait(_ pooled: PooledRequest) {
        waiting.insert(pooled, at: waiting.firstIndex { $0.number > pooled.number } ?? waiting.endIndex)
        armWaiting()
    }

    private mutating func armWaiting() {
        if waitingTimeout < .max, let first = waiting.first { arm(first.since.advanced(by: waitingTimeout)) }
    }

    mutating func expireWaiting(at now: Instant) {
        while let next = waiting.first, now.nanoseconds - next.since.nanoseconds >= waitingTimeout {
            waiting.removeFirst()
            settle(next.id, .notSent(SendFailure(.waitedTooLong, "no connection was ready in time")))
        }
    }

    mutating func serveWaiting(at now: Instant) {
        expireWaiting(at: now)
        while requests.hasRoom, let connection = connections.lastFree, let next = waiting.popFirst() {
            write(next, on: connection, at: now)
        }
        openConnectionsNeeded(at: now)
    }

    // MARK: Results

    mutating func settle(_ id: RequestID, _ result: consuming SendResult) {
        if results.add(SettledRequest(id: id, result: consume result)) { actions.append(.handOver) }
    }

    package mutating func takeResults() -> [SettledRequest] { results.take() }

    /// The owner has received the results. Newer ones follow in another turn of the loop, so that an owner that sends
    /// after each result does not block it.
    package mutating func handedOver() {
        if results.finishHandOver() { actions.append(.handOver) } else { finishIfDone() }
    }

    /// The duration in nanoseconds, limited to 0 through one year so that adding it to a time never overflows.
    static func nanoseconds(_ duration: Duration) -> Int64 {
        max(.zero, min(duration, .seconds(365 * 86_400))).nanoseconds
    }
}

extension Instant {
    func advanced(by nanoseconds: Int64) -> Instant {
        Instant(nanoseconds: self.nanoseconds + nanoseconds)
    }
}
