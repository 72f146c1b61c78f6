import Dispatch
import EditorialControl
import KafkaIO
import KafkaModel
import NewsModel
import Synchronization

/// Reads and follows the control topic on its own thread, because reading blocks. After an error, it starts at the beginning
/// again, and `ControlState` determines the differences.
final class ControlReader: Sendable {
    private struct State {
        var isClosed = false
        /// True if another reading is requested.
        var rereads = false
        /// Number of the last requested reading.
        var reading: UInt64 = 0
        /// Consecutive looks that did not find the topic.
        var misses = 0
    }

    private let kafka: KafkaSettings
    private let topics: ControlTopics
    private let commands: CommandQueue<ControlLink.Command>
    private let state = Mutex(State())
    /// Signaled to end a pause.
    private let nudge = DispatchSemaphore(value: 0)
    /// Limits the batches in flight, because the topic may hold any amount.
    private let credit = DispatchSemaphore(value: 0)
    private static let creditMax = 4

    /// Time until a missing or unreadable topic is polled again.
    private static let pause = DispatchTimeInterval.seconds(2)
    /// The looks without the topic after which it counts as missing, and the time between them. Each makes a new connection.
    private static let missesMin = 3
    private static let missPause = DispatchTimeInterval.milliseconds(500)
    /// Interval at which the topics are looked up while they can be read.
    private static let lookInterval = Duration.seconds(20)

    init(_ kafka: KafkaSettings, _ topics: ControlTopics, _ commands: CommandQueue<ControlLink.Command>) {
        var kafka = kafka
        // The broker answers at once when there are records. Otherwise, two requests a second are enough.
        kafka.properties["fetch.wait.max.ms"] = kafka.properties["fetch.wait.max.ms"] ?? "500"
        self.kafka = kafka
        self.topics = topics
        self.commands = commands
        // Raised from 0, because a semaphore below its initial value traps when it is freed.
        for _ in 0..<Self.creditMax { credit.signal() }
    }

    func goOn() { credit.signal() }

    func reread(_ reading: UInt64) {
        state.withLock { ($0.rereads, $0.reading) = (true, reading) }
        nudge.signal()
    }

    func close() {
        state.withLock { $0.isClosed = true }
        nudge.signal()
        credit.signal()
    }

    func run() {
        while !isClosed {
            do throws(KafkaFailure) {
                if try look() { try follow() } else { rest() }
            } catch {
                commands.post(.input(.unreadable(error)))
                rest()
            }
        }
    }

    private var isClosed: Bool { state.withLock { $0.isClosed } }

    private func rest(_ pause: DispatchTimeInterval = ControlReader.pause) {
        // Rereads that were requested before are granted by the next reading.
        while nudge.wait(timeout: .now()) == .success {}
        if !isClosed { _ = nudge.wait(timeout: .now() + pause) }
    }

    /// - Returns: false if the control topic does not exist.
    private func look() throws(KafkaFailure) -> Bool {
        // This requests all topics, because a request for one topic by name could create it.
        let admin = try KafkaAdmin(settings: kafka, timeout: .seconds(5))
        let counts = try admin.partitionCounts(of: [topics.control, topics.audit])
        commands.post(.input(.audit(counts[topics.audit] == nil ? audit(admin) : .there)))
        if counts[topics.control] != nil {
            state.withLock { $0.misses = 0 }
            return true
        }
        // Orders that this user may not see are in force all the same.
        if let refusal = try admin.refusal(of: topics.control) { throw refusal }
        let misses = state.withLock { state in
            state.misses += 1
            return state.misses
        }
        // A broker that has just started may not know all topics yet, and without the topic nothing is stopped or recalled.
        guard misses >= Self.missesMin else {
            rest(Self.missPause)
            return isClosed ? false : try look()
        }
        commands.post(.input(.missing))
        return false
    }

    /// Returns why the audit topic is not visible. If the request fails, orders are followed all the same.
    private func audit(_ admin: KafkaAdmin) -> ControlState.AuditTopic {
        (try? admin.refusal(of: topics.audit)).flatMap(\.self).map { .refused($0) } ?? .missing
    }

    /// Follows the topic. Returns when it must be read again.
    private func follow() throws(KafkaFailure) {
        let reading = state.withLock { state in
            state.rereads = false
            return state.reading
        }
        // The end is requested here; later records are read but not waited for. An order behind an open transaction was
        // acknowledged, so it is in force although nobody can read it yet.
        let reader = try TopicReader(
            settings: kafka, topic: topics.control, follow: true, end: .highWatermark, timeout: .seconds(5))
        commands.post(.input(.began(reading: reading, start: reader.start)))
        var hasEnded = false
        var isHeldUp: Bool?
        var next: [TopicPartition: Int64] = [:]
        var lookAt = ContinuousClock.now + Self.lookInterval
        while !state.withLock({ $0.isClosed || $0.rereads }) {
            let read = try reader.next(timeout: .milliseconds(500))
            for read in read {
                // The offsets restart: the topic was recreated or truncated.
                if let last = next[read.partition], read.record.offset < last { return }
                next[read.partition] = read.record.offset.saturating(adding: 1)
            }
            if !read.isEmpty {
                credit.wait()
                commands.post(.read(read.map(\.record)))
            }
            // After half a second without records, only an open transaction explains the distance from the end. A reader that has
            // reached neither cannot tell.
            if read.isEmpty, reader.isHeldUp || reader.isAtEnd, isHeldUp != reader.isHeldUp {
                isHeldUp = reader.isHeldUp
                commands.post(.input(.heldUp(reader.isHeldUp)))
            }
            if reader.isAtEnd, !hasEnded {
                hasEnded = true
                commands.post(.input(.reachedEnd))
            }
            if ContinuousClock.now >= lookAt {
                // After a new reading, `ControlState` writes removed orders that are in force again. A process that starts would not
                // find them otherwise.
                guard try look(), !reader.hasLostRecords() else { return }
                lookAt = .now + Self.lookInterval
            }
        }
    }
}
