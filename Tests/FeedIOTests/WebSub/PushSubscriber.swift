import Feeds
import Foundation
import HTTPServing
import KafkaIO
import Logging
import NIOCore
import NIOPosix
import NewsModel
import Synchronization
import TestSupport
import Testing

@testable import FeedIO

/// One feed followed by push, as in `newswire ingest`. The ingester, its fetches and the server for hubs are real and
/// use real HTTP. Only Kafka and the time are simulated.
final class PushSubscriber: Sendable {
    let store = MemoryFeedStore()
    private let hub: FakeWebSubHub
    private let fetcher: TestFetcher
    private let core: Mutex<IngestCore>
    private let settings: Mutex<IngestSettings>
    private let ahead = Travel()
    private let server = Mutex<WebSubServer?>(nil)

    private final class Travel: Sendable {
        let time = Mutex(Duration.zero)
    }

    private init(hub: FakeWebSubHub) throws {
        self.hub = hub
        fetcher = try TestFetcher()
        core = Mutex(Self.core(fetcher, ahead))
        settings = Mutex(IngestSettings())
    }

    private static func core(_ fetcher: TestFetcher, _ ahead: Travel) -> IngestCore {
        var log = Logger(label: "test")
        log.logLevel = .critical
        return IngestCore(
            fetcher: fetcher.fetcher, loop: MultiThreadedEventLoopGroup.singleton.next(), log: log,
            clock: ServiceClock { ahead.time.withLock(\.self) })
    }

    /// Runs a test with a hub and a service, and stops both.
    static func run(_ body: (PushSubscriber, FakeWebSubHub) async throws -> Void) async throws {
        let hub = FakeWebSubHub()
        let hubServer = try await hub.start()
        let service = try PushSubscriber(hub: hub)
        let publicURL = try #require(WebAddress("https://push.example/websub/"))
        let server = WebSubServer(WebSubServerSettings(publicURL: publicURL, port: 0)) { id, call in
            service.core.withLock(\.self).hand(.called(id, call))
        }
        service.server.withLock { $0 = server }
        let running = try await server.start()
        service.settings.withLock { settings in
            settings.webSubURL = "http://127.0.0.1:\(running.port)/websub/"
            settings.secret = (0..<32).map { UInt8($0) }
            settings.intervalMin = .seconds(60)
        }
        do {
            try await body(service, hub)
        } catch {
            Issue.record(error)
        }
        service.core.withLock(\.self).end()
        await running.stop()
        await hubServer.stop()
        await service.fetcher.close()
    }

    // MARK: Life

    /// Reads a feed for the first time.
    func follow(_ path: String) async throws {
        settings.withLock { settings in
            var rules = FeedRules(name: "feed", url: hub.url(path))
            rules.allowPrivate = ["127.0.0.1"]
            settings.feeds = [rules]
        }
        begin()
        try await poll()
    }

    /// Ends the process and starts another one with the stored state.
    func restart(isRestored: Bool = true) {
        core.withLock(\.self).end()
        core.withLock { $0 = Self.core(fetcher, ahead) }
        begin(isRestored: isRestored)
    }

    private func begin(isRestored: Bool = true) {
        let core = core.withLock(\.self)
        var settings = settings.withLock(\.self)
        settings.writer = UUID().uuidString
        if let server = server.withLock(\.self) { core.use { server.answer($0, $1) } }
        core.begin(settings, storingIn: store)
        store.serve({ core.hand($0) }, isRestored: isRestored)
    }

    /// Polls the feed and waits for the results.
    func poll() async throws {
        // Longer than the gap between two requests to a host.
        ahead.time.withLock { $0 += .seconds(2) }
        core.withLock(\.self).hand(.pollNow)
        try await settle()
    }

    /// Advances the time, and waits for the work that is due by then.
    func wait(_ seconds: Int64) async throws {
        ahead.time.withLock { $0 += .seconds(seconds) }
        core.withLock(\.self).hand(.tick)
        try await settle()
    }

    /// Waits until nothing is in progress, with a check after every turn of the loop.
    func settle() async throws {
        let core = core.withLock(\.self)
        while try await core.loop.submit({ core.isBusy }).get() {}
    }

    /// Lets the hub verify each form that it has accepted, after its answer.
    ///
    /// - Returns: the form, or `nil` if nothing was due.
    @discardableResult
    func ask() async throws -> [String: String]? {
        let before = hub.forms.count
        // Longer than the ingester waits for its own writes.
        try await wait(10)
        guard hub.forms.count > before, let form = hub.forms.last else { return nil }
        try await hub.verify(form)
        return form
    }

    // MARK: Results

    var now: Instant {
        ServiceClock { [ahead] in ahead.time.withLock(\.self) }.now.wall
    }

    var status: FeedStatus {
        get async throws {
            try await settle()
            let core = core.withLock(\.self)
            return try #require(try await core.loop.submit { core.statuses }.get().first)
        }
    }

    var push: PushStatus { get async throws { try await status.push } }

    /// A feed with one entry published now.
    func news(_ title: String) -> String {
        """
        <feed xmlns="http://www.w3.org/2005/Atom"><id>urn:a</id><title>A</title><entry><id>urn:\(title)</id>\
        <title>\(title)</title><published>\(now)</published><updated>\(now)</updated></entry></feed>
        """
    }
}
