internal import DequeModule
public import NIOCore
internal import NIOPosix
public import NIOSSL
public import NotificationHub

/// Sends requests to one hub over its own keep-alive connections; one request becomes one result.
///
/// Confined to one event loop: create, call and release it there. Nothing on the way of a request takes a lock, a task or
/// a promise. Connections are opened when a request needs one and none is free, the one used last is used first, and
/// one that closes is replaced when it is needed. The pool never tries a request twice and never waits before it
/// connects again: when to send is the caller's decision.
///
/// `close` must be called at the end. Every request has its result before `whenClosed` is called, and from then on the
/// pool calls nobody: it lets go of `onResult`, although sockets and alarms may keep the pool itself for a while.
public final class SenderPool {
    public let target: HubTarget
    public let limits: SenderLimits

    private let eventLoop: any EventLoop
    private let tls: NIOSSLContext?
    /// Does nothing once the pool is closed.
    private var onResult: (_ token: UInt64, _ result: SendResult) -> Void
    private var writer: RequestWriter
    private let connectTimeout: TimeAmount
    private let requestTimeout: TimeAmount
    let idleTimeout: TimeAmount

    /// All that hold a socket or are about to; never more than `limits.connections`.
    private var connections: [HubConnection] = []
    /// Those without a request; the last one was used last.
    private var idle: [HubConnection] = []
    private var waiting: Deque<Waiting> = []
    private var connecting = 0
    /// Results found while the caller is inside `send`.
    private var early: Deque<Waiting.Result> = []
    private var earlyAreComing = false
    private var sendDepth = 0
    /// When the next look for what is overdue is due.
    private var alarm: NIODeadline?
    private var phase = Phase.open

    private struct Waiting {
        typealias Result = (token: UInt64, result: SendResult)
        var request: SendRequest
        var token: UInt64
    }

    private enum Phase {
        case open
        /// Replies under way are awaited; nothing new is sent.
        case closing(deadline: NIODeadline, whenClosed: () -> Void)
        /// Nobody is called any more.
        case closed
    }

    /// - Parameters:
    ///   - eventLoop: where everything of this pool happens, from here on.
    ///   - tls: see `TrustRoots`; required for an `https` target, unused for `http`.
    ///   - onResult: gets each request's result, once, on the event loop; never from inside `send`. May call `send`.
    public init(
        eventLoop: any EventLoop, target: HubTarget, limits: SenderLimits, tls: NIOSSLContext?,
        userAgent: String = "newswire", onResult: @escaping (_ token: UInt64, _ result: SendResult) -> Void
    ) {
        precondition(limits.connections > 0, "a pool has at least one connection")
        precondition((target.endpoint.scheme == .https) == (tls != nil), "https needs a TLS context, http has none")
        self.eventLoop = eventLoop
        self.target = target
        self.limits = limits
        self.tls = tls
        self.onResult = onResult
        writer = RequestWriter(target: target, userAgent: userAgent)
        connectTimeout = TimeAmount(limits.connectTimeout)
        requestTimeout = TimeAmount(limits.requestTimeout)
        idleTimeout = TimeAmount(limits.idleTimeout)
    }

    /// The value of `Authorization` for the next requests; empty for none.
    public var authorization: String {
        get { writer.authorization }
        set { writer.authorization = newValue }
    }

    /// Connections that hold a socket or are being opened.
    public var openConnections: Int { connections.count }
    /// Requests written and not yet answered.
    public private(set) var inFlight = 0
    /// Requests that wait for a connection.
    public var waitingRequests: Int { waiting.count }

    // MARK: Sending

