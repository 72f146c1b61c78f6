import ByteText
import NIOCore
public import NIOSSL

/// Makes TLS clients that take no certificate but one for the name that was asked for.
///
/// NIOSSL also takes a certificate for the IP address that is connected to, whatever name was asked for. Authorities give out
/// such certificates, so with NIOSSL alone, whoever answers for a name server could send his own machine's address and pass
/// for any host.
public enum ServerIdentity {
    /// - Parameter host: a name, or an IP address, which is checked against the certificate's addresses.
    /// - Returns: a handler whose handshake fails with `WrongCertificate` where the certificate is for another name.
    /// - Throws: NIOSSL's error for a name that cannot be announced.
    public static func makeHandler(_ context: NIOSSLContext, host: String) throws -> NIOSSLClientHandler {
        // An address is no name to announce. RFC 6066 §3.
        if (try? SocketAddress(ipAddress: host, port: 0)) != nil {
            return try NIOSSLClientHandler(context: context, serverHostname: nil)
        }
        return try NIOSSLClientHandler._makeSSLClientHandler(context: context, serverHostname: host) {
            certificate, channel in
            let isForHost = certificate._subjectAlternativeNames().contains { name in
                name.nameType == .dnsName && matches(host, String(decoding: name.contents, as: UTF8.self))
            }
            return isForHost
                ? channel.eventLoop.makeSucceededVoidFuture()
                : channel.eventLoop.makeFailedFuture(WrongCertificate(host: host))
        }
    }

    /// A star stands for one whole label, the first. RFC 9525 §6.3.
    ///
    /// - Parameter pattern: of a certificate.
    static func matches(_ host: String, _ pattern: String) -> Bool {
        guard pattern.hasPrefix("*.") else { return pattern.equalsIgnoringASCIICase(host) }
        guard let dot = host.firstIndex(of: "."), dot != host.startIndex else { return false }
        // A star right above the top would stand for everybody there.
        let domain = host[host.index(after: dot)...]
        return domain.contains(".") && domain.equalsIgnoringASCIICase(pattern.dropFirst(2))
    }
}

/// The server's certificate is trusted, but for other names.
public struct WrongCertificate: Error, Sendable, Hashable, CustomStringConvertible {
    public var host: String

    public var description: String { "the certificate of \(host) is for another name" }
}
