public import NotificationHub

/// What became of one request; every request gets exactly one.
public enum SendResult: Sendable, Hashable {
    /// The hub answered, this long after the request was written.
    case replied(HubReply, after: Duration)
    /// Certainly not a byte of it reached the hub.
    case notSent(SendFailure)
    /// Written, at least in part, and not answered: the hub may have taken it.
    case unknown(SendFailure)
}

/// Why a request has no reply.
public struct SendFailure: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Nobody listens there.
        case connectRefused
        /// The host's name could not be resolved.
        case dns
        /// No connection, or no end of the TLS handshake, in time.
        case connectTimeout
        /// No connection for another reason, such as no route.
        case connectFailed
        /// The server's certificate was not accepted, or the two sides agree on no TLS.
        case tls
        /// A value that cannot stand in an HTTP request.
        case invalidRequest
        /// More requests than may wait.
        case queueFull
        /// The pool is closed or was closed meanwhile.
        case poolClosed
        /// No reply in time.
        case requestTimeout
        /// The connection was reset: before anything was written (TLS handshake included) as `notSent`, else as `unknown`.
        case reset
        /// The connection was closed before the reply was complete, or, as `notSent`, before anything was written.
        case closedEarly
        /// Bytes that are no HTTP reply, or one beyond the limits.
        case malformedReply
    }

    public static let detailLengthMax = 256

    public var kind: Kind
    /// A sentence for people, at most `detailLengthMax` characters; never a header or a body of the request.
    public var detail: String

    public init(_ kind: Kind, _ detail: String) {
        self.kind = kind
        self.detail = String(detail.prefix(Self.detailLengthMax))
    }

    public var description: String { "\(kind.rawValue): \(detail)" }
}
