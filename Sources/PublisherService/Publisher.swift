import HubIO
import KafkaIO
public import Logging
import NIOCore
import NIOPosix
import NIOSSL
import NewsModel
import NotificationHub
import PublishEngine
import Synchronization
public import Tracing

/// The service: reads news, posts notifications, reports outcomes, until it is told to stop.
///
/// ```swift
/// let publisher = try Publisher(settings: settings, log: log)
/// try await publisher.run()          // elsewhere: publisher.drain()
/// ```
public final class Publisher: Sendable {
    public let telemetry: Telemetry
    private let settings: PublisherSettings
    private let router: Router
    private let builder: PayloadBuilder
    private let tls: NIOSSLContext?
    private let log: Logger
    private let tracer: (any Tracer)?
    private let life: AsyncStream<Event>
    private let events: AsyncStream<Event>.Continuation

    private enum Event: Sendable {
        case drain
        case pause(lane: Int, Bool)
        case reload(Reload, categories: [String])
        case finished(shard: Int)
        case failed(PublisherFailure)
        case closed(shard: Int)
    }

    /// Checks the settings that only show their faults when used; connects to nothing.
    ///
    /// - Parameter tracer: makes a span of every request to the hub; `nil` costs nothing.
    public init(settings: PublisherSettings, log: Logger, tracer: (any Tracer)? = nil) throws(PublisherFailure) {
        do {
            router = try Router(table: settings.table, unroutable: settings.unroutable)
            builder = try PayloadBuilder(settings.payload)
            tls = settings.connection.endpoint.scheme == .https ? try settings.trustRoots.makeContext() : nil
        } catch {
            throw .settings("\(error)")
        }
        self.settings = settings
        self.log = log
        self.tracer = tracer
        telemetry = Telemetry(settings: settings)
        (life, events) = AsyncStream.makeStream()
    }

    /// Shuts down in order: nothing new is sent, replies are awaited, results stored, offsets committed, groups left.
    /// From any thread, more than once, also before `run`.
    public func drain() {
        telemetry.isDraining()
        events.yield(.drain)
    }

    /// Stops a lane, or lets it go on; what is in flight is finished. It lasts as long as the process, and holds for no other.
    ///
    /// - Returns: `false` when there is no such lane.
    public func pause(lane name: String, _ isPaused: Bool) -> Bool {
        guard let lane = settings.engine.lanes.firstIndex(where: { $0.name == name }) else { return false }
        events.yield(.pause(lane: lane, isPaused))
        return true
    }

    /// Puts rate, categories, `unroutable` and the message in force; everything else stays as it was. Each event goes wholly
    /// by the old settings or wholly by the new. From any thread, also before `run`; reloads take effect in turn.
    ///
    /// - Throws: what is wrong with the new settings; then nothing changes.
    public func reload(_ new: PublisherSettings) throws(PublisherFailure) {
        let payload = PayloadSettings(mode: settings.payload.mode, message: new.payload.message)
        let desk: Desk
        do {
            desk = Desk(
                router: try Router(table: new.table, unroutable: new.unroutable), builder: try PayloadBuilder(payload))
        } catch {
            throw .settings("\(error)")
        }
        let categories = telemetry.reloaded(rate: new.engine.rate, categories: new.table.categories.map(\.name))
        events.yield(.reload(Reload(rate: new.engine.rate, desk: desk), categories: categories))
    }

