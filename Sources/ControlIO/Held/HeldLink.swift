public import EditorialControl
import Foundation
public import KafkaIO
public import KafkaModel
public import NewsModel
import Synchronization

/// One process's connection to the held topic. It follows the topic on its own thread, returns the events that are due,
/// and writes tombstones.
///
/// The topic may be missing, appear later or disappear. Without it, nothing can be held.
public final class HeldLink: Sendable {
    /// A report about the held topic. It arrives on the link's thread, so the receiver must pass it on and return at once.
    public enum Notice: Sendable {
        /// Changes for every engine of the process.
        case held([HeldStory])
        /// The topic exists, and all that it contained was read.
        case isThere
        /// The topic is missing or cannot be read, so nothing returns from it. The link polls for it.
        case isAway(KafkaFailure)
        /// A step failed and is retried.
        case failed(KafkaFailure)
        case status(Status)
        /// Events vanished from the topic: `restored` were written to their lanes again, `lost` could not be.
        case vanished(restored: Int, lost: Int)
    }

    public struct Status: Sendable, Hashable {
        /// Number of events on the held topic.
        public var held = 0
        /// Number of those events that this process must return.
        public var ours = 0
        /// Time at which the next of these is due, by the wall clock.
        public var nextDue: Instant?
        /// Time since which returns and tombstones fail, by the monotonic clock; `nil` if they succeed.
        public var failingSince: Instant?
        /// Time since which returns wait for unread partitions of the held topic, by the monotonic clock.
        public var behindSince: Instant?
        /// Unread partitions of the held topic.
        public var behind: [Int32] = []
        /// Events that are due but belong to no lane.
        public var overdue: HeldOverdue?
        /// Number of events that vanished and could not be restored, since the start.
        public var lost = 0
        /// The content of the topic; `nil` while that is unknown.
        public var totals: HeldTotals?

        public init() {}
    }

    private struct State {
        var inbox = HeldInbox()
        var phase = Phase.made
    }

    private enum Phase { case made, running, closing }

    private let settings: KafkaSettings
    private let topic: String
    private let clock: @Sendable () -> Moment
    private let asksHub: Bool
    private let lookInterval: Duration
    private let state = Mutex(State())
    private let closing = DispatchSemaphore(value: 0)
    private let closed = DispatchSemaphore(value: 0)

    /// Creates a link without connecting it.
    ///
    /// - Parameters:
    ///   - asksHub: nothing that is due returns before the hub's time was posted.
    ///   - lookInterval: time until a missing or unreadable topic is polled again.
    public init(
        settings: KafkaSettings, topic: String, asksHub: Bool = false, lookInterval: Duration = .seconds(2),
        clock: @escaping @Sendable () -> Moment
    ) {
        self.settings = settings
        self.topic = topic
        self.asksHub = asksHub
        self.lookInterval = lookInterval
        self.clock = clock
    }

    /// Starts the thread, which calls `notify`. Call once; later calls do nothing.
    public func start(notify: @escaping @Sendable (Notice) -> Void) {
        let isFirst = state.withLock { state in
            defer { if state.phase == .made { state.phase = .running } }
            return state.phase == .made
        }
        guard isFirst else { return }
        Thread.start("held") { [self] in
            run(notify)
            closed.signal()
        }
    }

    /// Adds an input for `HeldState`. Any thread; never blocks.
    public func post(_ input: HeldState.Input) {
        state.withLock { if $0.phase != .closing { $0.inbox.add(input) } }
    }

    /// Ends the thread and waits for the tombstones of returned events, for at most 5 seconds.
    public func close() {
        let wasRunning = state.withLock { state in
            defer { state.phase = .closing }
            return state.phase == .running
        }
        closing.signal()
        if wasRunning { _ = closed.wait(timeout: .now() + 5) }
    }

    private var isClosing: Bool { state.withLock { $0.phase == .closing } }

    /// Interval at which the inbox is emptied while there is no topic, so that the inbox does not grow.
    private static let step = Duration.milliseconds(100)

    private func run(_ notify: @escaping @Sendable (Notice) -> Void) {
        let loop = HeldLoop(settings: settings, topic: topic, asksHub: asksHub, clock: clock, notify: notify)
        while !isClosing, loop.awaitsFormer { pause(loop, Self.step) }
        while !isClosing {
            do throws(KafkaFailure) {
                try loop.connect()
                while !isClosing { try loop.turn { hand(to: loop) } }
            } catch {
                loop.lose()
                notify(.isAway(error))
                let until = ContinuousClock.now + lookInterval
                while !isClosing, ContinuousClock.now < until {
                    pause(loop, min(Self.step, until - .now))
                }
            }
        }
        hand(to: loop)
        loop.finishRequests()
        loop.close()
    }

    private func pause(_ loop: HeldLoop, _ step: Duration) {
        _ = closing.wait(timeout: .now() + .nanoseconds(Int(clamping: step.nanoseconds)))
        hand(to: loop)
    }

    private func hand(to loop: HeldLoop) {
        for input in state.withLock({ $0.inbox.takeAll() }) { loop.handle(input) }
    }
}
