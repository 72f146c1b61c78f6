import Feeds
import Foundation
import KafkaIO
import Logging
import NIOCore
import NewsModel

/// Carries out the decisions of an `Ingester`. Runs on one event loop.
final class IngestCore: @unchecked Sendable {
    // Created on one thread, then used only on the loop.
    let loop: any EventLoop
    /// `nil` until the layout of the state topic is known.
    private var ingester: Ingester?
    /// Inputs that arrived before the ingester existed.
    private var early: [IngestInput] = []
    private let fetcher: Fetcher
    private let log: Logger
    private let clock: ServiceClock
    private var store: (any FeedStore)?
    private var fetches: [FetchID: RunningFetch] = [:]
    private var answer: @Sendable (CallbackID, WebSubAnswer) -> Void = { _, _ in }
    var books: StateBooks?
    /// Partitions of the last revocation that still have work in flight.
    private var leaving: Set<Int32> = []
    private var alarm: Scheduled<Void>?
    /// Succeeds once everything is finished after `finish`.
    let finished: EventLoopPromise<Void>

    init(fetcher: Fetcher, loop: any EventLoop, log: Logger, clock: ServiceClock = ServiceClock()) {
        self.fetcher = fetcher
        self.loop = loop
        self.log = log
        self.clock = clock
        finished = loop.makePromise()
    }

    // MARK: Any thread

    /// Must be called once, before the store delivers anything.
    func begin(_ settings: IngestSettings, storingIn store: any FeedStore) {
        loop.execute {
            self.store = store
            self.ingester = Ingester(settings)
            for input in self.early { self.handle(input) }
            self.early = []
        }
    }

    func hand(_ input: IngestInput) { loop.execute { self.handle(input) } }

    /// - Parameter answer: answers a call of a WebSub hub; any thread.
    func use(answering answer: @escaping @Sendable (CallbackID, WebSubAnswer) -> Void) {
        loop.execute { self.answer = answer }
    }

    // MARK: The loop

    var statuses: [FeedStatus] { ingester?.status(at: clock.now) ?? [] }

    /// Time for which records on the state topic could not be read back.
    var unreadFor: Duration? { ingester?.unreadSince.map { clock.now.steady - $0 } }

    /// Time for which Kafka has not taken a write of a feed.
    var unwrittenFor: Duration? { ingester?.unwrittenSince.map { clock.now.steady - $0 } }

    var isBusy: Bool { ingester?.isBusy ?? false }

    func handle(_ input: IngestInput) {
        guard ingester != nil else {
            switch input {
            case .finish: finished.succeed()
            // The hub repeats its call. Calls are not buffered, because anyone can make them.
            case .called(let id, _): answer(id, WebSubAnswer(status: 503))
            default: early.append(input)
            }
            return
        }
        switch input {
        case .revoked(let partitions): leaving = Set(partitions)
        case .assigned, .lost: leaving = []
        default: break
        }
        for action in ingester?.handle(input, at: clock.now) ?? [] { carryOut(action) }
    }

    private func carryOut(_ action: IngestAction) {
        switch action {
        case .fetch(let id, let request): follow(fetcher.fetch(request), id)
        case .post(let id, let request): follow(fetcher.post(request), id)
        case .cancel(let id): fetches[id]?.cancel()
        case .store(let write, let partition, let records): store?.store(write, partition: partition, records)
        case .publish(let write, let lane, let events): store?.publish(write, lane: lane, events)
        case .answer(let id, let text): answer(id, text)
        case .wake(let time): wake(at: time)
        case .released(let partitions): release(partitions)
        case .finished: finished.succeed()
        case .note(let note): log.log(note)
        }
    }

    private func follow(_ fetch: RunningFetch, _ id: FetchID) {
        fetches[id] = fetch
        fetch.result.hop(to: loop).whenSuccess { result in
            self.fetches[id] = nil
            self.handle(.fetched(id, result))
        }
    }

    /// Releases partitions to the group together, once none of them has anything in flight.
    private func release(_ partitions: [Int32]) {
        guard !leaving.isEmpty else { return }
        leaving.subtract(partitions)
        if leaving.isEmpty { store?.release() }
    }

    private func wake(at time: Instant) {
        alarm?.cancel()
        alarm = loop.scheduleTask(deadline: .uptimeNanoseconds(clock.uptimeNanoseconds(of: time))) {
            self.handle(.tick)
        }
    }

    /// Cancels everything that waits, because nobody handles it any more.
    func end() {
        alarm?.cancel()
        for fetch in fetches.values { fetch.cancel() }
        finished.succeed()
    }
}

extension Logger {
    fileprivate func log(_ note: IngestNote) {
        let level: Level =
            switch note.level {
            case .debug: .debug
            case .info: .info
            case .notice: .notice
            case .warning: .warning
            case .error: .error
            }
        log(level: level, "\(note.text)", metadata: note.feed.map { ["feed": "\($0)"] })
    }
}
