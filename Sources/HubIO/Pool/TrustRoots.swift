import Foundation
public import NIOSSL
import NotificationHub

/// The certificate authorities that are trusted.
public enum TrustRoots: Sendable, Hashable {
    /// The authorities of the operating system.
    case system
    /// The authorities in a PEM file and no others, for a hub behind a private authority.
    case file(String)

    /// Makes the TLS contexts of an `https` pool.
    public func makeHubTLS(offersHTTP2: Bool) throws(TrustRootsProblem) -> HubTLS {
        HubTLS(http1: try makeContext(), http2: offersHTTP2 ? try makeContext(offersHTTP2: true) : nil)
    }

    /// Makes the TLS context of a client that speaks only HTTP/1.1.
    public func makeContext() throws(TrustRootsProblem) -> NIOSSLContext { try makeContext(offersHTTP2: false) }

    /// Makes a TLS context. It checks the server's certificate and name and requires TLS 1.2.
    ///
    /// Reads the file. Make one context and share it between pools.
    ///
    /// - Parameter offersHTTP2: let the server choose HTTP/2 (RFC 7301).
    private func makeContext(offersHTTP2: Bool) throws(TrustRootsProblem) -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = offersHTTP2 ? ["h2", "http/1.1"] : ["http/1.1"]
        configuration.certificateVerification = .fullVerification
        if case .file(let path) = self {
            // Checked here, because a file without certificates would otherwise fail only at the first connection.
            guard FileManager.default.isReadableFile(atPath: path) else {
                throw TrustRootsProblem(roots: self, reason: "it does not exist, or may not be read")
            }
            let certificates = (try? NIOSSLCertificate.fromPEMFile(path)) ?? []
            guard !certificates.isEmpty else {
                throw TrustRootsProblem(roots: self, reason: "it holds no certificate in PEM form")
            }
            configuration.trustRoots = .certificates(certificates)
        }
        do {
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw TrustRootsProblem(roots: self, reason: String("\(error)".prefix(SendFailure.detailLengthMax)))
        }
    }
}

/// The TLS contexts of a pool.
public struct HubTLS: Sendable {
    /// For a client that speaks only HTTP/1.1.
    public let http1: NIOSSLContext
    /// Offers HTTP/2 besides HTTP/1.1; `nil` if HTTP/2 is not wanted.
    let http2: NIOSSLContext?
}

/// Certificates that cannot be loaded.
public struct TrustRootsProblem: Error, Sendable, Hashable, CustomStringConvertible {
    public var roots: TrustRoots
    public var reason: String

    public var description: String {
        switch roots {
        case .system: "the system's certificates cannot be loaded: \(reason)"
        case .file(let path): "no certificates can be read from \(path): \(reason)"
        }
    }
}
