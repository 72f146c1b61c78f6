import KafkaModel
import Logging
import NIOPosix
import NewsModel
import PublishEngine

/// Before the start: brokers and topics have to be there.
extension Publisher {
    /// Looks at brokers and topics until they allow a start.
    ///
    /// - Parameter untilCaughtUp: fails at the first obstacle: a job that cannot begin is not to hang.
    /// - Returns: `nil` if the publisher was told to end before.
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
                telemetry.cannotStart(nil)
                if wait.hasWaited { log.notice("brokers and topics are there: starting") }
                return preflight
            case .looked(.failure(let failure)):
                guard failure.mayPass, !untilCaughtUp else { throw failure }
                telemetry.cannotStart(failure)
                let reason = "\(failure)"
                if wait.isWorthTelling(reason, at: telemetry.clock.now.steady) {
                    log.warning("waiting to start", metadata: ["reason": "\(reason)"])
                }
                let pause = wait.nextPause()
                // A drain meanwhile is heard at once; what this yields then, nobody reads.
                Task { [events] in
                    try? await Task.sleep(for: pause)
                    events.yield(.look)
                }
            default: orders.add(event)
            }
        }
        return nil
    }

    /// On a thread that may wait: a broker that does not answer takes its time limit.
    private func look(measuringEnds: Bool) {
        NIOThreadPool.singleton.submit { [settings, events] _ in
            let result = Result { () throws(PublisherFailure) in
                try Preflight(settings, measuringEnds: measuringEnds)
            }
            events.yield(.looked(result))
        }
    }

    /// What operators have ordered before the start, the last word about each thing.
    private struct EarlyOrders {
        private var isPaused: [LaneID: Bool] = [:]
        private var reload: Event?

        mutating func add(_ event: Event) {
            switch event {
            case .pause(let lane): isPaused[lane] = true
            case .resume(let lane): isPaused[lane] = false
            case .reload: reload = event
            default: break
            }
        }

        var all: [Event] {
            isPaused.filter(\.value).keys.sorted().map { .pause($0) } + [reload].compactMap { $0 }
        }
    }
}

/// The pace of looking for brokers and topics that are not there, and of saying so.
struct StartWait {
    private var pause = Duration.milliseconds(500)
    private var told: (reason: String, at: Instant)?

    private static let longest = Duration.seconds(5)
    private static let reminder = Duration.seconds(60)

    var hasWaited: Bool { told != nil }

    /// Doubles, up to five seconds: someone is probably making what is missing.
    mutating func nextPause() -> Duration {
        pause = min(pause * 2, Self.longest)
        return pause
    }

    /// A new reason, or the same after a minute.
    mutating func isWorthTelling(_ reason: String, at now: Instant) -> Bool {
        if let told, told.reason == reason, now - told.at < Self.reminder { return false }
        told = (reason, now)
        return true
    }
}
