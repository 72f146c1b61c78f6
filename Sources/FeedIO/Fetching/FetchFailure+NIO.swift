import Feeds
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import ServerIdentity

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

// Translates NIO's errors. The messages contain no received bytes.

extension FetchFailure {
    static func bodyTooLarge(_ limit: Int) -> FetchFailure {
        FetchFailure(.tooLarge, "the document has more than \(limit >> 20) MiB; ask the publisher for a shorter feed")
    }

    /// Describes why a connection failed.
    init(connecting error: any Error, to address: FetchAddress, _ limits: FetchLimits) {
        let place = "\(address.host) port \(address.port)"
        switch error {
        case let failure as FetchFailure: self = failure
        case is WrongCertificate: self.init(tls: error, address)
        case ChannelError.connectTimeout:
            self.init(.timeout, "no connection to \(place) within \(limits.connect)")
        case let error as NIOConnectionError:
            if let last = error.connectionErrors.last {
                self.init(connecting: last.error, to: address, limits)
            } else if let refusal = (error.dnsAAAAError ?? error.dnsAError) as? FetchFailure {
                self = refusal
            } else {
                self.init(.unknownHost, "\(address.host) cannot be found; check the name in url")
            }
        case let error as IOError:
            self.init(.connectFailed, "no connection to \(place): \(error.words)")
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError: self.init(tls: error, address)
        default: self.init(.connectFailed, "no connection to \(place)")
        }
    }

    /// Describes why an answer was not completed.
    init(receiving error: any Error, from address: FetchAddress) {
        let host = address.host
        switch error {
        case let failure as FetchFailure: self = failure
        case is WrongCertificate, is NIOSSLExtraError, is BoringSSLError, NIOSSLError.handshakeFailed:
            self.init(tls: error, address)
        case HTTPParserError.headerOverflow: self.init(.tooLarge, "the head of \(host)'s answer is too long")
        case HTTPParserError.invalidEOFState:
            self.init(.disconnected, "\(host) closed the connection before its answer was complete")
        case let error as HTTPParserError: self.init(.protocolError, "\(host) does not speak HTTP: \(error)")
        case is NIOHTTPDecoderError: self.init(.protocolError, "\(host) does not speak HTTP")
        case NIOSSLError.uncleanShutdown:
            self.init(.disconnected, "\(host) cut the connection without the end that TLS demands")
        case let error as IOError: self.init(.disconnected, "\(host) ended the connection: \(error.words)")
        default: self.init(.disconnected, "the connection to \(host) ended before its answer was complete")
        }
    }

    private init(tls error: any Error, _ address: FetchAddress) {
        let words = "\(error)"
        let detail =
            if words.contains("WRONG_VERSION_NUMBER") || words.contains("HTTP_REQUEST") {
                "no TLS at port \(address.port) of \(address.host); check https and the port"
            } else if error is WrongCertificate || error is NIOSSLExtraError {
                "the certificate of \(address.host) is for another name; check the name in url"
            } else if words.contains("CERTIFICATE_VERIFY_FAILED") || words.contains("unableToValidate") {
                "the certificate of \(address.host) is not trusted or has expired"
            } else {
                "\(address.host) and Newswire cannot agree on TLS 1.2 or 1.3"
            }
        self.init(.tls, detail)
    }
}

extension IOError {
    fileprivate var words: String {
        switch errnoCode {
        case ECONNREFUSED: "nothing accepts connections there"
        case ECONNRESET, EPIPE: "the connection was reset"
        case ENETUNREACH, EHOSTUNREACH: "there is no way to it"
        default: "error \(errnoCode)"
        }
    }
}
