import ByteText
import Crypto
import HTTPServing
import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization
import TestSupport

/// A publisher and its WebSub hub on a port of their own, over HTTP. Pages name the hub in every way. The hub verifies
/// requests and signs its deliveries.
final class FakeWebSubHub: Sendable {
    /// The behavior of the hub.
    struct Manners: Sendable {
        /// The answer to a request for a subscription.
        var status = 202
        /// Redirects from `/hub` to `/hub/moved`, if given.
        var movedBy: Int?
        var refusesLease = false
        /// The lease that the hub grants; `nil` for the requested one.
        var lease: String?
        var mode = "subscribe"
        /// A topic to verify instead of the requested one.
        var topic: String?
        var verifies = true
    }

    struct Page: Sendable {
        var status = 200
        var headers: [(String, String)] = []
        var body = ""
    }

    struct Subscriber: Sendable, Hashable {
        var callback: String
        var topic: String
        var secret: String?
    }

    private struct State {
        var pages: [String: Page] = [:]
        var manners = Manners()
        var forms: [[String: String]] = []
        var subscribers: [Subscriber] = []
        var verifications: [RawClient.Reply] = []
        var port = 0
    }

    private let state = Mutex(State())

    func start() async throws -> RunningServer {
        let server = try await RunningServer.start(
            Responder(hub: self), host: "127.0.0.1", port: 0,
            limits: ConnectionLimits(
                firstByte: .seconds(120), head: .seconds(120), body: .seconds(120), idle: .seconds(120),
                write: .seconds(120), connectionsMax: 64, streamsMax: 2))
        state.withLock { $0.port = server.port }
        return server
    }

    func url(_ path: String) -> String { "http://127.0.0.1:\(state.withLock(\.port))" + path }

    func serve(_ path: String, _ page: Page) { state.withLock { $0.pages[path] = page } }

    func behave(_ change: (inout Manners) -> Void) { state.withLock { change(&$0.manners) } }

    var forms: [[String: String]] { state.withLock(\.forms) }
    /// Subscribers that answered the verification with the challenge, in order.
    var subscribers: [Subscriber] { state.withLock(\.subscribers) }
    /// The answers to verifications.
    var verifications: [RawClient.Reply] { state.withLock(\.verifications) }

    // MARK: As a hub

    /// Verifies an accepted form as hubs do: after the answer to the form, by a GET of the callback.
    func verify(_ form: [String: String]) async throws {
        let manners = state.withLock(\.manners)
        guard manners.verifies, let callback = form["hub.callback"], let topic = form["hub.topic"] else { return }
        let query = [
            "hub.mode": manners.mode, "hub.topic": manners.topic ?? topic, "hub.challenge": "c h+a&l%lenge",
            "hub.lease_seconds": manners.lease ?? form["hub.lease_seconds"] ?? "86400", "hub.reason": "because",
        ]
        let text = query.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.percentEncoded)" }
        let reply = try await call("GET", callback + "?" + text.joined(separator: "&"))
        state.withLock { state in
            state.verifications.append(reply)
            guard reply.status == 200, reply.text == query["hub.challenge"], manners.mode == "subscribe" else { return }
            state.subscribers.append(Subscriber(callback: callback, topic: topic, secret: form["hub.secret"]))
        }
    }

    enum Signature { case sha1, sha256, wrong, missing }

    func deliver(
        _ body: String, to subscriber: Subscriber, signed signature: Signature = .sha256,
        isLatin1: Bool = false
    ) async throws -> RawClient.Reply {
        let type = "application/atom+xml" + (isLatin1 ? "; charset=\"ISO-8859-1\"" : "")
        var headers = [("Content-Type", type), ("Link", "<https://other.example/>; rel=self")]
        let key = SymmetricKey(data: Array((subscriber.secret ?? "").utf8))
        let bytes = isLatin1 ? body.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } : Array(body.utf8)
        switch signature {
        case .sha1:
            let code = HMAC<Insecure.SHA1>.authenticationCode(for: bytes, using: key)
            headers.append(("X-Hub-Signature", "sha1=" + Self.hex(code)))
        case .sha256:
            let code = HMAC<SHA256>.authenticationCode(for: bytes, using: key)
            headers.append(("X-Hub-Signature", "sha256=" + Self.hex(code)))
        case .wrong: headers.append(("X-Hub-Signature", "sha256=" + String(repeating: "ab", count: 32)))
        case .missing: break
        }
        return try await call("POST", subscriber.callback, headers: headers, bytes: bytes)
    }

    private static func hex(_ code: some Sequence<UInt8>) -> String {
        String(decoding: code.flatMap { [UInt8(hexDigitOf: $0 >> 4), UInt8(hexDigitOf: $0)] }, as: UTF8.self)
    }

    /// Calls an address on this machine.
    func call(
        _ method: String, _ url: String, headers: [(String, String)] = [], bytes: [UInt8] = []
    ) async throws -> RawClient.Reply {
        let rest = url.dropFirst("http://127.0.0.1:".count)
        let port = rest.prefix { $0 != "/" }
        return try await RawClient.call(
            Int(port) ?? 0, method, String(rest.dropFirst(port.count)), headers: headers, bytes: bytes)
    }

    // MARK: As a server

    private struct Responder: HTTPResponder {
        let hub: FakeWebSubHub

        func respond(to request: Request, context: ConnectionContext) async throws -> Response {
            let body = String(buffer: try await request.body.collect(upTo: 65_536))
            let page = hub.answer(request.method, request.uri.path, body)
            var headers = HTTPFields()
            for (name, value) in page.headers {
                if let name = HTTPField.Name(name) { headers.append(HTTPField(name: name, value: value)) }
            }
            return Response(
                status: .init(code: page.status), headers: headers,
                body: ResponseBody(byteBuffer: ByteBuffer(string: page.body)))
        }
    }

    private func answer(_ method: HTTPRequest.Method, _ path: String, _ body: String) -> Page {
        state.withLock { state in
            switch (method, path) {
            case (.get, _): return state.pages[path] ?? Page(status: 404)
            case (.post, "/hub") where state.manners.movedBy != nil:
                return Page(status: state.manners.movedBy ?? 0, headers: [("Location", "/hub/moved")])
            case (.post, "/hub"), (.post, "/hub/moved"):
                var form: [String: String] = [:]
                for field in body.split(separator: "&") {
                    let sides = field.split(separator: "=", omittingEmptySubsequences: false)
                    guard sides.count == 2, let name = sides[0].percentDecoded(plusIsSpace: true) else {
                        return Page(status: 400, body: "not a form")
                    }
                    form[name] = sides[1].percentDecoded(plusIsSpace: true)
                }
                if state.manners.refusesLease, form["hub.lease_seconds"] != nil { return Page(status: 400) }
                state.forms.append(form)
                return Page(status: state.manners.status)
            default: return Page(status: 405)
            }
        }
    }
}
