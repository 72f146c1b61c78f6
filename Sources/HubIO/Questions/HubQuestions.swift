public import HubModel
public import NIOCore
internal import NIOPosix
public import NIOSSL
public import NewsModel
public import NotificationHub
internal import ServerIdentity

/// Sends questions (GET) to one hub over a few keep-alive connections of its own, each of which carries one at a time.
/// Meant for occasional questions; `SenderPool` sends notifications.
///
/// Confined to one event loop: create, call and close it there. Never retries; the caller decides.
public final class HubQuestions {
    /// An answer with its body. Replies to sends do not keep theirs.
    public struct Answer: Sendable, Hashable {
        public var reply: HubReply
        public var body: [UInt8]
        /// The hub's time, from the reply's `Date`.
        public var date: Instant?
    }

    let eventLoop: any EventLoop
    let endpoint: HubEndpoint
    let limits: SenderLimits
    private let tls: NIOSSLContext?
    private let userAgent: String
    private var idle: [QuestionConnection] = []
    private var busy: [ObjectIdentifier: QuestionConnection] = [:]

    /// The value of `Authorization` for the next questions; empty to omit it.
    public var authorization = ""

    /// - Parameters:
    ///   - limits: `connections` is the most questions in flight; `bodyBytesMax` limits an answer.
    ///   - tls: see `TrustRoots`; required for an `https` endpoint, unused for `http`.
    public init(
        eventLoop: any EventLoop, endpoint: HubEndpoint, limits: SenderLimits, tls: NIOSSLContext?,
        userAgent: String = "newswire"
    ) {
        precondition((endpoint.scheme == .https) == (tls != nil), "a TLS context belongs to https alone")
        self.eventLoop = eventLoop
        self.endpoint = endpoint
        self.limits = limits
        self.tls = tls
        self.userAgent = userAgent
    }

    /// - Parameters:
    ///   - target: the target in the request line, e.g. `HubPath.details(of:)`.
    ///   - onAnswer: called once, on the event loop, never within this call.
    public func ask(_ target: String, onAnswer: @escaping (Result<Answer, SendFailure>) -> Void) {
        eventLoop.assertInEventLoop()
        let text = """
            GET \(target) HTTP/1.1\r
            Host: \(endpoint.authority)\r
            User-Agent: \(userAgent)\r
            Authorization: \(authorization)\r
            \r\n
            """
        let values = [target, endpoint.authority, userAgent, authorization]
        let problem: SendFailure? =
            if !values.allSatisfy(\.isWritable) || target.utf8.contains(0x20) {
                SendFailure(.invalidRequest, "a value cannot stand in an HTTP request")
            } else if busy.count >= limits.connections {
                SendFailure(.queueFull, "as many questions as may be are under way")
            } else {
                nil
            }
        if let problem {
            return eventLoop.assumeIsolated().execute { onAnswer(.failure(problem)) }
        }
        let connection = idle.popLast() ?? QuestionConnection(self)
        busy[ObjectIdentifier(connection)] = connection
        connection.ask(ByteBuffer(string: text)) { [weak self] result, isReusable in
            if let self {
                busy[ObjectIdentifier(connection)] = nil
                if isReusable { idle.append(connection) }
            }
            onAnswer(result)
        }
    }

    /// Ends every connection. Questions in flight fail with `poolClosed`.
    public func close() {
        eventLoop.assertInEventLoop()
        let all = idle + busy.values
        idle = []
        for connection in all { connection.end(SendFailure(.poolClosed, "the questions are closed")) }
    }

    /// Removes an idle connection that has ended.
    func forget(_ connection: QuestionConnection) { idle.removeAll { $0 === connection } }

    func makeTLSHandler() throws -> NIOSSLClientHandler? {
        try tls.map { try ServerIdentity.makeHandler($0, host: endpoint.host) }
    }
}

extension String {
    /// True for visible ASCII and spaces, which cannot end the request line.
    fileprivate var isWritable: Bool { utf8.allSatisfy { (0x20...0x7E).contains($0) } }
}
