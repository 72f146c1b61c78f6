internal import ByteText
public import HubModel
public import NIOCore
internal import NIOPosix
internal import NIOSSL
public import NewsModel
public import NotificationHub
internal import ServerIdentity

/// Sends requests to one hub over its own keep-alive connections. Each request produces one result. `PoolState` makes
/// the decisions.
///
/// Confined to one event loop: create, call and release it there. Sending a request takes no lock, task or promise. The
/// pool never retries a request and never delays a new connection, because the caller decides when to send.
///
/// `close` must be called at the end. Every request has its result before `whenClosed` is called. After that the pool
/// makes no calls and releases `onResults`, although sockets and alarms may keep the pool itself alive for a while.
public final class SenderPool {
    private let eventLoop: any EventLoop
    private let target: SendTarget
    private let limits: SenderLimits
    private var tls: HubTLS?
    private let userAgent: String
    private var state: PoolState
    /// Writes requests for HTTP/1.1. Each HTTP/2 connection has a writer of its own.
    private var writer: RequestWriter
    /// The connections, indexed by their ids.
    private var connections: [HubConnection?]
    /// Requests in the writer's buffer, in order, with their connections.
    private var written: [(connection: HubConnection, range: Range<Int>)] = []
    /// HTTP/2 connections with frames that are not sent.
    private var unsent: [HubConnection] = []
    /// Replaced by an empty closure once the pool is closed, like `whenClosed`.
    private var onResults: (consuming [SettledRequest]) -> Void
    private var whenClosed: () -> Void = {}
    private var lastDate = SIMD32<UInt8>()

    /// - Parameters:
    ///   - eventLoop: runs all work of this pool.
    ///   - tls: see `TrustRoots`; required for an `https` target, unused for `http`.
    ///   - onResults: receives each request's result once, on the event loop, and never within `send`. It receives all
    ///     results since the loop's last poll of its sockets together, and may call `send`.
    public init(
        eventLoop: any EventLoop, target: SendTarget, limits: SenderLimits, tls: HubTLS?,
        userAgent: String = "newswire", onResults: @escaping (consuming [SettledRequest]) -> Void
    ) {
        precondition((target.endpoint.scheme == .https) == (tls != nil), "a TLS context belongs to https alone")
        self.eventLoop = eventLoop
        self.target = target
        self.limits = limits
        self.tls = tls
        self.userAgent = userAgent
        self.onResults = onResults
        state = PoolState(limits, offersHTTP2: tls?.http2 != nil)
        writer = RequestWriter(target: target, userAgent: userAgent)
        connections = Array(repeating: nil, count: limits.connections)
    }

    /// The value of `Authorization` for the next requests; empty to omit it.
    public var authorization: String {
        get { writer.authorization }
        set { writer.authorization = newValue }
    }

    /// Connections that hold a socket or are being opened.
    public var openConnections: Int { state.connections.open }

    /// The version of HTTP that the hub chose last; `nil` before the first connection was ready.
    public private(set) var http: HTTPVersion?

    /// The open streams of HTTP/2 connections.
    public var openStreams: Int { state.connections.openStreams }

    /// The hub's time, from the latest reply with a `Date`.
    public var hubDate: Instant? { Instant(httpDate: lastDate) }

    func note(date: SIMD32<UInt8>) {
        if date[0] != 0 { lastDate = date }
    }

    /// Sends requests, each at once if a connection is free. All are written before the first one is sent, because the
    /// system call evicts the code that writes requests from the processor's cache. A closing pool answers
    /// `poolClosed`. A pool that has called `whenClosed` drops the requests.
    public func send(_ requests: consuming [PoolRequest]) {
        eventLoop.assertInEventLoop()
        var requests = requests
        // Requests are removed from the end, because copying each would count its references.
        requests.reverse()
        update { state, now in
            while let next = requests.popLast() { state.send(next.request, id: next.id, at: now) }
        }
    }

    /// Replaces the TLS contexts for the next connections. Open connections keep theirs.
    public func renew(_ tls: HubTLS?) {
        eventLoop.assertInEventLoop()
        self.tls = tls
    }

    /// Limits the connections from now on by closing idle ones. Connections in use are not closed; the caller must send
    /// no more than the limit allows.
    public func keep(connections count: Int) {
        eventLoop.assertInEventLoop()
        update { $0.keep(connections: count, at: $1) }
    }

    /// Closes idle connections now, and the others after their reply or after `timeout`. Waiting requests are not sent.
    /// - Parameter whenClosed: called once, on the event loop, after all sockets have closed and every request has its
    ///   result.
    public func close(within timeout: Duration = .zero, whenClosed: @escaping () -> Void = {}) {
        eventLoop.assertInEventLoop()
        guard state.isOpen else { return }
        self.whenClosed = whenClosed
        update { $0.close(within: timeout, at: $1) }
    }

    // MARK: Events and actions

    func awaitsReply(_ connection: ConnectionID) -> Bool { state.awaitsReply(connection) }

    func isConnecting(_ connection: ConnectionID) -> Bool { state.connections[connection].isConnecting }

    /// Applies an event to the state and carries out the resulting actions. Actions may cause further events before
    /// they return, for example if a socket closes during a write.
    @inline(__always)
    func update(_ event: (inout PoolState, Instant) -> Void) {
        guard let first = Self.firstAction(of: &state, after: event) else { return }
        carryOut(first)
        while let action = state.actions.next() { carryOut(action) }
        flush()
    }

