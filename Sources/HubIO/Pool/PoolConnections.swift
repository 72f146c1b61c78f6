package import NewsModel

/// A connection of a pool by its place, which another one may take once this one has closed.
package struct ConnectionID: Hashable, Sendable {
    package let index: Int

    package init(_ index: Int) { self.index = index }
}

package enum ConnectionState: Hashable, Sendable {
    /// A place without a connection. Next is `opening`.
    case vacant
    /// Resolving the name and connecting; the socket keeps that time limit itself. Next is `handshaking`, `closing` or
    /// `vacant`.
    case opening(until: Instant)
    /// Connected, but not ready for requests yet. Next is `idle` or `closing`.
    case handshaking(until: Instant)
    /// Ready for a request. Next is `inFlight` or `closing`.
    case idle(since: Instant, until: Instant)
    /// Its request is written or about to be. Next is `idle` or `closing`.
    case inFlight(request: UInt64, until: Instant)
    /// Expected to close. Next is `vacant`.
    case closing(until: Instant)

    /// When the pool must do something about it.
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

/// The connections of a pool and the state of each. Keeps their counts and the order of the idle ones.
package struct PoolConnections {
    private var states: [ConnectionState]
    /// The last one was used last.
    private var idle: [ConnectionID] = []
    /// Those that hold a socket or are being opened.
    package private(set) var open = 0
    /// Those being opened, handshakes included.
    package private(set) var connecting = 0

    init(most: Int) {
        precondition(most > 0, "a pool has at least one connection")
        states = Array(repeating: .vacant, count: most)
    }

    package subscript(connection: ConnectionID) -> ConnectionState { states[connection.index] }

    var all: some Sequence<ConnectionID> { states.indices.lazy.map { ConnectionID($0) } }

    /// The idle connection that was used last.
    var lastUsed: ConnectionID? { idle.last }
    /// The idle connection that was not used for longest.
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
