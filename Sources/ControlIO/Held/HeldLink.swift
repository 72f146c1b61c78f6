public import EditorialControl
import Foundation
public import KafkaIO
public import KafkaModel
public import NewsModel
import Synchronization

/// One process's connection to the held topic: follows it on a thread of its own, puts back what the desk says, and writes
/// tombstones.
///
/// The topic may be missing, appear later, or go: until it is there, nothing can be held.
public final class HeldLink: Sendable {
    /// What happens on the held topic, for those who want to know. Called on the link's thread: hand it on and return.
    public enum Notice: Sendable {
        /// For every engine of the process.
        case held([HeldStory])
        /// The topic is there, and is read from its beginning.
        case isThere
        /// It is missing, or cannot be read: nothing comes back from it. It is looked for again.
        case isAway(KafkaFailure)
        /// It is tried again.
        case failed(KafkaFailure)
        case status(Status)
        /// Events had vanished from the topic: so many were written to their lanes again, and the originals of the others are gone.
        case vanished(restored: Int, lost: Int)
    }

    public struct Status: Sendable, Hashable {
        /// Events on the held topic.
        public var held = 0
        /// Of those, the ones that this process is to put back.
        public var ours = 0
        /// When the next of them is due, by the clock on the wall.
        public var nextDue: Instant?
        /// Since when nothing could be put back or erased, by the monotonic clock; `nil` while it can.
        public var failingSince: Instant?
        /// Since when partitions of the held topic are to be read before anything of them can be put back, by the monotonic clock.
        public var behindSince: Instant?
        /// Those partitions.
        public var behind: [Int32] = []
        /// Records that could not be understood, since the start.
        public var unreadable = 0
        /// Events that vanished from the topic and could not be restored, since the start.
        public var lost = 0

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
    private let notify: @Sendable (Notice) -> Void
    private let lookInterval: Duration
    private let state = Mutex(State())
    private let closing = DispatchSemaphore(value: 0)
    private let closed = DispatchSemaphore(value: 0)

    /// Connects to nothing yet.
    ///
    /// - Parameter lookInterval: How long a missing topic, or one that cannot be read, is left alone.
    public init(
        settings: KafkaSettings, topic: String, lookInterval: Duration = .seconds(10),
        clock: @escaping @Sendable () -> Moment, notify: @escaping @Sendable (Notice) -> Void
    ) {
        self.settings = settings
        self.topic = topic
        self.lookInterval = lookInterval
        self.clock = clock
        self.notify = notify
    }

    /// Once; later calls do nothing.
    public func start() {
        let isFirst = state.withLock { state in
            defer { if state.phase == .made { state.phase = .running } }
            return state.phase == .made
        }
        guard isFirst else { return }
        let thread = Thread { [self] in
            run()
            closed.signal()
        }
        thread.name = "held"
        thread.start()
    }

    /// Tells the desk something. Any thread; never blocks.
    public func take(_ input: HeldDesk.Input) {
        state.withLock { if $0.phase != .closing { $0.inbox.add(input) } }
    }

    /// Ends the thread, after the tombstones of what was put back, and waits for that; for some seconds at most.
    public func close() {
        let wasRunning = state.withLock { state in
            defer { state.phase = .closing }
            return state.phase == .running
        }
        closing.signal()
        if wasRunning { _ = closed.wait(timeout: .now() + 5) }
    }

    private var isClosing: Bool { state.withLock { $0.phase == .closing } }

    /// A desk that has no topic is told everything all the same: what waits here would grow.
    private static let step = Duration.milliseconds(100)

    private func run() {
        let loop = HeldLoop(settings: settings, topic: topic, clock: clock, notify: notify)
        while !isClosing {
            do throws(KafkaFailure) {
                try loop.connect()
                while !isClosing {
                    hand(to: loop)
                    try loop.turn()
                }
            } catch {
                loop.lose()
                notify(.isAway(error))
                let until = ContinuousClock.now + lookInterval
                while !isClosing, ContinuousClock.now < until {
                    let step = min(Self.step, until - .now)
                    _ = closing.wait(timeout: .now() + .nanoseconds(Int(clamping: step.nanoseconds)))
                    hand(to: loop)
                }
            }
        }
        loop.close()
    }

    private func hand(to loop: HeldLoop) {
        for input in state.withLock({ $0.inbox.takeAll() }) { loop.handle(input) }
    }
}
