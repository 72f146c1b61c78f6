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

/// A request on its way into a pool.
public struct PoolRequest: Sendable {
    /// Comes back with the result; the pool only carries it.
    public var id: UInt64
    public var request: SendRequest

    public init(id: UInt64, request: SendRequest) {
        self.id = id
        self.request = request
    }
}

/// A request and its result.
public struct SettledRequest: Sendable, Hashable {
    /// As it was given to `SenderPool.send`.
    public var id: UInt64
    public var result: SendResult
}

/// The end of one request; every request ends exactly once.
public enum SendResult: Sendable, Hashable {
    case replied(HubReply)
    /// Not a byte of it reached the hub.
    case notSent(SendFailure)
    /// Written, at least in part, and not answered: the hub may have taken it.
    case unknown(SendFailure)
}

/// The reason why a request has no reply.
public struct SendFailure: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Nothing listens on that port.
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
        /// Too long without a free connection.
        case waitedTooLong
        /// The pool is closed or was closed meanwhile.
        case poolClosed
        /// No reply in time.
        case requestTimeout
        /// The connection was reset: before anything was written (TLS handshake included) as `notSent`, else as `unknown`.
        case reset
        /// The connection was closed before the reply was complete, or, as `notSent`, before anything was written.
        case closedEarly
        /// Bytes that are not an HTTP reply, or a reply beyond the limits.
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
