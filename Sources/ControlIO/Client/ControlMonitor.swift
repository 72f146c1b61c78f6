public import EditorialControl
import Foundation
public import KafkaIO
public import KafkaModel
public import NewsModel
import Synchronization

/// Shows editors' orders on a dashboard and gives new ones. The topics are read only while somebody looks.
public final class ControlMonitor: Sendable {
    /// A snapshot of the control and audit topics.
    public struct Scene: Sendable {
        public var view = ControlView()
        public var trail = AuditTrail(capacity: ControlMonitor.linesMax)
        /// The error that prevents reading the topics. The snapshot may then be old.
        public var failure: KafkaFailure?
        /// True if both topics were read to their ends.
        public var isKnown = false
    }

    private struct State {
        var scene = Scene()
        var isReading = false
        /// Time before which reading is not retried after a failure.
        var notBefore = ContinuousClock.now
        var lastLook = ContinuousClock.now
        var working: [Work: Int] = [:]
    }

    /// A kind of work that runs on a thread of its own. Each has its own limit, so that no stop waits for look-ups or recalls.
    private enum Work: Hashable {
        case lookUp, recall, stop

        /// The number that runs at the same time.
        var most: Int { self == .lookUp ? 2 : 4 }
    }

    private let settings: KafkaSettings
    private let topics: ControlTopics
    private let names: NamedTopics
    private let approval: ApprovalRules
    private let clock: @Sendable () -> Moment
    private let state = Mutex(State())

    /// Number of audit lines kept: enough for the last orders of a large group of processes.
    private static let linesMax = 2_000
    /// Time without interest after which reading ends.
    private static let interest = Duration.seconds(60)
    /// Delay before reading is retried after a failure.
    private static let pause = Duration.seconds(5)
    /// Longest search for a name, because a page waits for 30 seconds.
    private static let searchMax = Duration.seconds(15)

    /// - Parameters:
    ///   - names: the topics on which names of stories and events are looked up.
    ///   - approval: the orders that are refused, because a second person must approve them.
    public init(
        _ settings: KafkaSettings, _ topics: ControlTopics, names: NamedTopics,
        approval: ApprovalRules = ApprovalRules(), now: @escaping @Sendable () -> Moment
    ) {
        self.settings = settings
        self.topics = topics
        self.names = names
        self.approval = approval
        clock = now
    }

    public var now: Moment { clock() }

    /// Returns the current snapshot and starts reading if necessary. Any thread; never waits.
    public func look() -> Scene {
        let (scene, begins) = state.withLock { state in
            let now = ContinuousClock.now
            // A snapshot left from an earlier look may be outdated.
            if !state.isReading, now - state.lastLook >= Self.interest { state.scene = Scene() }
            state.lastLook = now
            let begins = !state.isReading && state.notBefore <= now
            if begins { state.isReading = true }
            return (state.scene, begins)
        }
        if begins { Thread.start("control-room") { [self] in run() } }
        return scene
    }

    /// Returns the snapshot as soon as it is complete or has an error, at the latest after `limit`.
    public func look(within limit: Duration) async -> Scene {
        let deadline = ContinuousClock.now + limit
        var scene = look()
        while !scene.isKnown, scene.failure == nil, .now < deadline {
            // The caller was canceled and needs no answer.
            guard (try? await Task.sleep(for: .milliseconds(20))) != nil else { break }
            scene = look()
        }
        return scene
    }

    private var isWatched: Bool { state.withLock { .now - $0.lastLook < Self.interest } }

    /// Reads until nobody looks or an error occurs. A later look starts it again.
    private func run() {
        var failure: KafkaFailure?
        do throws(KafkaFailure) { try follow() } catch { failure = error }
        state.withLock { state in
            if let failure {
                state.scene.failure = failure
                state.notBefore = .now + Self.pause
            } else {
                state.scene = Scene()
            }
            state.isReading = false
        }
    }

    private func follow() throws(KafkaFailure) {
        let counts = try KafkaAdmin(settings: settings).partitionCounts(of: [topics.control, topics.audit])
        for topic in [topics.control, topics.audit] where counts[topic] == nil { throw .missing(topic: topic) }
        let audit = try TopicReader(
            settings: settings, topic: topics.audit, from: .last(Int64(Self.linesMax)), follow: true)
        let control = try TopicReader(settings: settings, topic: topics.control, follow: true)
        var scene = Scene()
        scene.view = ControlView(partitions: counts[topics.control] ?? 1)
        while isWatched {
            for read in try audit.next(timeout: .milliseconds(20)) {
                if let entry = AuditEntry(read.record) { scene.trail.apply(entry) }
            }
            for read in try control.next(timeout: .milliseconds(200)) { scene.view.apply(read.record) }
            guard audit.isAtEnd, control.isAtEnd else { continue }
            scene.isKnown = true
            state.withLock { $0.scene = scene }
        }
    }

