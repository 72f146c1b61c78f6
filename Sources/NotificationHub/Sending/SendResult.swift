/// Names one request in flight until its result arrives.
public struct RequestID: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// A request that has ended, and its result.
public struct SettledRequest: Sendable, Hashable {
    public var id: RequestID
    public var result: SendResult

    public init(id: RequestID, result: SendResult) {
        self.id = id
        self.result = result
    }
}

/// The end of one request; every request ends exactly once.
public enum SendResult: Sendable, Hashable {
    case replied(HubReply)
    /// No byte of the request reached the hub.
    case notSent(SendFailure)
    /// The request was written, at least in part, but not answered. The hub may have accepted it.
    case unknown(SendFailure)

    /// The hub's reply; `nil` without one.
    public var reply: HubReply? { if case .replied(let reply) = self { reply } else { nil } }
}

/// The reason why a request has no reply.
public struct SendFailure: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// No process listens on that port.
        case connectRefused
        /// The host's name could not be resolved.
        case dns
        /// The connection or its TLS handshake was not completed in time, or the server allowed no request on it.
        case connectTimeout
        /// The connection failed for another reason, such as a missing route.
        case connectFailed
        /// The server's certificate was not accepted, or the two sides support no common TLS.
        case tls
        /// The request has a value that cannot be written in HTTP.
        case invalidRequest
        /// Too many requests are waiting.
        case queueFull
        /// No connection became free in time.
        case waitedTooLong
        /// The pool is closed, or was closed during the request.
        case poolClosed
        /// No reply arrived in time.
        case requestTimeout
        /// The server said several times that it did not process the request.
        case refused
        /// The connection was reset: as `notSent` before anything was written (TLS included), as `unknown` later.
        case reset
        /// The connection was closed: as `notSent` before anything was written, otherwise amid a reply.
        case closedEarly
        /// The bytes are not an HTTP reply, or the reply exceeds the limits.
        case malformedReply
    }

    public static let detailLengthMax = 256

    public var kind: Kind
    /// A readable sentence of at most `detailLengthMax` characters; never a header or a body of the request.
    public var detail: String

    public init(_ kind: Kind, _ detail: String) {
        self.kind = kind
        self.detail = String(detail.prefix(Self.detailLengthMax))
    }

    public var description: String {
        switch kind {
        case .malformedReply: "the reply is not HTTP: \(detail)"
        case .invalidRequest: "the request cannot be written: \(detail)"
        default: detail
        }
    }
}
