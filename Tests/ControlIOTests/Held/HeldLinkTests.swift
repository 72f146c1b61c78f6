import ControlIO
import EditorialControl
import KafkaIO
import KafkaModel
import NewsModel
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct HeldLinkTests {
    private static let lane = "news.events"
    private static let topic = "news.held"
    private static let partitions = 3
    private static let noon = Instant(milliseconds: 1_800_000_000_000)

    private let broker: EmbeddedBroker
    private let topics: Topics

    init() throws {
        broker = try EmbeddedBroker(topics: [(Self.lane, Self.partitions), (Self.topic, Self.partitions)])
        topics = Topics(kafka: broker.settings(group: "held"), partitions: Self.partitions)
    }

    /// Makes a link whose clock is fixed at noon, unless the test has another one.
    private func link(
        former: HeldTotals? = nil, _ notify: @escaping @Sendable (HeldLink.Notice) -> Void = { _ in },
        clock: @escaping @Sendable () -> Moment = { Moment(steady: Instant(milliseconds: 5_000), wall: Self.noon) }
    ) -> HeldLink {
        let link = HeldLink(settings: topics.kafka, topic: Self.topic, clock: clock)
        link.post(.formerly(former))
        link.post(
            .owned(
                LaneID(0), ShardID(0),
                (0..<Int32(Self.partitions)).map { TopicPartition(topic: Self.lane, partition: $0) }))
        link.start(notify: notify)
        return link
    }

    private func hold(_ stories: Range<Int>, due: Instant, in topic: String = Self.topic) throws {
        let publisher = try RecordPublisher(settings: topics.kafka)
        for story in stories {
            let source = ResultRecord.Source(
                partition: TopicPartition(topic: Self.lane, partition: Int32(story % Self.partitions)), offset: 0)
            let event = HeldEvent(
                eventID: "e\(story)", story: "s\(story)", version: nil, due: due, because: .embargo, lane: "live",
                source: source)
            let original = SourceRecord(
                offset: 0, timestamp: Self.noon, key: Array("k\(story)".utf8), value: [0, 255, UInt8(story % 251)],
                headers: [RecordHeader("ce_id", "\(story)")])
            try publisher.publish(HeldRecord.hold(original, event, topic: topic))
        }
        try publisher.flush()
    }

    /// Waits until a topic has `count` matching records.
    private func read(
        _ topic: String, _ count: Int, where fits: (SourceRecord) -> Bool = { _ in true }
    ) throws -> [SourceRecord] {
        let reader = try TopicReader(settings: topics.kafka, topic: topic, follow: true)
        var found: [SourceRecord] = []
        while found.count < count { found += try reader.next(timeout: .milliseconds(100)).map(\.record).filter(fits) }
        return found
    }

    @Test func `due events return unchanged and are erased, and other events stay`() throws {
        try hold(0..<400, due: Self.noon)
        try hold(400..<410, due: Self.noon + .milliseconds(1))
        let link = link()
        defer { link.close() }
        let returned = try read(Self.lane, 400)
        #expect(Set(returned.map(\.key)) == Set((0..<400).map { Array("k\($0)".utf8) }))
        for record in returned {
            let story = try #require(record.headers.first.flatMap(\.text).flatMap { Int($0) })
            #expect(record.key == Array("k\(story)".utf8))
            #expect(record.value == [0, 255, UInt8(story % 251)])
            let place = try #require(record.headers.first { $0.name == "nw-held-from" })
            #expect(
                record.headers == [
                    RecordHeader("ce_id", "\(story)"), RecordHeader(HeaderName.held, "due"), place,
                    RecordHeader(HeaderName.group, topics.kafka.group),
                ])
        }
        let erased = try read(Self.topic, 400) { !$0.hasValue }
        #expect(Set(erased.map(\.key)) == Set((0..<400).map { Array("s\($0)".utf8) }))
        let table = try HeldReading.all(topics.kafka, topic: Self.topic)
        #expect(Set(table.events.map(\.story)) == Set((400..<410).map { "s\($0)" }))
    }

    @Test func `events that engines have requested back return before the link closes`() throws {
        try hold(0..<300, due: .distantFuture)
        let link = link()
        link.post(.orders([.stands(Order(id: "1", scope: .recall(story: "s0"), at: Self.noon, by: "editor"))]))
        // Shows that all was read.
        _ = try read(Self.lane, 1)
        for story in 1..<300 { link.post(.bringBack(story: "s\(story)", .superseded)) }
        link.close()
        let returned = try read(Self.lane, 300)
        #expect(Set(returned.map(\.key)) == Set((0..<300).map { Array("k\($0)".utf8) }))
    }

    @Test func `a recall and an engine's recall request return a story before its time`() throws {
        try hold(0..<3, due: .distantFuture)
        let link = link()
        defer { link.close() }
        link.post(.orders([.stands(Order(id: "1", scope: .recall(story: "s1"), at: Self.noon, by: "editor"))]))
        // A request counts only for known events, so it follows the recall, which shows that all was read.
        #expect(try read(Self.lane, 1).first?.headers.contains(RecordHeader(HeaderName.held, "recalled")) == true)
        link.post(.bringBack(story: "s2", .superseded))
        let returned = try read(Self.lane, 2)
        #expect(Set(returned.map(\.key)) == [Array("k1".utf8), Array("k2".utf8)])
    }

    @Test func `events that are held after a recall was lifted wait for their time`() throws {
        func recall(_ story: Int) -> OrderChange {
            .stands(Order(id: "\(story)", scope: .recall(story: "s\(story)"), at: Self.noon, by: "editor"))
        }
        let link = link()
        defer { link.close() }
        link.post(.orders((0..<20).map(recall)))
        try hold(0..<1, due: .distantFuture)
        // Shows that the recalls were handled.
        _ = try read(Self.lane, 1)
        link.post(.orders((1..<20).map { .lifted(.recall(story: "s\($0)")) }))
        try hold(1..<20, due: .distantFuture)
        link.post(.orders([recall(20)]))
        try hold(20..<21, due: .distantFuture)
        let returned = try read(Self.lane, 2)
        #expect(returned.map(\.key) == [Array("k0".utf8), Array("k20".utf8)])
    }

    @Test func `a newer version followed by a tombstone of the older one is written again`() throws {
        try hold(0..<1, due: .distantFuture)
        let publisher = try RecordPublisher(settings: topics.kafka)
        try publisher.publish(HeldRecord.tombstone(story: "s0", upTo: -1, topic: Self.topic, partition: 0))
        try publisher.flush()
        let link = link()
        defer { link.close() }
        let held = try read(Self.topic, 2) { $0.hasValue }
        #expect(held.map(\.offset) == [0, 2])
        #expect(try HeldReading.all(topics.kafka, topic: Self.topic).events.map(\.story) == ["s0"])
    }

    @Test func `a topic that appears later is found, and earlier inputs still count`() async throws {
        let topic = "news.held.later"
        let (notices, told) = AsyncStream<HeldLink.Notice>.makeStream()
        let link = HeldLink(
            settings: topics.kafka, topic: topic, lookInterval: .milliseconds(300),
            clock: { Moment(steady: Instant(milliseconds: 5_000), wall: Self.noon) })
        link.post(.formerly(nil))
        link.post(.owned(LaneID(0), ShardID(0), [TopicPartition(topic: Self.lane, partition: 0)]))
        link.start { told.yield($0) }
        defer { link.close() }
        var next = notices.makeAsyncIterator()
        guard case .isAway(let failure) = await next.next() else {
            Issue.record("the topic is missing")
            return
        }
        #expect(failure.code == "UNKNOWN_TOPIC_OR_PART")
        link.post(.orders([.stands(Order(id: "1", scope: .recall(story: "s0"), at: Self.noon, by: "editor"))]))
        try broker.create(topic: topic, partitions: Self.partitions)
        try hold(0..<1, due: .distantFuture, in: topic)
        let returned = try read(Self.lane, 1)
        #expect(returned.first?.headers.contains(RecordHeader(HeaderName.held, "recalled")) == true)
    }

    @Test func `the topic counts as there once all that it contained was read`() async throws {
        try hold(0..<900, due: .distantFuture)
        let told = Mutex(0)
        let (counts, there) = AsyncStream<Int>.makeStream()
        let link = link { notice in
            switch notice {
            case .held(let stories): told.withLock { $0 += stories.count }
            case .isThere: there.yield(told.withLock { $0 })
            default: break
            }
        }
        defer { link.close() }
        var next = counts.makeAsyncIterator()
        #expect(await next.next() == 900)
    }

    @Test func `a topic that the user may not read is away until the user may`() async throws {
        try hold(0..<1, due: .distantFuture)
        // librdkafka drops the answer to a request that it made before an assignment, so one error would not suffice.
        broker.failNext(.fetch, .topicAuthorizationFailed, count: 10_000)
        let (notices, told) = AsyncStream<Bool>.makeStream()
        let link = link { notice in
            switch notice {
            case .isThere: told.yield(true)
            case .isAway(let failure) where failure.code == "TOPIC_AUTHORIZATION_FAILED": told.yield(false)
            default: break
            }
        }
        defer { link.close() }
        var next = notices.makeAsyncIterator()
        while let isThere = await next.next(), isThere {}
        broker.serve(.fetch)
        while let isThere = await next.next(), !isThere {}
    }

    @Test func `events of a topic that was recreated while no process ran are reported as lost`() async throws {
        let (losses, told) = AsyncStream<Int>.makeStream()
        let former = HeldTotals(count: 7, last: HeldMark(HeldPlace(1, 40), identity: 3))
        // Each look at this clock is a second later, because losses are counted after two minutes.
        let seconds = Mutex(0)
        let clock: @Sendable () -> Moment = {
            let passed = Duration.seconds(
                seconds.withLock { seconds in
                    seconds += 1
                    return seconds
                })
            return Moment(steady: Instant(milliseconds: 5_000) + passed, wall: Self.noon + passed)
        }
        let link = link(
            former: former, { if case .vanished(_, let lost) = $0 { told.yield(lost) } }, clock: clock)
        defer { link.close() }
        #expect(await losses.first { _ in true } == 7)
    }

    @Test func `engines are notified of every held story`() async throws {
        try hold(0..<5, due: .distantFuture)
        let (stories, told) = AsyncStream<[HeldStory]>.makeStream()
        let link = link { if case .held(let stories) = $0 { told.yield(stories) } }
        defer { link.close() }
        var known: Set<String> = []
        for await some in stories {
            known.formUnion(some.filter(\.isHeld).map(\.story))
            if known.count == 5 { break }
        }
        #expect(known == ["s0", "s1", "s2", "s3", "s4"])
    }
}
