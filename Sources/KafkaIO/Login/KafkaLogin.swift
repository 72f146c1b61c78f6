import CRdkafka
import Dispatch
import Foundation
public import KafkaModel
import Logging
public import NewsModel
import Synchronization

/// The login of a process's Kafka clients, which may change while they run.
///
/// librdkafka uses changed credentials for its next connections and keeps the present ones. A thread gets tokens as long as there
/// are clients, and hands each to all of them. No client is made before there is a first token.
public final class KafkaLogin: Sendable {
    private let state: Mutex<State>
    /// Held while the first token is fetched.
    private let first = Mutex(())
    /// Signaled when the thread has something to do before its next renewal.
    private let wake = DispatchSemaphore(value: 0)

    fileprivate struct State {
        var clients: [Client] = []
        /// The credentials since the last change; `nil` if clients have those of their own settings.
        var credentials: Credentials?
        var source: TokenSource?
        var token: OAuthToken?
        var renewal = TokenRenewal()
        var hasThread = false

        /// The clients that still exist.
        mutating func living() -> [RdClient] {
            clients.removeAll { $0.client == nil }
            return clients.compactMap(\.client)
        }
    }

    fileprivate struct Client {
        weak var client: RdClient?
    }

    struct Credentials: Sendable, Hashable {
        var user: String
        var password: String
    }

    /// The longest time without a look at the clock, because a suspended machine does not count the time of a wait.
    private static let pauseMax = Duration.seconds(30)

    private let startsThread: Bool

    public convenience init(_ source: TokenSource? = nil) { self.init(source, startsThread: true) }

    /// - Parameter startsThread: false for tests, which call `renew` themselves.
    init(_ source: TokenSource?, startsThread: Bool) {
        state = Mutex(State(source: source))
        self.startsThread = startsThread
    }

    /// The source of tokens; `nil` if clients log in otherwise or not at all.
    public var source: TokenSource? { state.withLock { $0.source } }

    /// The reason why clients cannot log in for want of a token, or soon cannot; `nil` if they can.
    public var problem: KafkaFailure? { state.withLock { $0.renewal.problem(at: ServiceClock.boot) } }

    var credentials: Credentials? { state.withLock { $0.credentials } }
    var clientCount: Int { state.withLock { $0.living().count } }

    /// The same as a reason of `/readyz`.
    public var notReady: ReadinessReason? { problem.map { .init(kafkaToken: $0) } }

    /// Applies the credentials and the source of tokens of other settings to all clients, those in use and later ones. Any thread.
    public func change(to settings: KafkaSettings) {
        let credentials = Credentials(settings.properties)
        let source = settings.login.source
        let clients = state.withLock { state in
            state.credentials = credentials
            // Clients that began without tokens cannot use them.
            if let source, state.source != nil, state.source != source {
                state.source = source
                state.renewal.hurry()
            }
            return state.living()
        }
        if let credentials { for client in clients { client.use(credentials) } }
        wake.signal()
    }

    /// Gets the first token, so that a missing one is reported at once. Blocks for a few seconds at most.
    func prepare() throws(KafkaFailure) {
        try first.withLock { _ throws(KafkaFailure) in
            guard let source = state.withLock({ $0.token == nil ? $0.source : nil }) else { return }
            try renew(from: source) { ServiceClock.boot }.get()
        }
    }

    /// Adds a new client, which gets the present credentials or token.
    func add(_ client: RdClient) {
        let (credentials, token, isFirst) = state.withLock { state in
            state.clients.removeAll { $0.client == nil }
            state.clients.append(Client(client: client))
            let isFirst = state.source != nil && !state.hasThread
            if isFirst { state.hasThread = true }
            return (state.credentials, state.tokenInUse(at: ServiceClock.boot), isFirst)
        }
        if let credentials { client.use(credentials) }
        if let token { client.use(token.token, token.extensions) }
        if isFirst, startsThread { Thread.start("kafka-token") { self.run() } }
    }