    /// Sends one request, at once when a connection is free.
    /// A pool that is closing answers `poolClosed`; one that has called `whenClosed` drops the request.
    /// - Parameter token: comes back with the result; the pool only carries it.
    public func send(_ request: SendRequest, token: UInt64) {
        eventLoop.assertInEventLoop()
        if case .closed = phase { return }
        sendDepth += 1
        defer { sendDepth -= 1 }
        let now = NIODeadline.now()
        if !isOpen {
            settle(token, .notSent(SendFailure(.poolClosed, "the pool is closed")), wasInFlight: false)
        } else if waiting.isEmpty, let connection = takeIdle(at: now) {
            write(request, token: token, on: connection, at: now)
        } else if waiting.count < limits.waitingMax {
            waiting.append(Waiting(request: request, token: token))
            openWhatIsNeeded()
        } else {
            let reason = "\(waiting.count) requests wait already"
            settle(token, .notSent(SendFailure(.queueFull, reason)), wasInFlight: false)
        }
    }

    /// Opens connections until there are `count`, within the limit, so that the first requests find them ready.
    public func warmUp(_ count: Int) {
        eventLoop.assertInEventLoop()
        guard isOpen else { return }
        while connections.count < min(count, limits.connections) { open() }
    }

    private func write(_ request: SendRequest, token: UInt64, on connection: HubConnection, at now: NIODeadline) {
        guard writer.write(request) else {
            idle.append(connection)
            let reason = "a header name or value cannot stand in an HTTP request, or the tag expression is empty"
            settle(token, .notSent(SendFailure(.invalidRequest, reason)), wasInFlight: false)
            return
        }
        let deadline = now + requestTimeout
        inFlight += 1
        arm(deadline)
        connection.send(writer.buffer, token: token, at: now, deadline: deadline)
    }

    /// Hands over a result, or keeps it until the caller has left `send`.
    func settle(_ token: UInt64, _ result: SendResult, wasInFlight: Bool = true) {
        if wasInFlight { inFlight -= 1 }
        guard sendDepth > 0 else {
            onResult(token, result)
            finishClosing()
            return
        }
        early.append((token, result))
        settleEarlyLater()
    }

    private func settleEarlyLater() {
        guard !earlyAreComing else { return }
        earlyAreComing = true
        eventLoop.assumeIsolated().execute { self.settleEarly() }
    }

    private func settleEarly() {
        earlyAreComing = false
        // Not those that a callback's own `send` adds: an owner that sends again and again must not hold the loop.
        for _ in 0..<early.count {
            guard let next = early.popFirst() else { break }
            onResult(next.token, next.result)
        }
        if !early.isEmpty { settleEarlyLater() }
        finishClosing()
    }

    // MARK: Connections

    private var isOpen: Bool { if case .open = phase { true } else { false } }

    var keepsConnections: Bool { isOpen }

    /// The connection used last that is still open at both ends.
    private func takeIdle(at now: NIODeadline) -> HubConnection? {
        while let connection = idle.popLast() {
            guard case .idle(let since) = connection.state else { continue }
            // A request on a connection that the server has closed ends as unknown, so the kernel is asked when there
            // was time for it; between requests in quick succession there is none, and asking costs a system call.
            if now - since < Self.trustedIdleTime || !connection.isEnded { return connection }
            connection.close(at: now)
        }
        return nil
    }

    private static let trustedIdleTime = TimeAmount.milliseconds(10)

    private func openWhatIsNeeded() {
        guard isOpen else { return }
        while connecting < waiting.count, connections.count < limits.connections { open() }
    }

