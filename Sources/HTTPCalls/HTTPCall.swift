import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// One request to a web service, with a bounded answer and errors in plain words.
public struct HTTPCall: Sendable {
    public var url: String
    public var headers: [(String, String)] = []
    /// The body of a POST; `nil` for a GET.
    public var body: [UInt8]?
    /// A PEM file with the authorities to trust instead of the system's. It is read at each call.
    public var trustRoots: String?
    /// True for a question without a secret in its body, which may follow a redirect.
    public var followsRedirects = true

    /// The longest time for the whole exchange.
    public var timeout = Duration.seconds(5)

    public struct Answer: Sendable {
        public var status: Int
        public var body: [UInt8]
        /// The value of `Retry-After`.
        public var retryAfter: String?
    }

    /// The reason why there is no answer, as the end of a sentence. It contains neither the address nor a header.
    public struct Failure: Error, Sendable {
        public var detail: String
        /// True if the answer has more bytes than allowed.
        public var isTooLarge = false
    }

    public init(url: String) { self.url = url }

    /// Sends the request. Blocks for a few seconds at most.
    ///
    /// - Parameter bytesMax: the most bytes of the answer's body.
    public func answer(bytesMax: Int) throws(Failure) -> Answer {
        do {
            guard trustRoots != nil || !followsRedirects else { return try answer(of: .shared, bytesMax: bytesMax) }
            var configuration = HTTPClient.Configuration()
            if !followsRedirects { configuration.redirectConfiguration = .disallow }
            if let trustRoots {
                guard let certificates = try? NIOSSLCertificate.fromPEMFile(trustRoots), !certificates.isEmpty else {
                    throw Failure(detail: "the file \(trustRoots) has no certificates")
                }
                var tls = TLSConfiguration.makeClientConfiguration()
                tls.trustRoots = .certificates(certificates)
                configuration.tlsConfiguration = tls
            }
            let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
            defer { try? client.syncShutdown() }
            return try answer(of: client, bytesMax: bytesMax)
        } catch let error as ResponseAccumulator.ResponseTooBigError {
            throw Failure(detail: "its answer has more than \(error.maxBodySize) bytes", isTooLarge: true)
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(detail: Self.words(error))
        }
    }

    private func answer(of client: HTTPClient, bytesMax: Int) throws -> Answer {
        let request = try HTTPClient.Request(
            url: url, method: body == nil ? .GET : .POST, headers: HTTPHeaders(headers),
            body: body.map { .bytes($0) })
        let response = try client.execute(
            request: request, delegate: ResponseAccumulator(request: request, maxBodySize: bytesMax),
            deadline: .now() + TimeAmount(timeout)
        ).wait()
        return Answer(
            status: Int(response.status.code), body: response.body.map { Array($0.readableBytesView) } ?? [],
            retryAfter: response.headers.first(name: "Retry-After"))
    }

    /// An error in plain words.
    private static func words(_ error: any Error) -> String {
        switch error {
        case let error as NIOConnectionError:
            error.connectionErrors.last.map { words($0.error) } ?? "its host name has no address"
        case let error as IOError: String(cString: strerror(error.errnoCode)).lowercased()
        case let error as HTTPClientError where [.connectTimeout, .deadlineExceeded, .readTimeout].contains(error):
            "it took too long"
        case let error as HTTPClientError where error == .remoteConnectionClosed: "the connection was closed"
        case is NIOSSLError, is BoringSSLError: "its certificate is not trusted, or TLS failed"
        default: "\(error)"
        }
    }
}