    // MARK: Tokens

    private func run() {
        while let pause = renew() {
            _ = wake.wait(timeout: .now() + .nanoseconds(Int(min(pause, Self.pauseMax).nanoseconds)))
        }
    }

    /// Gets a token if it is time for that. Blocks for a few seconds at most.
    ///
    /// - Returns: the time until the next renewal; `nil` if no client exists any more.
    func renew(now: () -> Instant = { ServiceClock.boot }) -> Duration? {
        let (isNeeded, due) = state.withLock { state in
            if state.living().isEmpty { state.hasThread = false }
            return (state.hasThread, now() >= state.renewal.due ? state.source : nil)
        }
        guard isNeeded else { return nil }
        if let due { _ = renew(from: due, now) }
        return state.withLock { max($0.renewal.due - now(), .zero) }
    }

    private func renew(from source: TokenSource, _ now: () -> Instant) -> Result<Void, KafkaFailure> {
        let result = Result { () throws(KafkaFailure) in try source.token() }
        let log = Logger(label: "newswire")
        let (clients, isValid) = state.withLock { state in
            switch result {
            // The settings have changed meanwhile.
            case _ where state.source != source: return ([RdClient](), true)
            case .success(let token):
                state.renewal.received(token, at: now())
                state.token = token
            case .failure(let failure): state.renewal.failed(failure, at: now())
            }
            return (state.living(), now() < state.renewal.validUntil)
        }
        switch result {
        case .success(let token):
            log.debug("token for Kafka renewed", metadata: ["seconds": "\(token.lifetime.components.seconds)"])
            for client in clients { client.use(token, source.extensions) }
        case .failure(let failure):
            // `/readyz` and the clients' errors report it to people.
            log.debug("token for Kafka not renewed", metadata: ["reason": "\(failure)"])
            if !isValid { for client in clients { client.lacksToken(failure) } }
        }
        return result.map { _ in }
    }
}

extension KafkaLogin.Credentials {
    /// - Returns: `nil` unless the properties have both.
    init?(_ properties: [String: String]) {
        guard let user = properties["sasl.username"], let password = properties["sasl.password"] else { return nil }
        self.init(user: user, password: password)
    }
}

extension KafkaLogin.State {
    /// The token with its remaining lifetime; `nil` if there is none or it has ended.
    fileprivate func tokenInUse(at now: Instant) -> (token: OAuthToken, extensions: [String: String])? {
        guard var token, renewal.validUntil > now else { return nil }
        token.lifetime = renewal.validUntil - now
        return (token, source?.extensions ?? [:])
    }
}

extension RdClient {
    fileprivate func use(_ credentials: KafkaLogin.Credentials) {
        guard let error = rd_kafka_sasl_set_credentials(handle, credentials.user, credentials.password) else { return }
        rd_kafka_error_destroy(error)
    }

    fileprivate func use(_ token: OAuthToken, _ extensions: [String: String]) {
        let end = (ServiceClock.wall + token.lifetime).milliseconds
        var text = [CChar](repeating: 0, count: 512)
        // Names and values alternate.
        let copies: [UnsafeMutablePointer<CChar>?] = extensions.flatMap { [strdup($0.key), strdup($0.value)] }
        defer { for copy in copies { free(copy) } }
        var fields = copies.map { copy in copy.map { UnsafePointer($0) } }
        let error = rd_kafka_oauthbearer_set_token(
            handle, token.text, end, token.subject.isEmpty ? "newswire" : token.subject, &fields, fields.count, &text,
            text.count)
        guard error != RD_KAFKA_RESP_ERR_NO_ERROR else { return }
        // Without librdkafka's words, which may repeat the token.
        lacksToken(.token("librdkafka refuses the token or kafka.oauth.extensions", "Look at what issues the token."))
    }

    fileprivate func lacksToken(_ failure: KafkaFailure) {
        rd_kafka_oauthbearer_set_token_failure(handle, failure.description)
    }
}