    private func open() {
        let deadline = NIODeadline.now() + connectTimeout
        let connection = HubConnection(pool: self, deadline: deadline)
        connections.append(connection)
        connecting += 1
        arm(deadline)
        let tls = tls
        // The handlers are added when there is a connection: several addresses may be tried at a time.
        ClientBootstrap(group: eventLoop)
            .connectTimeout(connectTimeout)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.socketOption(.so_keepalive), value: 1)
            .connect(host: target.endpoint.host, port: target.endpoint.port)
            .assumeIsolated()
            .whenComplete { result in
                switch result {
                case .success(let channel): connection.connected(channel, tls: tls)
                case .failure(let error): connection.connectFailed(SendFailure(connecting: error))
                }
            }
    }

    func makeTLSHandler(_ tls: NIOSSLContext) throws -> NIOSSLClientHandler {
        let host = target.endpoint.host
        // An address is checked against the certificate's addresses; it is no name to announce. RFC 6066 §3.
        let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
        return try NIOSSLClientHandler(context: tls, serverHostname: isAddress ? nil : host)
    }

    func connectionReady(_ connection: HubConnection) {
        connecting -= 1
        becameIdle(connection)
    }

    /// A connection is free: it takes the request that waits longest.
    func becameIdle(_ connection: HubConnection) {
        idle.append(connection)
        arm(connection.deadline)
        serveWaiting()
    }

    private func serveWaiting() {
        while !waiting.isEmpty {
            let now = NIODeadline.now()
            guard let connection = takeIdle(at: now), let next = waiting.popFirst() else { break }
            write(next.request, token: next.token, on: connection, at: now)
        }
        openWhatIsNeeded()
    }

    func connectFailed(_ connection: HubConnection, _ failure: SendFailure) {
        connecting -= 1
        // One request for each connection that did not come; the others have one on the way or in use. It leaves the
        // queue before anything may open a connection for it once more, or a dead hub would be tried without end.
        let unserved = waiting.count > connecting ? waiting.popFirst() : nil
        if case .closed = connection.state { remove(connection) }
        if let unserved { settle(unserved.token, .notSent(failure), wasInFlight: false) }
        openWhatIsNeeded()
    }

    /// No request may go there any more.
    func retire(_ connection: HubConnection) {
        idle.removeAll { $0 === connection }
    }

    /// The channel is gone.
    func remove(_ connection: HubConnection) {
        guard let index = connections.firstIndex(where: { $0 === connection }) else { return }
        connections.swapAt(index, connections.count - 1)
        connections.removeLast()
        openWhatIsNeeded()
        finishClosing()
    }

    // MARK: Deadlines

    /// Makes sure that something wakes us by then. One alarm serves all connections: most requests are answered long
    /// before their deadline, and an alarm too many does no harm.
    private func arm(_ deadline: NIODeadline) {
        if let alarm, alarm <= deadline { return }
        alarm = deadline
        eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { [weak self] in self?.sweep() }
    }

    private func sweep() {
        let now = NIODeadline.now()
        if let alarm, alarm <= now { self.alarm = nil }
        var next: NIODeadline?
        if case .closing(let deadline, _) = phase {
            next = deadline
            // Copies, here and below, as results may change the list.
            if deadline <= now {
                for connection in connections { connection.fail(SendFailure(.poolClosed, "the pool was closed")) }
            }
        }
        for connection in connections where connection.deadline <= now { connection.expire(at: now) }
        for connection in connections where next.map({ connection.deadline < $0 }) ?? true {
            next = connection.deadline
        }
        if let next, !connections.isEmpty { arm(max(next, now + Self.sweepInterval)) }
    }

    /// The shortest time from one look to the next.
    private static let sweepInterval = TimeAmount.milliseconds(10)

    // MARK: Closing

    /// Closes idle connections now and the others when their reply has come, at the latest after `timeout`. Requests that
    /// wait are not sent any more.
    /// - Parameter whenClosed: called once, on the event loop, when no socket is left and every request has its result.
    public func close(within timeout: Duration = .zero, whenClosed: @escaping () -> Void = {}) {
        eventLoop.assertInEventLoop()
        guard isOpen else { return }
        let now = NIODeadline.now()
        let deadline = now + TimeAmount(timeout)
        phase = .closing(deadline: deadline, whenClosed: whenClosed)
        for connection in connections {
            if case .inFlight = connection.state { continue }
            connection.close(at: now)
        }
        idle = []
        while let next = waiting.popFirst() {
            settle(next.token, .notSent(SendFailure(.poolClosed, "the pool was closed")), wasInFlight: false)
        }
        arm(deadline)
        finishClosing()
    }

    private func finishClosing() {
        guard case .closing(_, let whenClosed) = phase, connections.isEmpty, inFlight == 0, waiting.isEmpty,
            early.isEmpty
        else { return }
        phase = .closed
        onResult = { _, _ in }
        whenClosed()
    }
}