    /// An order that was given, and the fate of its replacement.
    public struct Given: Sendable {
        public var outcome: OrderOutcome
        /// `nil` without a replacement, or if it could not be written.
        public var replacement: Result<WrittenReplacement, KafkaFailure>?
    }

    /// The story that a name stands for, its own or that of one of its events, and what readers have of it.
    public struct FoundStory: Sendable {
        public var name: NamedStory
        public var history: StoryHistory
        /// The recall in force.
        public var recall: Order?
    }

    /// Gives an order like `OrderClient`, without blocking the caller. The story of a recall may be named by one of its events.
    ///
    /// - Parameter isUnseen: true to recall the named story without looking it up.
    public func give(
        _ instruction: Instruction, isUnseen: Bool = false
    ) async -> Result<Given, OrderClient.Refusal> {
        let work: Work = if case .recall = instruction.scope { .recall } else { .stop }
        return await onThread(work) { [self] () throws(OrderClient.Refusal) in
            try giveNow(instruction, isUnseen: isUnseen)
        }
    }

    /// Looks up a story, and what readers have of it, without blocking the caller.
    public func find(_ name: String) async -> Result<FoundStory, OrderClient.Refusal> {
        await onThread(.lookUp) { [self] () throws(OrderClient.Refusal) in
            let view: ControlView
            let reading = ControlReading(settings, topics)
            do throws(KafkaFailure) { view = try reading.view() } catch {
                throw .failed(error)
            }
            let named = try story(name, view, isLift: false)
            let time = now.wall
            let latest = view.lapseClock(time) ?? time
            do throws(KafkaFailure) {
                var history = StoryHistory(
                    story: named.story, sends: try reading.announcedSends(of: named.story, before: latest))
                try history.read(settings, results: names.results, before: latest, limit: Self.searchMax)
                return FoundStory(
                    name: named, history: history, recall: view.order(.recall(story: named.story), at: time))
            } catch { throw .failed(error) }
        }
    }

    /// Runs blocking work on a thread of its own. Few run at the same time.
    private func onThread<Value: Sendable>(
        _ kind: Work, _ work: @escaping @Sendable () throws(OrderClient.Refusal) -> Value
    ) async -> Result<Value, OrderClient.Refusal> {
        let isFree = state.withLock { state in
            guard state.working[kind, default: 0] < kind.most else { return false }
            state.working[kind, default: 0] += 1
            return true
        }
        guard isFree else {
            let others = kind == .lookUp ? "Other stories are being looked up" : "Other orders are being given"
            return .failure(.failed(KafkaFailure(code: "_STATE", detail: "\(others); try again")))
        }
        return await withCheckedContinuation { continuation in
            Thread.detachNewThread { [self] in
                let result = Result { () throws(OrderClient.Refusal) in try work() }
                state.withLock { $0.working[kind, default: 1] -= 1 }
                continuation.resume(returning: result)
            }
        }
    }

    private func giveNow(_ instruction: Instruction, isUnseen: Bool) throws(OrderClient.Refusal) -> Given {
        if let act = approval.act(of: instruction) { throw .needsApproval(act) }
        var instruction = instruction
        let client: OrderClient
        do throws(KafkaFailure) {
            client = try OrderClient(settings, topics, now: clock)
        } catch { throw .failed(error) }
        if case .recall(let name) = instruction.scope, !isUnseen {
            instruction.scope = .recall(story: try story(name, client.view, isLift: instruction.lifts).story)
        }
        let outcome = try client.give(instruction)
        guard let text = instruction.replacement, let order = instruction.order else { return Given(outcome: outcome) }
        let replacement = Result { () throws(KafkaFailure) in
            try client.replace(
                text, for: order, results: names.results, lanes: names.lanes.map(\.topic),
                inFlight: outcome.answers.met.inFlight, environment: names.environment, decoders: names.decoders)
        }
        return Given(outcome: outcome, replacement: replacement)
    }

    private func story(
        _ name: String, _ view: ControlView, isLift: Bool
    ) throws(OrderClient.Refusal) -> NamedStory {
        let search: NameSearch
        do throws(KafkaFailure) {
            search = try NameLookup.search(name, settings, names, view, at: clock().wall, limit: Self.searchMax)
        } catch {
            var failure = error
            failure.detail = "\(name) cannot be looked up. \(error.detail)"
            throw .failed(failure)
        }
        do throws(NameProblem) {
            return try NamedStory(search, view.orders, isLift: isLift)
        } catch { throw .name(error) }
    }
}
