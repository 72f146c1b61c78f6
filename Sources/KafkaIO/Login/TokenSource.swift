import ByteText
import Foundation
import HTTPCalls
public import KafkaModel
import NewsModel

/// The source of the tokens with which Kafka clients log in (the mechanism OAUTHBEARER).
public struct TokenSource: Sendable, Hashable {
    public enum Origin: Sendable, Hashable {
        case endpoint(Endpoint)
        /// A file that another program keeps up to date, such as a service account's token in Kubernetes.
        case file(String)
    }

    /// An identity provider that issues tokens to programs. RFC 6749 §4.4.
    public struct Endpoint: Sendable, Hashable {
        public var url: String
        public var clientID: String
        public var secret: String
        public var scope: String?
        /// A PEM file with the authorities to trust instead of the system's.
        public var trustRoots: String?

        public init(url: String, clientID: String, secret: String, scope: String? = nil, trustRoots: String? = nil) {
            self.url = url
            self.clientID = clientID
            self.secret = secret
            self.scope = scope
            self.trustRoots = trustRoots
        }
    }

    public var origin: Origin
    /// SASL extensions that some brokers require, by name. RFC 7628 §3.1.
    public var extensions: [String: String]

    public init(_ origin: Origin, extensions: [String: String] = [:]) {
        self.origin = origin
        self.extensions = extensions
    }

    /// Gets a token. Blocks for a few seconds at most.
    public func token() throws(KafkaFailure) -> OAuthToken {
        switch origin {
        case .endpoint(let endpoint): try endpoint.token()
        case .file(let path): try Self.token(inFile: path)
        }
    }

    private static func token(inFile path: String) throws(KafkaFailure) -> OAuthToken {
        // A limit, because the path may name a device or a wrong file.
        guard let file = FileHandle(forReadingAtPath: path), let data = try? file.read(upToCount: OAuthToken.bytesMax)
        else { throw .token("the file \(path) cannot be read", "Check kafka.oauth.tokenFile.") }
        let text = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        do throws(KafkaFailure) {
            return try OAuthToken(text, at: ServiceClock.wall)
        } catch {
            var failure = error
            failure.remedy = "Look at what writes \(path), and at this machine's clock."
            throw failure
        }
    }
}

extension TokenSource.Endpoint {
    fileprivate func token() throws(KafkaFailure) -> OAuthToken {
        var call = HTTPCall(url: url)
        let login = Base64.encode(Array("\(clientID.percentEncoded):\(secret.percentEncoded)".utf8))
        call.headers = [
            ("Authorization", "Basic \(login)"), ("Content-Type", "application/x-www-form-urlencoded"),
            ("Accept", "application/json"),
        ]
        let scope = scope.map { "&scope=\($0.percentEncoded)" } ?? ""
        call.body = Array("grant_type=client_credentials\(scope)".utf8)
        call.trustRoots = trustRoots
        // Another address must not get the secret.
        call.followsRedirects = false
        let answer: HTTPCall.Answer
        do throws(HTTPCall.Failure) {
            answer = try call.answer(bytesMax: OAuthToken.bytesMax)
        } catch {
            throw .token("the token endpoint does not answer: \(error.detail)", "Check kafka.oauth.tokenEndpoint.")
        }
        return try OAuthToken(status: answer.status, body: answer.body, at: ServiceClock.wall)
    }
}
