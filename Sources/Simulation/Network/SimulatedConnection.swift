import HubModel
import NewsModel
import NotificationHub

/// A connection of a process to the hub.
struct SimulatedConnection {
    /// Distinguishes the connections that take one place of a pool one after the other.
    let number: Int
    /// `nil` until the connection is ready.
    var http: HTTPVersion?
    /// The requests that the process has written and awaits, by slot.
    var requests: [RequestSlot: Flight] = [:]
    /// The requests that the hub has read.
    var processed: Set<Int> = []
    /// True if a request waits because the hub's windows are closed.
    var isBlocked = false

    /// True if the process awaits the reply to the request.
    func awaits(_ flight: Flight) -> Bool { requests[flight.slot]?.write == flight.write }
}

/// A request that a process has written.
struct Flight {
    var address: Address
    /// Index of its attempt in the ground truth.
    var attempt: Int
    /// The number of the write. A request that the hub refused to process may be written again.
    var write: Int
    var mintedAt: Instant
    var connection: ConnectionID
    /// The number of the connection.
    var number: Int
    var slot: RequestSlot
}

/// An event that a connection reports to its process.
enum ConnectionEvent {
    case connected
    /// The hub has chosen HTTP/2 in the TLS handshake.
    case choseHTTP2
    case ready(HTTPVersion)
    /// The socket has closed, or was never opened.
    case closed(SendFailure)
    /// The connection cannot be used, and the process closes it.
    case failed(SendFailure)
    /// The hub chose HTTP/2 and ended the connection before its settings.
    case brokenHTTP2
    case replied(Flight, HubReply, keepsAlive: Bool)
    case streamEnded(Flight, SendFailure)
    case streamRefused(Flight)
    /// GOAWAY. `processed` are the writes that the hub has read.
    case leaving(processed: Set<Int>, isCalm: Bool)
    case streamsChanged
    case unblocked
    case pong

    /// True if a packet of the hub brings it.
    var comesFromHub: Bool {
        switch self {
        case .closed(let failure): failure.kind == .reset
        default: true
        }
    }
}
