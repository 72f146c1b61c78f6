import ByteText
import FeedIO
import Feeds
import HTTPServing
import NewsModel
import Synchronization
import TestSupport
import Testing

/// The least that follows one feed by push: it fetches, asks the hub, and answers the hub's calls, over real HTTP.
final class PushDesk: Sendable {
    private struct State {
        var subscription = Subscription()
        var now = Instant(milliseconds: 1_780_000_000_000)
        var random = SeededRandom(seed: 14)
        var deliveries: [Subscription.Delivery] = []
    }

    let port: Int
    private let hub: FakeWebSubHub
    private let state = Mutex(State())

    private init(hub: FakeWebSubHub, port: Int) {
        self.hub = hub
        self.port = port
    }

    /// Runs a test between a hub and a desk, and stops both.
    static func run(_ body: (PushDesk, FakeWebSubHub) async throws -> Void) async throws {
        let hub = FakeWebSubHub()
        let hubServer = try await hub.start()
        let (calls, handed) = AsyncStream<(CallbackID, WebSubCall)>.makeStream()
        let publicURL = try #require(WebAddress("https://push.example/websub/"))
        let server = WebSubServer(WebSubServerSettings(publicURL: publicURL, port: 0)) { handed.yield(($0, $1)) }
        let running = try await server.start()
        let desk = PushDesk(hub: hub, port: running.port)
        let answering = Task { for await (id, call) in calls { server.answer(id, desk.answer(call)) } }
        do {
            try await body(desk, hub)
        } catch {
            Issue.record(error)
        }
        handed.finish()
        await answering.value
        await running.stop()
        await hubServer.stop()
    }

    private func answer(_ call: WebSubCall) -> WebSubAnswer {
        state.withLock { state in
            switch call.kind {
            case .verification(let query):
                return state.subscription.verify(query, path: call.path, at: state.now).answer
            case .delivery(let headers, let body):
                let result = state.subscription.receive(headers: headers, body: body, path: call.path, at: state.now)
                state.deliveries.append(result.delivery)
                return result.answer
            }
        }
    }

    var subscription: Subscription { state.withLock(\.subscription) }
    var deliveries: [Subscription.Delivery] { state.withLock(\.deliveries) }
    var base: String { "http://127.0.0.1:\(port)/websub/" }

    func wait(_ seconds: Int64) { state.withLock { $0.now = $0.now + .seconds(seconds) } }
    func forget() { state.withLock { $0.subscription = Subscription() } }

    /// Fetches a page and learns of its hub. A web page's links are read as those of a feed.
    func discover(_ path: String) async throws {
        var url = hub.url(path)
        var reply = try await hub.call("GET", url)
        while let target = reply.headers["location"], (300...399).contains(reply.status) {
            url = WebAddress.resolve(target, base: url) ?? ""
            reply = try await hub.call("GET", url)
        }
        var answer = FetchAnswer(status: reply.status, finalURL: url)
        if let link = reply.headers["link"] { answer.headers.append(HeaderField("link", link)) }
        let source: PushSource?
        do {
            answer.document = .feed(try FeedReader.read(reply.body, from: DocumentSource(address: url)))
            source = PushSource(answer)
        } catch {
            source = PushSource(
                headers: answer.headers.map(\.value), document: HubLinks(page: reply.body, base: url), address: url)
        }
        state.withLock { $0.subscription.learn(source, at: $0.now) }
    }

    /// Posts what is due to the hub, as the fetcher does it: 307 and 308 repeat the form at the new address. The hub
    /// verifies after its answer.
    /// - Returns: the form, or `nil` if nothing is due.
    @discardableResult
    func ask() async throws -> [String: String]? {
        let due = state.withLock { state in
            state.subscription.request(
                base: base, at: state.now, allowPrivate: ["127.0.0.1"], using: &state.random)
        }
        guard let due else { return nil }
        let body = due.form.map { "\($0.name.percentEncoded)=\($0.value.percentEncoded)" }.joined(separator: "&")
        let headers = [("Content-Type", "application/x-www-form-urlencoded")]
        var url = due.url
        var reply = try await hub.call("POST", url, headers: headers, body: body)
        while reply.status == 307 || reply.status == 308, let target = reply.headers["location"] {
            url = WebAddress.resolve(target, base: url) ?? ""
            reply = try await hub.call("POST", url, headers: headers, body: body)
        }
        let answer = FetchAnswer(status: reply.status, finalURL: url)
        state.withLock { _ = $0.subscription.answered(.answered(answer), at: $0.now) }
        let form = Dictionary(due.form.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        if reply.status == 202 { try await hub.verify(form) }
        return form
    }
}
