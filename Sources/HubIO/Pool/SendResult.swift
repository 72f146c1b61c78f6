internal import NIOCore
internal import NIOPosix
internal import NIOSSL
public import NotificationHub
internal import ServerIdentity

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A request for a pool.
public struct PoolRequest: Sendable {
    /// Returned with the result. The pool does not interpret it.
    public var id: UInt64
    public var request: SendRequest

    public init(id: UInt64, request: SendRequest) {
        self.id = id
        self.request = request
    }
}

/// A request and its result.
public struct SettledRequest: Sendable, Hashable {
    /// The id given to `SenderPool.send`.
    public var id: UInt64
    public var result: SendResult
}

/// The end of one request; every request ends exactly once.
public enum SendResult: Sendable, Hashable {
    case replied(HubReply)
    /// No byte of the request reached the hub.
    case notSent(SendFailure)
    /// The request was written, at least in part, but not answered. The hub may have accepted it.
    case unknown(SendFailure)
}

/// The reason why a request has no reply.
public struct SendFailure: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// No process listens on that port.
        case connectRefused
        /// The host's name could not be resolved.
        case dns
        /// The connection or its TLS handshake was not completed in time.
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

    public var description: String { "\(kind.rawValue): \(detail)" }
}

extension SendFailure {
    /// The reason why a connection could not be opened.
    package init(connecting error: any Error) {
        switch error {
        case let failure as SendFailure: self = failure
        case let error as NIOConnectionError: self.init(error)
        case ChannelError.connectTimeout: self.init(.connectTimeout, "no connection in time")
        case let error as IOError: self.init(error, otherwise: .connectFailed)
        case NIOSSLError.handshakeFailed(let reason):
            if case .sslError(let stack) = reason, stack.contains(.eofDuringHandshake) {
                self.init(.closedEarly, "the connection was closed during the TLS handshake")
            } else {
                self.init(.tls, "TLS handshake failed: \(reason)")
            }
        case NIOSSLError.uncleanShutdown, ChannelError.eof, ChannelError.ioOnClosedChannel:
            self.init(.closedEarly, "the connection was closed during the TLS handshake")
        case is WrongCertificate, is NIOSSLError, is NIOSSLExtraError, is BoringSSLError:
            self.init(.tls, "\(error)")
        default: self.init(.connectFailed, "\(error)")
        }
    }

    /// The reason why a connection ended with a request in flight.
    package init(replying error: any Error) {
        switch error {
        case let error as IOError: self.init(error, otherwise: .reset)
        case NIOSSLError.uncleanShutdown: self.init(.closedEarly, "the connection was cut without a TLS close")
        default: self.init(.reset, "\(error)")
        }
    }

    private init(_ error: NIOConnectionError) {
        if let last = error.connectionErrors.last {
            self.init(connecting: last.error)
        } else if let problem = error.dnsAError ?? error.dnsAAAAError {
            self.init(.dns, "\(error.host) has no address: \(problem)")
        } else {
            self.init(.dns, "\(error.host) has no address")
        }
    }

    private init(_ error: IOError, otherwise kind: Kind) {
        switch error.errnoCode {
        case ECONNREFUSED: self.init(.connectRefused, "the connection was refused")
        case ETIMEDOUT: self.init(kind == .reset ? .reset : .connectTimeout, "the connection timed out")
        case ECONNRESET, EPIPE: self.init(.reset, "the connection was reset")
        default: self.init(kind, error.description)
        }
    }
}
