package import NewsModel

/// A connection's place in the pool. Another connection may take the place after this one has closed.
package struct ConnectionID: Hashable, Sendable {
    package let index: Int

    package init(_ index: Int) { self.index = index }
}

package enum ConnectionState: Hashable, Sendable {
    /// A place without a connection. Followed by `opening`.
    case vacant
    /// Resolving the name and connecting; the socket enforces the time limit. Followed by `handshaking`, `closing` or
    /// `vacant`.
    case opening(until: Instant)
    /// Connected, but not ready for requests: TLS and, over HTTP/2, the server's settings are missing. Followed by
    /// `serving` or `closing`.
    ///
    /// - isHTTP2: the server has chosen HTTP/2. It has not yet sent its settings and accepted ours.
    case handshaking(until: Instant, isHTTP2: Bool = false)
    /// Carrying requests, or ready for them. Followed by `closing`.
    case serving(ServingConnection)
    /// Waiting for the socket to close. Followed by `vacant`.
    case closing(until: Instant)

    package var isConnecting: Bool {
        switch self {
        case .opening, .handshaking: true
        case .vacant, .serving, .closing: false
        }
    }

    var isServing: Bool { if case .serving = self { true } else { false } }
}

/// A connection that can carry requests.
package struct ServingConnection: Hashable, Sendable {
    package let http: HTTPVersion
    /// The most requests at once: one over HTTP/1.1, the server's limit of streams over HTTP/2.
    package var capacity: Int
    package var inFlight = 0
    /// The time of the last reply, or at which the connection became ready or blocked.
    package var since: Instant
    /// The time at which the server was last heard, over HTTP/2.
    package var heardAt: Instant
    /// The time of a ping that the server has not answered.
    package var pingedAt: Instant?
    /// It takes no more requests, and closes after its last reply.
    package var isLeaving = false
    /// The server's flow control has no room for the next request.
    package var isBlocked = false

    init(_ http: HTTPVersion, capacity: Int, at now: Instant) {
        (self.http, self.capacity, since, heardAt) = (http, capacity, now, now)
    }

    /// The server allows no request at all, and none is in flight.
    var isUseless: Bool { capacity < 1 && inFlight == 0 }

    /// A server that has not answered a ping may be dead, and a request on its connection would end as unknown.
    var isFree: Bool { inFlight < capacity && !isLeaving && !isBlocked && pingedAt == nil }
}

/// The states of a pool's connections, with counts and the order of the free ones.
package struct PoolConnections {
    private var states: [ConnectionState]
    /// Connections that can take another request; the most recently used one is last.
    private var free: [ConnectionID] = []
    /// Connections that hold a socket or are being opened.
    package private(set) var open = 0
    /// Connections being opened, including handshakes.
    package private(set) var connecting = 0

    init(most: Int) {
        precondition(most > 0, "a pool has at least one connection")
        states = Array(repeating: .vacant, count: most)
    }

    package subscript(connection: ConnectionID) -> ConnectionState { states[connection.index] }

    package func serving(_ connection: ConnectionID) -> ServingConnection? {
        if case .serving(let serving) = states[connection.index] { serving } else { nil }
    }

    package var all: some Sequence<ConnectionID> { states.indices.lazy.map { ConnectionID($0) } }

    /// The most recently used connection that can take another request.
    var lastFree: ConnectionID? { free.last }
    /// The least recently used connection without a request.
    var longestIdle: ConnectionID? { free.first { serving($0)?.inFlight == 0 } }

    var vacantPlace: ConnectionID? {
        open < states.count ? states.firstIndex(of: .vacant).map { ConnectionID($0) } : nil
    }

    /// A connection waits until the server's flow control has room again, or until the server allows a request.
    var hasBlocked: Bool {
        states.contains { state in
            guard case .serving(let serving) = state else { return false }
            return (serving.isBlocked || serving.isUseless) && !serving.isLeaving
        }
    }

    /// Connections that serve, or are about to.
    var useful: Int { states.count { $0.isConnecting || $0.isServing } }

    /// The requests in flight on HTTP/2 connections.
    package var openStreams: Int {
        states.reduce(0) { count, state in
            if case .serving(let serving) = state, serving.http == .http2 { count + serving.inFlight } else { count }
        }
    }

    mutating func change(_ connection: ConnectionID, to new: ConnectionState) {
        let old = states[connection.index]
        states[connection.index] = new
        if old.isConnecting { connecting -= 1 }
        if new.isConnecting { connecting += 1 }
        if case .vacant = old { open += 1 }
        if case .vacant = new { open -= 1 }
        let wasFree = if case .serving(let serving) = old { serving.isFree } else { false }
        let isFree = if case .serving(let serving) = new { serving.isFree } else { false }
        setFree(connection, from: wasFree, to: isFree)
    }

    /// Changes a connection that serves; has no effect on others.
    ///
    /// - Returns: the connection after the change.
    @discardableResult
    mutating func update(
        _ connection: ConnectionID, _ change: (inout ServingConnection) -> Void
    ) -> ServingConnection? {
        guard case .serving(var serving) = states[connection.index] else { return nil }
        let wasFree = serving.isFree
        change(&serving)
        states[connection.index] = .serving(serving)
        setFree(connection, from: wasFree, to: serving.isFree)
        return serving
    }

    private mutating func setFree(_ connection: ConnectionID, from wasFree: Bool, to isFree: Bool) {
        if wasFree == isFree { return }
        if isFree {
            free.append(connection)
        } else if let place = free.lastIndex(of: connection) {
            free.remove(at: place)
        }
    }
}
