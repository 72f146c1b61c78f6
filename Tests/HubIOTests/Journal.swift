import HubIO
import HubModel
import NIOCore
import NIOPosix
import NotificationHub
import Synchronization

/// Records a pool's calls in order. The pool's owner is released when the pool reports that it is closed, and the
/// pool's callback must not outlive the owner.
final class Journal: Sendable {
    var lines: [String] { state.withLock { $0.lines } }
    var ownersLeft: Int { state.withLock { $0.owners } }

    private struct State {
        var lines: [String] = []
        var owners = 0
    }

    private let state = Mutex(State())
    private let loop: any EventLoop
    private let owner: NIOLoopBoundBox<Owner?>

    private final class Owner {
        var pool: SenderPool?
        private let journal: Journal

        init(_ journal: Journal) {
            self.journal = journal
            journal.state.withLock { $0.owners += 1 }
        }

        deinit { journal.state.withLock { $0.owners -= 1 } }

        func note(_ settled: SettledRequest) {
            let word = (settled.result.notSent ?? settled.result.unknown)?.rawValue ?? "replied"
            journal.state.withLock { $0.lines.append("\(settled.id.rawValue) \(word)") }
        }
    }

    init(
        port: Int, host: String = "localhost", connections: Int, scheme: HubEndpoint.Scheme = .http
    ) async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        self.loop = loop
        owner = NIOLoopBoundBox.makeEmptyBox(eventLoop: loop)
        let tls = scheme == .https ? try TrustRoots.system.makeHubTLS(offersHTTP2: false) : nil
        let target = SendTarget(
            endpoint: HubEndpoint(scheme: scheme, host: host, port: port), hub: try HubName("breaking-news"))
        let limits = SenderLimits.test.with {
            $0.connections = connections
            $0.waitingMax = 64
        }
        try await loop.submit {
            let owner = Owner(self)
            // A result that arrives after its owner was released would trap here.
            owner.pool = SenderPool(eventLoop: loop, target: target, limits: limits, tls: tls) {
                [unowned owner] results in
                for settled in results { owner.note(settled) }
            }
            self.owner.value = owner
        }.get()
    }

    func send(_ ids: ClosedRange<UInt64>) async throws {
        let requests = ids.map { PoolRequest(id: RequestID(rawValue: $0), request: .send(.sample())) }
        try await loop.submit { self.owner.value?.pool?.send(requests) }.get()
    }

    func close(within timeout: Duration, keepsPool: Bool = false) async {
        await withCheckedContinuation { continuation in
            loop.execute {
                self.owner.value?.pool?.close(within: timeout) {
                    self.state.withLock { $0.lines.append("closed") }
                    if !keepsPool { self.owner.value = nil }
                    continuation.resume()
                }
            }
        }
    }

    /// Runs the work that is pending on the pool's loop.
    func turnLoop() async throws {
        for _ in 0..<8 { try await loop.submit {}.get() }
    }
}
