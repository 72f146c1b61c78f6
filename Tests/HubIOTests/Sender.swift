import Dispatch
import HubIO
import HubModel
import NIOCore
import NIOPosix
import NotificationHub

/// A pool on its own event loop, for tests that await.
final class Sender: Sendable {
    let loop: any EventLoop
    private let inbox: NIOLoopBound<Inbox>

    /// Loops that hubs do not use, so that a pool's loop can block while a hub acts.
    private static let loops = MultiThreadedEventLoopGroup(numberOfThreads: 2)

    private final class Inbox {
        var pool: SenderPool?
        var lastID: UInt64 = 0
        var awaited: [UInt64: CheckedContinuation<SendResult, Never>] = [:]
        /// Results for requests that were never sent or already had a result.
        var strays = 0

        func take(_ settled: SettledRequest) {
            guard let awaited = awaited.removeValue(forKey: settled.id.rawValue) else { return strays += 1 }
            awaited.resume(returning: settled.result)
        }
    }

    init(
        port: Int, scheme: HubEndpoint.Scheme = .http, host: String = "127.0.0.1", limits: SenderLimits = .test,
        trust: TrustRoots? = nil
    ) async throws {
        let tls = scheme == .https ? try (trust ?? .system).makeHubTLS(offersHTTP2: limits.offersHTTP2) : nil
        let target = SendTarget(
            endpoint: HubEndpoint(scheme: scheme, host: host, port: port), hub: try HubName("breaking-news"))
        let loop = Self.loops.next()
        self.loop = loop
        inbox = try await loop.submit {
            let inbox = Inbox()
            inbox.pool = SenderPool(eventLoop: loop, target: target, limits: limits, tls: tls) {
                [weak inbox] results in
                for settled in results { inbox?.take(settled) }
            }
            inbox.pool?.authorization = "SharedAccessSignature sr=test"
            return NIOLoopBound(inbox, eventLoop: loop)
        }.get()
    }

    func send(_ request: SendRequest = .sample()) async -> SendResult { await send(.send(request)) }

    func ask(_ target: String) async -> SendResult { await send(.question(target: target)) }

    private func send(_ call: HubCall) async -> SendResult {
        await withCheckedContinuation { continuation in
            loop.execute { self.start(call, continuation) }
        }
    }

    /// Blocks the pool's loop until `event` reports that it has happened, then sends.
    func sendAfter(_ event: @escaping @Sendable (_ happened: @escaping @Sendable () -> Void) -> Void) async
        -> SendResult
    {
        await withCheckedContinuation { continuation in
            loop.execute {
                let happened = DispatchSemaphore(value: 0)
                event { happened.signal() }
                happened.wait()
                self.start(.send(.sample()), continuation)
            }
        }
    }

    private func start(_ call: HubCall, _ continuation: CheckedContinuation<SendResult, Never>) {
        let inbox = inbox.value
        inbox.lastID += 1
        inbox.awaited[inbox.lastID] = continuation
        inbox.pool?.send([PoolRequest(id: RequestID(rawValue: inbox.lastID), request: call)])
    }

    /// Runs `body` with the pool on its loop.
    func withPool<R: Sendable>(_ body: @escaping @Sendable (SenderPool) -> R) async throws -> R {
        try await loop.submit {
            guard let pool = self.inbox.value.pool else { throw ChannelError.ioOnClosedChannel }
            return body(pool)
        }.get()
    }

    /// The number of requests sent. Read it on the pool's loop.
    var sent: UInt64 { inbox.value.lastID }

    var strays: Int {
        get async throws { try await loop.submit { self.inbox.value.strays }.get() }
    }

    /// Waits until the pool satisfies the condition, which is checked after every turn of its loop.
    func until(_ isAsWanted: @escaping @Sendable (SenderPool) -> Bool) async throws {
        while try await !withPool(isAsWanted) {}
    }

    func close(within timeout: Duration = .zero) async throws {
        await withCheckedContinuation { continuation in
            loop.execute {
                self.inbox.value.pool?.close(within: timeout) { continuation.resume() }
            }
        }
        try await loop.submit { self.inbox.value.pool = nil }.get()
    }
}

extension SenderLimits {
    /// Limits with times that no test exceeds by chance, even on a busy machine.
    static var test: SenderLimits {
        var limits = SenderLimits(connections: 4)
        limits.connectTimeout = .seconds(120)
        limits.requestTimeout = .seconds(120)
        limits.idleTimeout = .seconds(120)
        return limits
    }

    func with(_ change: (inout SenderLimits) -> Void) -> SenderLimits {
        var copy = self
        change(&copy)
        return copy
    }
}

extension SendRequest {
    static func sample(_ message: String = "Breaking World News : tables turn") -> SendRequest {
        SendRequest(
            format: .template, tags: "World", fields: [HeaderField("apns-priority", "10")],
            body: Array(#"{"messageParam":"\#(message)"}"#.utf8))
    }
}

extension SendResult {
    var notSent: SendFailure.Kind? { if case .notSent(let failure) = self { failure.kind } else { nil } }
    var unknown: SendFailure.Kind? { if case .unknown(let failure) = self { failure.kind } else { nil } }
}
