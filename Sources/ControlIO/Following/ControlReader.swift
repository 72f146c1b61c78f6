import ByteText
import Dispatch
import EditorialControl
import KafkaIO
import KafkaModel
import NewsModel
import Synchronization

/// Reads the control topic from its beginning and goes on, on a thread of its own, as reading blocks. Whatever goes wrong, it
/// begins anew: the desk finds out what is different.
final class ControlReader: Sendable {
    private struct State {
        var isClosed = false
        /// Asked for.
        var readsAnew = false
        /// The last reading asked for.
        var reading: UInt64 = 0
    }

    private let kafka: KafkaSettings
    private let topics: ControlTopics
    private let commands: Mailbox<ControlLink.Command>
    private let state = Mutex(State())
    /// Signalled when a pause is to end.
    private let nudge = DispatchSemaphore(value: 0)
    /// Batches that may be under way: the topic may hold any amount.
    private let credit = DispatchSemaphore(value: 0)
    private static let creditMax = 4

    /// How long a missing topic, or one that cannot be read, is left alone.
    private static let pause = DispatchTimeInterval.seconds(2)
    /// How often the topics are looked for while nothing is wrong.
    private static let lookInterval = Duration.seconds(20)

    init(_ kafka: KafkaSettings, _ topics: ControlTopics, _ commands: Mailbox<ControlLink.Command>) {
        var kafka = kafka
        // The broker answers at once when there is something; otherwise two requests a second are enough.
        kafka.properties["fetch.wait.max.ms"] = kafka.properties["fetch.wait.max.ms"] ?? "500"
        self.kafka = kafka
        self.topics = topics
        self.commands = commands
        // Counted up: one that is freed below its first value traps.
        for _ in 0..<Self.creditMax { credit.signal() }
    }

    func goOn() { credit.signal() }

    func readAnew(_ reading: UInt64) {
        state.withLock { ($0.readsAnew, $0.reading) = (true, reading) }
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
                commands.post(.take(.unreadable(error)))
                rest()
            }
        }
    }

    private var isClosed: Bool { state.withLock { $0.isClosed } }

    private func rest() { if !isClosed { _ = nudge.wait(timeout: .now() + Self.pause) } }

    /// - Returns: false if there is no control topic.
    private func look() throws(KafkaFailure) -> Bool {
        // This asks for all topics: a question for one by name could create it.
        let admin = try KafkaAdmin(settings: kafka, timeout: .seconds(5))
        let counts = try admin.partitionCounts(of: [topics.control, topics.audit])
        commands.post(.take(.audit(counts[topics.audit] == nil ? audit(admin) : .there)))
        if counts[topics.control] != nil { return true }
        // Orders that this user may not see stand all the same.
        if let refusal = try admin.refusal(of: topics.control) { throw refusal }
        commands.post(.take(.missing))
        return false
    }

    /// Why the audit topic is not shown to us. Should the question fail, orders are followed all the same.
    private func audit(_ admin: KafkaAdmin) -> ControlDesk.AuditTopic {
        (try? admin.refusal(of: topics.audit)).flatMap(\.self).map { .refused($0) } ?? .missing
    }

    /// Returns when the topic is to be read anew.
    private func follow() throws(KafkaFailure) {
        let reading = state.withLock { state in
            state.readsAnew = false
            return state.reading
        }
        // Its end is asked for here: what is written from now on is read as well, but not waited for.
        // An order behind an open transaction stands: it was acknowledged, although nobody can read it yet.
        let reader = try TopicReader(
            settings: kafka, topic: topics.control, follow: true, end: .highWatermark, timeout: .seconds(5))
        commands.post(.take(.began(reading: reading)))
        var hasEnded = false
        var isHeldUp: Bool?
        var next: [TopicPartition: Int64] = [:]
        var lookAt = ContinuousClock.now + Self.lookInterval
        while !state.withLock({ $0.isClosed || $0.readsAnew }) {
            let read = try reader.next(timeout: .milliseconds(500))
            for read in read {
                // Offsets begin again: the topic was made anew, or cut back.
                if let last = next[read.partition], read.record.offset < last { return }
                next[read.partition] = read.record.offset.saturating(adding: 1)
            }
            if !read.isEmpty {
                credit.wait()
                commands.post(.read(read.map(\.record)))
            }
            // After half a second without a record, nothing else explains the distance from the end.
            if read.isEmpty, isHeldUp != reader.isHeldUp {
                isHeldUp = reader.isHeldUp
                commands.post(.take(.heldUp(reader.isHeldUp)))
            }
            if reader.isAtEnd, !hasEnded {
                hasEnded = true
                commands.post(.take(.reachedEnd))
            }
            if ContinuousClock.now >= lookAt {
                guard try look() else { return }
                lookAt = .now + Self.lookInterval
            }
        }
    }
}