    /// Runs until `drain`, or until everything that stood on the topics at the start is settled and committed.
    public func run(untilCaughtUp: Bool = false) async throws(PublisherFailure) {
        let preflight = try await checked(untilCaughtUp)
        for warning in preflight.warnings { log.warning("topics", metadata: ["warning": "\(warning)"]) }
        let catchUp = CatchUp(ends: preflight.ends)
        if untilCaughtUp {
            guard !catchUp.isDone else {
                log.info("nothing to do: everything on the topics is committed")
                return
            }
            telemetry.onCommit { [events] offsets in
                if catchUp.committed(offsets) { events.yield(.drain) }
            }
        }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: settings.shards)
        let outcome = await live(on: group, preflight, untilCaughtUp ? catchUp : nil)
        try? await group.shutdownGracefully()
        if let failure = outcome { throw failure }
    }

    private func checked(_ measuringEnds: Bool) async throws(PublisherFailure) -> Preflight {
        do {
            return try await NIOThreadPool.singleton.runIfActive { [settings] in
                try Preflight(settings, measuringEnds: measuringEnds)
            }
        } catch let failure as PublisherFailure {
            throw failure
        } catch {
            throw .settings("\(error)")
        }
    }

    /// The time between start and end; what went wrong, if anything.
    private func live(
        on group: MultiThreadedEventLoopGroup, _ preflight: Preflight, _ catchUp: CatchUp?
    ) async -> PublisherFailure? {
        let loops = (0..<settings.shards).map { _ in group.next() }
        let shards = Mailboxes(loops.map { _ in Mailbox() })
        let subscriptions = zip(settings.engine.lanes, preflight.lanePartitions).map {
            LaneSubscription(name: $0.name, topics: $0.topics, partitionCount: $1)
        }
        let bridge: KafkaBridge
        do {
            bridge = try KafkaBridge(
                settings: settings.kafka, lanes: subscriptions, resultsTopic: settings.engine.resultsTopic,
                shards: settings.shards,
                deliver: { [events] shard, batch in
                    loops[shard].execute { shards[shard].shard?.value.take(batch) }
                    if batch.contains(where: { if case .closed = $0 { true } else { false } }) {
                        events.yield(.closed(shard: shard))
                    }
                })
        } catch {
            return .kafka(error)
        }
        for (index, loop) in loops.enumerated() {
            let finish: @Sendable (Result<Void, PublisherFailure>) -> Void = { [events] result in
                switch result {
                case .success: events.yield(.finished(shard: index))
                case .failure(let failure): events.yield(.failed(failure))
                }
            }
            try? await loop.submit { [self] in
                let shard = Shard(
                    index: index, eventLoop: loop, settings: settings, router: router, builder: builder, tls: tls,
                    bridge: bridge, telemetry: telemetry, clock: telemetry.clock, log: log, tracer: tracer,
                    onFinish: finish)
                for (lane, count) in preflight.lanePartitions.enumerated() {
                    shard.take(.partitionCount(lane: lane, count))
                }
                shards[index].shard = NIOLoopBound(shard, eventLoop: loop)
            }.get()
        }
        bridge.start()
        let rounds = Rounds(
            settings: settings, telemetry: telemetry, log: log, catchUp: catchUp,
            onCaughtUp: { [events] in events.yield(.drain) })
        rounds.start()
        let failure = await watch(loops, shards, bridge)
        rounds.stop()
        for (index, loop) in loops.enumerated() {
            try? await loop.submit {
                shards[index].shard?.value.close()
                shards[index].shard = nil
            }.get()
        }
        return failure
    }

    /// Follows the events of a life to its end: drain → every shard finished → bridge closed.
    private func watch(_ loops: [any EventLoop], _ shards: Mailboxes, _ bridge: KafkaBridge) async -> PublisherFailure?
    {
        var unfinished = Set(loops.indices)
        var open = Set(loops.indices)
        var failure: PublisherFailure?
        var isDraining = false
        for await event in life {
            switch event {
            case .drain:
                guard !isDraining else { continue }
                isDraining = true
                telemetry.isDraining()
                log.info("draining: no new sends; replies are awaited, results stored, offsets committed")
                for (index, loop) in loops.enumerated() {
                    loop.execute { shards[index].shard?.value.take(.drain) }
                }
            case .pause(let lane, let isPaused):
                for (index, loop) in loops.enumerated() {
                    loop.execute { shards[index].shard?.value.take(.pause(lane: lane, isPaused)) }
                }
            case .reload(let reload, let categories):
                for (index, loop) in loops.enumerated() {
                    loop.execute { shards[index].shard?.value.reload(reload, categories: categories) }
                }
            case .finished(let shard):
                unfinished.remove(shard)
                if unfinished.isEmpty { bridge.close() }
            case .failed(let reason):
                failure = failure ?? reason
                bridge.close()
            case .closed(let shard):
                open.remove(shard)
                if open.isEmpty { return failure }
            }
        }
        return failure
    }
}

/// Where a shard stands once its loop has made it. Touched only on that loop.
private final class Mailbox: @unchecked Sendable {
    var shard: NIOLoopBound<Shard>?
}

private struct Mailboxes: Sendable {
    private let mailboxes: [Mailbox]
    init(_ mailboxes: [Mailbox]) { self.mailboxes = mailboxes }
    subscript(index: Int) -> Mailbox { mailboxes[index] }
}
