import ControlIO
import EditorialControl
import KafkaIO
import KafkaModel
import NewsModel
import Synchronization
import TestSupport
import Testing

/// A link with a clock that the test moves, and with its messages.
private final class Followed: Sendable {
    let link: ControlLink
    let messages: AsyncStream<ControlLink.Message>
    private let ahead = Ahead()

    private final class Ahead: Sendable {
        let time = Mutex(Duration.zero)
    }

    init(_ kafka: KafkaSettings, onStale: ControlState.OnStale = .continue) throws {
        var settings = ControlState.Settings(replica: "us", shards: 1)
        settings.onStale = onStale
        let (messages, told) = AsyncStream<ControlLink.Message>.makeStream()
        self.messages = messages
        let start = ContinuousClock.now
        link = try ControlLink(
            kafka: kafka, topics: ControlTopics(), state: settings,
            now: { [ahead] in
                let passed = start.duration(to: .now) + ahead.time.withLock { $0 }
                return Moment(
                    steady: Instant(milliseconds: 1_000) + passed,
                    wall: Instant(milliseconds: 1_795_428_000_000) + passed)
            },
            deliver: { told.yield($0) })
        link.start()
    }

    func pass(_ time: Duration) { ahead.time.withLock { $0 = $0 + time } }

    /// Waits for a matching message.
    func heard<Found>(_ fits: (ControlLink.Message) -> Found?) async throws -> Found {
        for await message in messages { if let found = fits(message) { return found } }
        throw Ended()
    }

    struct Ended: Error {}

    func isKnown(_ wanted: Bool) async throws {
        try await heard { if case .known(wanted) = $0 { () } else { nil } }
    }

    func status(where isWanted: @escaping (ControlStatus) -> Bool) async throws -> ControlStatus {
        try await heard { if case .status(let status) = $0, isWanted(status) { status } else { nil } }
    }

    func orders() async throws -> [OrderChange] {
        try await heard { if case .orders(let changes) = $0 { changes } else { nil } }
    }

    func close() async throws {
        link.close()
        try await heard { if case .ended = $0 { () } else { nil } }
    }
}