    /// Accesses the state only once, because Swift checks at run time that accesses to an object's property do not
    /// overlap. Each check costs as much as the event.
    @inline(__always)
    private static func firstAction(
        of state: inout PoolState, after event: (inout PoolState, Instant) -> Void
    ) -> PoolState.Action? {
        event(&state, NIODeadline.now().instant)
        return state.actions.first()
    }

    private func carryOut(_ action: PoolState.Action) {
        switch action {
        case .write(let slot, let id, let checked): write(slot, on: id, checked: checked)
        case .cancel(let slot, let id): connections[id.index]?.cancel(slot)
        case .ping(let id): connections[id.index]?.ping()
        case .open(let id, let offersHTTP2): open(id, offersHTTP2: offersHTTP2)
        case .close(let id): connections[id.index]?.close()
        case .abort(let id): connections[id.index]?.abort()
        case .wake(let at):
            eventLoop.assumeIsolated().scheduleTask(deadline: .uptimeNanoseconds(UInt64(clamping: at.nanoseconds))) {
                [weak self] in self?.update { $0.wake(at: $1) }
            }
        case .handOver: eventLoop.assumeIsolated().execute { self.handOver() }
        case .finish:
            onResults = { _ in }
            for index in connections.indices { connections[index] = nil }
            whenClosed()
            whenClosed = {}
        }
    }

    private func write(_ slot: RequestSlot, on id: ConnectionID, checked: Bool) {
        guard let connection = connections[id.index], let request = state.request(in: slot, on: id)?.request else {
            return
        }
        if checked, connection.isEnded {
            update { $0.endedBeforeWriting(on: id, at: $1) }
        } else if connection.isHTTP2 {
            connection.write(request, slot, authorization: writer.authorization)
        } else if let bytes = bytes(of: request) {
            connection.slot = slot
            written.append((connection, bytes))
            // A group of large requests is sent in parts, so that memory stays bounded.
            if writer.isFull { flush() }
        } else {
            update { $0.unwritable(slot, on: id, at: $1) }
        }
    }

    /// Writes the request for HTTP/1.1.
    private func bytes(of request: HubCall) -> Range<Int>? {
        switch request {
        case .send(let send): writer.write(send)
        case .question(let target): writer.write(question: target)
        }
    }

    /// Sends the connection's frames at the end of the present turn, together with those that are still to come.
    func sendLater(_ connection: HubConnection) { unsent.append(connection) }

    func note(_ http: HTTPVersion) { self.http = http }

    /// Sends the written requests. If a failing socket causes more writes, those are sent within this call too.
    private func flush() {
        while let connection = unsent.popLast() { connection.sendFrames() }
        guard !written.isEmpty else { return }
        Self.send(exchange(&written, with: []), from: writer.buffer)
        writer.reset()
    }

    private static func send(
        _ requests: [(connection: HubConnection, range: Range<Int>)], from buffer: ByteBuffer
    ) {
        for (connection, range) in requests {
            guard let bytes = buffer.getSlice(at: range.lowerBound, length: range.count) else { continue }
            connection.write(bytes)
        }
    }

    private func handOver() {
        onResults(state.takeResults())
        update { state, _ in state.handedOver() }
    }

    private func open(_ id: ConnectionID, offersHTTP2: Bool) {
        let connection = HubConnection(id, pool: self, limits: limits, offersHTTP2: offersHTTP2)
        connections[id.index] = connection
        // The handlers are added after connecting, because several addresses may be tried at once.
        ClientBootstrap(group: eventLoop)
            .connectTimeout(TimeAmount(limits.connectTimeout))
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.socketOption(.so_keepalive), value: 1)
            .connect(host: target.endpoint.host, port: target.endpoint.port)
            .assumeIsolated()
            .whenComplete { [self] result in
                switch result {
                case .success(let channel): connection.connected(channel)
                case .failure(let error): update { $0.closed(id, SendFailure(connecting: error), at: $1) }
                }
            }
    }

    func makeTLSHandler(offersHTTP2: Bool) throws -> NIOSSLClientHandler? {
        try tls.map { tls in
            let context = offersHTTP2 ? tls.http2 ?? tls.http1 : tls.http1
            return try ServerIdentity.makeHandler(context, host: target.endpoint.host)
        }
    }

    func makeHTTP2Session() -> HTTP2Session {
        HTTP2Session(target: target, userAgent: userAgent, limits: limits, slots: limits.connections)
    }
}

extension NIODeadline {
    /// The deadline on the event loop's clock, which is monotonic.
    fileprivate var instant: Instant { Instant(nanoseconds: Int64(clamping: uptimeNanoseconds)) }
}

extension TimeAmount {
    /// Converts a duration, limited to 0 through one year so that adding it to a deadline never overflows.
    init(_ duration: Duration) {
        self = .nanoseconds(max(.zero, min(duration, .seconds(365 * 86_400))).nanoseconds)
    }
}

extension Instant {
    /// The time in a `Date` field, e.g. `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7); `nil` for anything else.
    fileprivate init?(httpDate text: SIMD32<UInt8>) {
        guard text[0] != 0 else { return nil }
        let bytes = (0..<29).map { text[$0] }
        // The present time is needed only for two-digit years, whose dates are shorter.
        guard let seconds = HTTPDate.seconds(of: String(decoding: bytes, as: UTF8.self), now: 0) else { return nil }
        let (milliseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
        guard !overflow else { return nil }
        self.init(milliseconds: milliseconds)
    }
}
