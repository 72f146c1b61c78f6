import KafkaIO
import KafkaModel
import Logging
import NIOPosix
import NewsModel
import PublishEngine

/// The phase before the start, in which brokers and topics must become available.
extension Publisher {
    /// Checks brokers and topics until they permit a start.
    ///
    /// - Parameter untilCaughtUp: fails at the first obstacle, because a job that cannot start must not hang.
    /// - Returns: `nil` if the publisher was drained before the start.
    func startable(untilCaughtUp: Bool) async throws(PublisherFailure) -> Preflight? {
        var wait = StartWait()
        var orders = EarlyOrders()
        defer { for order in orders.all { events.yield(order) } }
        look(measuringEnds: untilCaughtUp)
        for await event in life {
            switch event {
            case .drain: return nil
            case .look: look(measuringEnds: untilCaughtUp)
            case .looked(.success(let preflight)):
                metrics.cannotStart(nil)
                if wait.hasWaited { log.notice("brokers and topics are there: starting") }
                return preflight
            case .looked(.failure(let failure)):
                guard failure.mayPass, !untilCaughtUp else { throw failure }
                metrics.cannotStart(failure)
                let reason = "\(failure)"
                if wait.isWorthTelling(reason, at: metrics.clock.now.steady) {
                    log.warning("waiting to start", metadata: ["reason": "\(reason)"])
                }
                let pause = wait.nextPause()
                // A drain during the pause takes effect at once. The later `look` event is then ignored.
                Task { [events] in
                    try? await Task.sleep(for: pause)
                    events.yield(.look)
                }
            default: orders.add(event)
            }
        }
        return nil
    }

    /// Runs the check on a thread that may block, because an unresponsive broker takes the full time limit.
    private func look(measuringEnds: Bool) {
        NIOThreadPool.singleton.submit { [settings, events] _ in
            let result = Result { () throws(PublisherFailure) in
                try Preflight(settings, measuringEnds: measuringEnds)
            }
            events.yield(.looked(result))
        }
    }

    /// Operators' orders from before the start; for each subject only the latest one.
    private struct EarlyOrders {
        private var isPaused: [LaneID: Bool] = [:]
        private var reload: Event?
        private var key: Event?

        mutating func add(_ event: Event) {
            switch event {
            case .pause(let lane): isPaused[lane] = true
            case .resume(let lane): isPaused[lane] = false
            case .reload: reload = event
            case .key: key = event
            default: break
            }
        }

        var all: [Event] {
            isPaused.filter(\.value).keys.sorted().map { .pause($0) } + [reload, key].compactMap { $0 }
        }
    }
}

/// The intervals at which missing brokers and topics are checked and reported.
struct StartWait {
    private var pause = Duration.milliseconds(500)
    private var told: (reason: String, at: Instant)?

    private static let longest = Duration.seconds(5)
    private static let reminder = Duration.seconds(60)

    var hasWaited: Bool { told != nil }

    /// Doubles the pause, up to five seconds, because an operator is probably creating what is missing.
    mutating func nextPause() -> Duration {
        pause = min(pause * 2, Self.longest)
        return pause
    }

    /// True for a new reason, or for the same one after a minute.
    mutating func isWorthTelling(_ reason: String, at now: Instant) -> Bool {
        if let told, told.reason == reason, now - told.at < Self.reminder { return false }
        told = (reason, now)
        return true
    }
}
