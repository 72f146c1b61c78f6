internal import NIOCore
internal import NIOPosix
internal import NIOSSL
package import NotificationHub
internal import ServerIdentity

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

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
                self.init(.tls, "TLS handshake failed: \(Self.words("\(reason)"))")
            }
        case NIOSSLError.uncleanShutdown, ChannelError.eof, ChannelError.ioOnClosedChannel:
            self.init(.closedEarly, "the connection was closed during the TLS handshake")
        case let error as NIOSSLExtraError where error == .failedToValidateHostname:
            self.init(.tls, "the certificate is for another name")
        case is WrongCertificate, is NIOSSLError, is NIOSSLExtraError, is BoringSSLError:
            self.init(.tls, Self.words("\(error)"))
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
        } else {
            self.init(.dns, "\(error.host) has no address")
        }
    }

    private init(_ error: IOError, otherwise kind: Kind) {
        switch error.errnoCode {
        case ECONNREFUSED: self.init(.connectRefused, "the connection was refused")
        case ETIMEDOUT: self.init(kind == .reset ? .reset : .connectTimeout, "the connection timed out")
        case ECONNRESET, EPIPE: self.init(.reset, "the connection was reset")
        case EHOSTUNREACH, ENETUNREACH: self.init(kind, "there is no route to the host")
        default: self.init(kind, String(cString: strerror(error.errnoCode)).lowercased())
        }
    }

    /// BoringSSL's frequent errors in plain words.
    private static func words(_ reason: String) -> String {
        if reason.contains("CERTIFICATE_VERIFY_FAILED") { return "the certificate is not trusted" }
        if reason.contains("WRONG_VERSION_NUMBER") { return "the server does not speak TLS on this port" }
        return reason
    }
}
