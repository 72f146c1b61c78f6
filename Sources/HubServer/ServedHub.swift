import Foundation
import HubEmulator
import NIOCore
import NIOPosix
import NotificationHub
import ServiceLifecycle
import Synchronization

/// The hubs and their lock, shared by all connections.
final class ServedHub: Sendable {
    /// A random id of this start. Registrations of an earlier run may be lost.
    let run = String(UInt64.random(in: 0 ... .max), radix: 36)
    let streams = DeliveryStreams()
    /// Signals that there are deliveries to make.
    let wakes: AsyncStream<Void>

    private let clock = ServerClock()
    private let hubs: Mutex<EmulatedNamespace>
    private let wake: AsyncStream<Void>.Continuation
    private let alarm = Mutex<HubTime?>(nil)
    private let store: HubStore?
    /// The most recent sends that were not accepted.
    private let refused = Mutex(BoundedLog<RefusedSend>(countMax: 20))

    init(_ hubs: consuming EmulatedNamespace, store: HubStore?) {
        self.hubs = Mutex(hubs)
        self.store = store
        (wakes, wake) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        wake.yield()
    }

    var now: HubTime { clock.now }

    var settings: HubSettings { withHub { $0.settings } }

    func jobsContainerURL(base: String) -> String {
        let expires = clock.now.advanced(byMilliseconds: 365 * 86_400_000)
        return hubs.withLock { $0.jobsContainerURL(base: base, until: expires) }
    }

    /// The longest body of this request that `handle` accepts, in bytes.
    func bodyLengthMax(of request: HubHTTPRequest) -> Int {
        hubs.withLock { $0.bodyLengthMax(of: request, at: clock.now) }
    }

    func handle(_ request: HubHTTPRequest) -> HubHTTPResponse {
        let now = clock.now
        let response = answer(request, at: now)
        if let refusal = RefusedSend(request, response, at: now) { refused.withLock { $0.append(refusal) } }
        return response
    }

    private func answer(_ request: HubHTTPRequest, at now: HubTime) -> HubHTTPResponse {
        // Blobs are kept in memory only.
        let isStored =
            !["GET", "HEAD"].contains(request.method) && !EmulatedNamespace.isStorage(request.target)
        // Refused before it is carried out, because its client repeats it, and otherwise each repetition would count.
        if isStored, let problem = store?.retry() { return unstored(request, problem) }
        let (response, hasChanges, hasWork) = hubs.withLock { hubs in
            let response = hubs.handle(request, at: now)
            return (response, keepChanges(of: &hubs), hubs.hasWork(at: now) || hubs.wakeAt != nil)
        }
        if hasWork { wake.yield() }
        // Changes are stored before the answer is sent, so that a hub that is killed afterwards keeps everything it has
        // confirmed.
        guard hasChanges, let problem = store?.save() else { return response }
        // The delivery loop retries the store even without further calls.
        wake.yield()
        return isStored ? unstored(request, problem) : response
    }

    /// Passes the hubs' changes to the store. Returns true if there were any.
    private func keepChanges(of hubs: inout EmulatedNamespace) -> Bool {
        guard let store else { return false }
        let changes = hubs.takeChanges()
        store.keep(changes)
        return !changes.isEmpty
    }

    private func unstored(_ request: HubHTTPRequest, _ problem: HubServerProblem) -> HubHTTPResponse {
        unavailable(request, "The store cannot be written: \(problem.cause)", retryAfter: 5)
    }

    /// The answer to a request that the server cannot serve now; see `EmulatedNamespace.unavailable`.
    func unavailable(_ request: HubHTTPRequest, _ message: String, retryAfter: Int64) -> HubHTTPResponse {
        hubs.withLock { $0.unavailable(request, message, retryAfter: retryAfter, at: clock.now) }
    }

    /// Makes some deliveries. Returns true if more are due now.
    func deliverSome(_ limit: Int) -> Bool {
        let now = clock.now
        guard store?.retry() == nil else { return pause(at: now) }
        let (deliveries, hasMore, wakeAt) = hubs.withLock { hubs in
            let deliveries = hubs.deliver(limit: limit, at: now)
            _ = keepChanges(of: &hubs)
            return (deliveries, hubs.hasWork(at: now), hubs.wakeAt)
        }
        for (hub, deliveries) in deliveries where !deliveries.isEmpty { streams.publish(deliveries, of: hub) }
        guard store?.save() == nil else { return pause(at: now) }
        if !hasMore, let wakeAt { arm(wakeAt, at: now) }
        return hasMore
    }

    /// Delays deliveries because the store cannot be written.
    private func pause(at now: HubTime) -> Bool {
        arm(now.advanced(byMilliseconds: 1000), at: now)
        return false
    }

    /// Sets an alarm unless an earlier one is pending. None is cancelled, because an additional alarm does no harm.
    private func arm(_ time: HubTime, at now: HubTime) {
        let delay = min(max(1, time.millisecondsSince(now)), 86_400_000)
        let ring = now.advanced(byMilliseconds: delay)
        let isNeeded = alarm.withLock { alarm in
            // An alarm that is nearly due may already have started to fire.
            if let next = alarm, next.millisecondsSince(now) > 100, next <= ring { return false }
            alarm = ring
            return true
        }
        guard isNeeded else { return }
        MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: .milliseconds(delay)) { [wake] in
            _ = wake.yield()
        }
    }

    var refusedSends: [RefusedSend] { refused.withLock { $0.entries(after: 0, limit: .max).map(\.entry) } }

    /// Gives access to the first hub, which inspection and the page show.
    func withHub<Result: Sendable>(_ body: (inout EmulatedHub) -> Result) -> Result {
        hubs.withLock { $0.withFirst(body) }
    }

    /// Gives access to the hub with this name, or to the first one without a name; `nil` if it does not exist.
    func withHub<Result: Sendable>(named name: String?, _ body: (inout EmulatedHub) -> Result) -> Result? {
        guard let name else { return withHub(body) }
        return (try? HubName(name)).flatMap { name in hubs.withLock { $0.withHub(name, body) } }
    }

    /// Closes the store's file, so that another hub may open it.
    func closeStore() { store?.close() }

    /// Ends deliveries and all delivery streams.
    func close() {
        wake.finish()
        streams.close()
    }
}

/// Makes the deliveries of accepted sends a few at a time, so that requests are served in between.
struct DeliveryLoop: Service {
    /// Registrations examined in one hold of the hub's lock.
    private static let batch = 256

    let hub: ServedHub

    func run() async {
        let beat = MultiThreadedEventLoopGroup.singleton.any()
            .scheduleRepeatedTask(initialDelay: .seconds(15), delay: .seconds(15)) { [streams = hub.streams] _ in
                streams.beat()
            }
        defer { beat.cancel() }
        await withGracefulShutdownHandler {
            for await _ in hub.wakes {
                while hub.deliverSome(Self.batch) { await Task.yield() }
            }
        } onGracefulShutdown: {
            hub.close()
        }
    }
}

/// The hub's time: the wall clock at start plus the time elapsed since, so that it never runs backwards.
struct ServerClock: Sendable {
    private let origin = HubTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
    private let start = ContinuousClock.now

    var now: HubTime {
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        return origin.advanced(byMilliseconds: seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    }
}
