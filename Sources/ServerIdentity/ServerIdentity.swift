import ByteText
import NIOCore
public import NIOSSL

/// Makes TLS clients that accept only a certificate for the requested name.
///
/// NIOSSL also accepts a certificate for the IP address that it connects to, whatever name was requested. Authorities
/// issue such certificates. With NIOSSL alone, an attacker who controls the name server could return the address of
/// another machine and impersonate any host.
public enum ServerIdentity {
    /// - Parameter host: a name, or an IP address, which is compared with the certificate's addresses. A dot at the end of a name, which
    ///   stands for the root of the DNS, is in no certificate.
    /// - Returns: a handler whose handshake fails with `WrongCertificate` if the certificate is for another name.
    /// - Throws: NIOSSL's error if the name cannot be sent as server name indication.
    public static func makeHandler(_ context: NIOSSLContext, host: String) throws -> NIOSSLClientHandler {
        // RFC 6066 §3 does not permit an address as a server name.
        if (try? SocketAddress(ipAddress: host, port: 0)) != nil {
            return try NIOSSLClientHandler(context: context, serverHostname: nil)
        }
        let host = nameWithoutRoot(host)
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

    static func nameWithoutRoot(_ host: String) -> String { host.hasSuffix(".") ? String(host.dropLast()) : host }

    /// Compares a host with a certificate's name. A star stands for exactly one label, the first. RFC 9525 §6.3.
    ///
    /// - Parameter pattern: the name in the certificate.
    static func matches(_ host: String, _ pattern: String) -> Bool {
        guard pattern.hasPrefix("*.") else { return pattern.equalsIgnoringASCIICase(host) }
        guard let dot = host.firstIndex(of: "."), dot != host.startIndex else { return false }
        // A star directly below a top-level domain would match every domain in it.
        let domain = host[host.index(after: dot)...]
        return domain.contains(".") && domain.equalsIgnoringASCIICase(pattern.dropFirst(2))
    }
}

/// The server's certificate is trusted but issued for other names.
public struct WrongCertificate: Error, Sendable, Hashable, CustomStringConvertible {
    public var host: String

    public var description: String { "the certificate of \(host) is for another name" }
}
