package import NewsModel
package import NotificationHub

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
    /// Connected, but not ready for requests. Followed by `idle` or `closing`.
    case handshaking(until: Instant)
    /// Ready for a request. Followed by `inFlight` or `closing`.
    case idle(since: Instant, until: Instant)
    /// Carrying a request that is written or about to be. Followed by `idle` or `closing`.
    case inFlight(request: RequestID, until: Instant)
    /// Waiting for the socket to close. Followed by `vacant`.
    case closing(until: Instant)

    /// The time at which the pool must act on this state.
    package var deadline: Instant {
        switch self {
        case .vacant, .opening: .distantFuture
        case .handshaking(let until), .idle(_, let until), .inFlight(_, let until), .closing(let until): until
        }
    }

    var isConnecting: Bool {
        switch self {
        case .opening, .handshaking: true
        case .vacant, .idle, .inFlight, .closing: false
        }
    }
}

/// The states of a pool's connections, with counts and the order of the idle ones.
package struct PoolConnections {
    private var states: [ConnectionState]
    /// Idle connections; the most recently used one is last.
    private var idle: [ConnectionID] = []
    /// Connections that hold a socket or are being opened.
    package private(set) var open = 0
    /// Connections being opened, including handshakes.
    package private(set) var connecting = 0

    init(most: Int) {
        precondition(most > 0, "a pool has at least one connection")
        states = Array(repeating: .vacant, count: most)
    }

    package subscript(connection: ConnectionID) -> ConnectionState { states[connection.index] }

    var all: some Sequence<ConnectionID> { states.indices.lazy.map { ConnectionID($0) } }

    /// The most recently used idle connection.
    var lastUsed: ConnectionID? { idle.last }
    /// The least recently used idle connection.
    var longestIdle: ConnectionID? { idle.first }

    var vacantPlace: ConnectionID? {
        open < states.count ? states.firstIndex(of: .vacant).map { ConnectionID($0) } : nil
    }

    var nextDeadline: Instant { states.reduce(.distantFuture) { min($0, $1.deadline) } }

    mutating func change(_ connection: ConnectionID, to new: ConnectionState) {
        let old = states[connection.index]
        states[connection.index] = new
        if old.isConnecting { connecting -= 1 }
        if new.isConnecting { connecting += 1 }
        if case .vacant = old { open += 1 }
        if case .vacant = new { open -= 1 }
        if case .idle = old, let place = idle.lastIndex(of: connection) { idle.remove(at: place) }
        if case .idle = new { idle.append(connection) }
    }
}