/// A link that follows the control topic on a broker.
@Suite(.timeLimit(.minutes(2))) struct ControlLinkTests {
    private let topics: Topics
    private let broker: EmbeddedBroker
    private static let control = "news.control"
    private static let both = [(control, 1), ("news.audit", 1)]

    init() throws {
        broker = try EmbeddedBroker(topics: [("news.events", 1)])
        topics = Topics(kafka: broker.settings(group: "control"), partitions: 1)
    }

    private func create() throws {
        for (name, partitions) in Self.both { try broker.create(topic: name, partitions: partitions) }
    }

    private func write(_ key: String?, _ value: String?) throws {
        try topics.publish([(key.map { Array($0.utf8) }, value.map { Array($0.utf8) }, [])], to: Self.control)
    }

    private func write(_ order: Order) throws {
        let record = ControlRecord.stands(order).record(on: Self.control)
        try topics.publish([(record.key, record.value, [])], to: Self.control)
    }

    private static let stop = Order(
        id: "1", scope: .stop(.hub), at: Instant(milliseconds: 1_795_428_000_000), by: "editor")

    @Test func `invalid records on the topic raise an alarm, and orders are still obeyed`() async throws {
        try create()
        try write(nil, "no key")
        try write("hold/story/a", "{}")
        try write("recall/story/b", "\u{0}")
        try write(Self.stop)
        let followed = try Followed(topics.kafka)
        #expect(try await followed.orders() == [.stands(Self.stop)])
        try await followed.isKnown(true)
        try write("recall/story/c", "[]")
        let status = try await followed.status { $0.counts.unreadable == 4 }
        #expect(status.alarms == [.garbage(4)])
        #expect(status.link == .following && status.isKnown)
        try await followed.close()
    }

    @Test func `without a topic sending continues, and a topic created later is followed`() async throws {
        let followed = try Followed(topics.kafka)
        try await followed.isKnown(true)
        #expect(try await followed.status { $0.link == .missing }.alarms == [])
        try create()
        try write(Self.stop)
        #expect(try await followed.orders() == [.stands(Self.stop)])
        try await followed.close()
    }

    @Test func `with onStale stop, sending starts once a missing topic was created and read`()
        async throws
    {
        let followed = try Followed(topics.kafka, onStale: .stop)
        let status = try await followed.status { $0.link == .missing }
        #expect(!status.isKnown && status.alarms == [.neverThere])
        try create()
        try write(Self.stop)
        #expect(try await followed.orders() == [.stands(Self.stop)])
        try await followed.isKnown(true)
        try await followed.close()
    }

    @Test func `a status is sent at most ten times a second whatever the number of orders`()
        async throws
    {
        try create()
        let start = ContinuousClock.now
        let followed = try Followed(topics.kafka)
        try await followed.isKnown(true)
        let count = 2_000
        let records = (0..<count).map { number in
            ControlRecord.stands(
                Order(
                    id: "\(number)", scope: .recall(story: "\(number)"), at: Instant(milliseconds: 1_795_428_000_000),
                    by: "editor")
            ).record(on: Self.control)
        }
        try topics.publish(records.map { ($0.key, $0.value, []) }, to: Self.control)
        var (orders, statuses) = (0, 0)
        for await message in followed.messages {
            if case .orders(let changes) = message { orders += changes.count }
            guard case .status(let status) = message else { continue }
            statuses += 1
            if status.standing.count == count { break }
        }
        #expect(orders == count)
        // The bound depends on the elapsed time, so a slow machine passes.
        #expect(Int64(statuses) <= start.duration(to: .now).nanoseconds / 100_000_000 + 2, "\(statuses)")
        try await followed.close()
    }

    @Test func `an order that the brokers refuse is reported as not given`() throws {
        try create()
        let client = try OrderClient(topics.kafka, ControlTopics()) {
            Moment(steady: Instant(milliseconds: 0), wall: Instant(milliseconds: 1_795_428_000_000))
        }
        let order = Instruction(
            id: "1", scope: .stop(.hub), at: Instant(milliseconds: 1_795_428_000_000), by: "editor", reason: "r")
        // The audit topic accepts its line; the control topic refuses the order.
        broker.failNext(.produce, .topicAuthorizationFailed, after: 1)
        let refusal = #expect(throws: OrderClient.Refusal.self) { try client.give(order, patience: .zero) }
        let sentence = refusal?.sentence ?? ""
        #expect(sentence.hasPrefix("nothing was ordered. A record was not stored on news.control: "), "\(sentence)")
        #expect(sentence.contains("WRITE"))
        #expect(try topics.read(Self.control).isEmpty)
        #expect(try topics.read("news.audit").count == 1)
        let doubt = OrderClient.Refusal.halfway(KafkaFailure(code: "_TIMED_OUT", detail: "No answer")).sentence
        #expect(doubt.hasPrefix("it may have been ordered: "))
    }

    @Test func `with onStale stop, a silent topic stops sending until it is heard again`() async throws {
        try create()
        let followed = try Followed(topics.kafka, onStale: .stop)
        try await followed.isKnown(true)
        broker.takeOffline(TopicPartition(topic: Self.control, partition: 0))
        followed.pass(.seconds(61))
        try await followed.isKnown(false)
        #expect(
            try await followed.status { !$0.isKnown }.alarms.contains { if case .stale = $0 { true } else { false } })
        broker.bringOnline(TopicPartition(topic: Self.control, partition: 0))
        try await followed.isKnown(true)
        try await followed.close()
    }

    @Test func `a process has a beat while it follows, and removes it at its end`() async throws {
        try create()
        let followed = try Followed(topics.kafka)
        try await followed.isKnown(true)
        let beats = try topics.read(Self.control).map(\.record).filter { $0.key == Array("beat/us".utf8) }
        #expect(beats.last?.value != nil)
        try await followed.close()
        let last = try topics.read(Self.control).last?.record
        #expect(last?.key == Array("beat/us".utf8) && last?.value == nil)
    }
}
