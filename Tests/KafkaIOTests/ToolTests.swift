import ByteText
import KafkaModel
import NewsModel
import TestSupport
import Testing

@testable import KafkaIO

@Suite(.ownThread, .timeLimit(.minutes(15)))
struct ToolTests {
    func publish(_ count: Int, _ broker: Broker, partitions: Int32) throws {
        let publisher = try RecordPublisher(settings: broker.settings)
        for index in 0..<count {
            try publisher.publish(
                ProducedRecord(
                    topic: broker.topic("news"), partition: Int32(index) % partitions, value: Array("\(index)".utf8)))
            // Some brokers report the end of a partition correctly only after batches of one record.
            if count - index <= 10 { try publisher.flush() }
        }
        try publisher.flush()
        #expect(publisher.published == count && publisher.acknowledged == count && publisher.contiguous == count)
    }

    func readAll(_ reader: TopicReader) throws -> [TopicReader.ReadRecord] {
        var all: [TopicReader.ReadRecord] = []
        while !reader.isAtEnd { all += try reader.next() }
        #expect(try reader.next() == [])
        return all
    }

    @Test func `published records are read back completely or in part`() throws {
        let broker = try Broker(("news", 3))
        try publish(3000, broker, partitions: 3)
        let settings = broker.settings
        let topic = broker.topic("news")
        let all = try readAll(TopicReader(settings: settings, topic: topic))
        for number in 0..<3 {
            let own = all.filter { $0.partition.partition == Int32(number) }.map(\.record)
            #expect(own.map(\.offset) == Array(0..<1000))
            #expect(own.compactMap(\.value) == (0..<1000).map { Array("\($0 * 3 + number)".utf8) })
        }
        let tail = try readAll(TopicReader(settings: settings, topic: topic, partitions: [1], from: .offset(990)))
        #expect(tail.map(\.record.offset) == Array(990..<1000))
        #expect(try readAll(TopicReader(settings: settings, topic: topic, from: .end)).isEmpty)
        #expect(try readAll(TopicReader(settings: settings, topic: topic, from: .offset(5000))).isEmpty)
    }

    @Test(.enabled(if: Broker.external == nil, "needs the embedded broker, which keeps 5 MB of a partition"))
    func `a reader notices that records before its position were removed`() throws {
        let broker = try Broker(("news", 2))
        try publish(4, broker, partitions: 2)
        let reader = try TopicReader(settings: broker.settings, topic: broker.topic("news"), follow: true)
        #expect(try reader.next().isEmpty == false)
        #expect(!reader.hasLostRecords())
        let publisher = try RecordPublisher(settings: broker.settings)
        for _ in 0..<70 {
            try publisher.publish(
                ProducedRecord(topic: broker.topic("news"), partition: 1, value: Array(repeating: 0, count: 100_000)))
        }
        try publisher.flush()
        #expect(reader.hasLostRecords())
    }

    @Test func `a record with a key gets the same partition as from Java's producers`() throws {
        let broker = try Broker(("news", 3))
        let publisher = try RecordPublisher(settings: broker.settings)
        let keys = ["21", "foobar", "story-1", "story-2", "story-3"]
        for key in keys {
            try publisher.publish(
                ProducedRecord(topic: broker.topic("news"), key: Array(key.utf8), value: Array(key.utf8)))
        }
        try publisher.flush()
        let all = try readAll(TopicReader(settings: broker.settings, topic: broker.topic("news")))
        #expect(all.count == keys.count)
        for read in all {
            let key = String(decoding: read.record.key ?? [], as: UTF8.self)
            #expect(read.partition.partition == Murmur2.partition(of: key, among: 3), "\(key)")
        }
    }

    @Test func `reading from the last records reports the partitions with earlier ones`() throws {
        let broker = try Broker(("news", 3))
        try publish(7, broker, partitions: 3)
        let topic = broker.topic("news")
        let reader = try TopicReader(settings: broker.settings, topic: topic, from: .last(2))
        let read = try readAll(reader)
        let offsets = (0..<3).map { number in
            read.filter { $0.partition.partition == Int32(number) }.map(\.record.offset)
        }
        #expect(offsets == [[1, 2], [0, 1], [0, 1]])
        #expect(reader.shortened == [TopicPartition(topic: topic, partition: 0)])
        #expect(try readAll(TopicReader(settings: broker.settings, topic: topic, from: .last(0))).isEmpty)
        let whole = try TopicReader(settings: broker.settings, topic: topic, from: .last(.max))
        #expect(try readAll(whole).count == 7)
        #expect(whole.shortened.isEmpty)
    }

    @Test func `reading begins at a time, or at the beginning if the broker has no time index`() throws {
        let broker = try Broker(("news", 2))
        let publisher = try RecordPublisher(settings: broker.settings)
        let start = Instant(milliseconds: 1_800_000_000_000)
        for minute in 0..<10 {
            try publisher.publish(
                ProducedRecord(
                    topic: broker.topic("news"), partition: 0, value: [1], timestamp: start + .seconds(minute * 60)))
        }
        try publisher.flush()
        let reader = try TopicReader(
            settings: broker.settings, topic: broker.topic("news"), from: .time(start + .seconds(450)))
        let offsets = try readAll(reader).map(\.record.offset)
        #expect(broker.knowsTimes ? offsets == [8, 9] : offsets == Array(0..<10))
        let late = try TopicReader(
            settings: broker.settings, topic: broker.topic("news"), from: .time(start + .seconds(4500)))
        #expect(try readAll(late).isEmpty == broker.knowsTimes)
    }

    @Test func `a following reader returns records written later`() throws {
        let broker = try Broker(("news", 1))
        try publish(3, broker, partitions: 1)
        let reader = try TopicReader(settings: broker.settings, topic: broker.topic("news"), from: .end, follow: true)
        #expect(reader.isAtEnd)
        try publish(2, broker, partitions: 1)
        var read: [Int64] = []
        while read.count < 2 { read += try reader.next().map(\.record.offset) }
        #expect(read == [3, 4])
    }

    @Test func `a following reader waits its full timeout although partitions report their ends`() throws {
        let broker = try Broker(("news", 3))
        try publish(300, broker, partitions: 3)
        let reader = try TopicReader(settings: broker.settings, topic: broker.topic("news"), follow: true)
        var read = 0
        while read < 300 { read += try reader.next().count }
        let began = ContinuousClock.now
        #expect(try reader.next(timeout: .seconds(2)).isEmpty)
        #expect(reader.isAtEnd)
        #expect(began.duration(to: .now) > .milliseconds(1_990))
    }

    @Test func `a missing topic causes an error with a remedy`() throws {
        let broker = try Broker(("news", 1))
        let failure = #expect(throws: KafkaFailure.self) {
            _ = try TopicReader(settings: broker.settings, topic: broker.topic("absent"))
        }
        #expect(failure?.description.contains("newswire topics --create") == true)
        #expect(try KafkaAdmin(settings: broker.settings).partitionCounts(of: [broker.topic("absent")]).isEmpty)
    }

    @Test func `partition counts, watermarks and commits are read`() throws {
        let broker = try Broker(("news", 2), ("results", 5))
        let admin = try KafkaAdmin(settings: broker.settings)
        let topics = [broker.topic("news"), broker.topic("results")]
        #expect(try admin.partitionCounts(of: topics) == [topics[0]: 2, topics[1]: 5])
        try publish(10, broker, partitions: 2)
        #expect(try admin.watermarks(broker.partition("news", 1)) == 0..<5)
        #expect(try admin.watermarks(broker.partition("results", 4)).isEmpty)
        #expect(try admin.committed(group: "nobody", [broker.partition("news", 0)]).isEmpty)
    }

    @Test(.enabled(if: Broker.external != nil, "the embedded broker creates no topics on request"))
    func `creating a topic twice causes no failure`() throws {
        let broker = try Broker(("news", 2))
        let admin = try KafkaAdmin(settings: broker.settings)
        try admin.create([.init(name: broker.topic("news"), partitions: 2)])
        let other = KafkaAdmin.NewTopic(
            name: broker.topic("other"), partitions: 3, configuration: ["retention.ms": "3600000"])
        try admin.create([other])
        #expect(try admin.partitionCounts(of: [other.name]) == [other.name: 3])
    }

    @Test(.enabled(if: Broker.external == nil))
    func `an absent broker is reported in time with a remedy`() throws {
        let broker = try Broker(("news", 1))
        broker.embedded?.setDown()
        let admin = try KafkaAdmin(settings: broker.settings, timeout: .seconds(1))
        let failure = #expect(throws: KafkaFailure.self) { try admin.partitionCounts() }
        #expect(failure?.isRetriable == true)
        #expect(failure?.description.contains("kafka.bootstrapServers") == true)
        let publisher = try RecordPublisher(settings: broker.settings)
        try publisher.publish(ProducedRecord(topic: broker.topic("news"), partition: 0, value: [1]))
        #expect(throws: KafkaFailure.self) { try publisher.flush(timeout: .seconds(1)) }
        #expect(publisher.contiguous == 0)
        broker.embedded?.setUp()
        try publisher.flush()
        #expect(publisher.contiguous == 1)
    }

    @Test(.enabled(if: Broker.external == nil))
    func `a refused record stops the publisher, which reports where to resume`() throws {
        let broker = try Broker(("news", 1))
        let publisher = try RecordPublisher(settings: broker.settings)
        let record = ProducedRecord(topic: broker.topic("news"), partition: 0, value: [1])
        try publisher.publish(record)
        try publisher.flush()
        broker.embedded?.failNext(.produce, .messageTooLarge, count: 2)
        try publisher.publish(record)
        let failure = #expect(throws: KafkaFailure.self) { try publisher.flush() }
        #expect(failure?.code == "MSG_SIZE_TOO_LARGE")
        #expect(publisher.contiguous == 1)
        #expect(throws: KafkaFailure.self) { try publisher.publish(record) }
    }

    @Test(.enabled(if: Broker.external == nil))
    func `a record that brokers answer for and do not store is not blamed on the connection`() throws {
        let broker = try Broker(("news", 1))
        let publisher = try RecordPublisher(settings: broker.settings)
        broker.embedded?.failNext(.produce, .notEnoughReplicas, count: 100)
        try publisher.publish(ProducedRecord(topic: broker.topic("news"), partition: 0, value: [1]))
        let failure = #expect(throws: KafkaFailure.self) { try publisher.flush(timeout: .milliseconds(500)) }
        #expect(failure?.detail == "The brokers that answer did not store it in time")
        #expect(failure?.remedy.contains("min.insync.replicas") == true)
    }

    @Test func `a broker that is down is the cause only if no other broker answers`() {
        let down = KafkaFailure(
            code: "_TRANSPORT", isRetriable: true, detail: "The broker a:1 cannot be reached", remedy: "Check it.")
        #expect(KafkaFailure(lastError: down, isAnyBrokerThere: false) == down)
        #expect(
            KafkaFailure(lastError: down, isAnyBrokerThere: true).detail
                == "The brokers that answer did not store it in time; the last error: the broker a:1 cannot be reached")
        let refused = KafkaFailure(code: "_AUTHENTICATION", detail: "The broker a:1 refuses the login")
        #expect(KafkaFailure(lastError: refused, isAnyBrokerThere: true) == refused)
    }

    @Test(.enabled(if: Broker.external == nil))
    func `records whose batch is refused are stored individually`() throws {
        let broker = try Broker(("news", 1))
        let publisher = try RecordPublisher(settings: broker.settings)
        broker.embedded?.failNext(.produce, .messageTooLarge)
        for number in UInt8(0)..<20 {
            try publisher.publish(ProducedRecord(topic: broker.topic("news"), partition: 0, value: [number]))
        }
        try publisher.flush()
        #expect(publisher.acknowledged == 20 && publisher.contiguous == 20)
        let reader = try TopicReader(settings: broker.settings, topic: broker.topic("news"))
        var read: Set<[UInt8]?> = []
        while !reader.isAtEnd { for next in try reader.next() { read.insert(next.record.value) } }
        #expect(read.count == 20)
    }

    @Test(.enabled(if: Broker.external == nil))
    func `a refused record can be skipped, and the others are stored`() throws {
        let broker = try Broker(("news", 1))
        let publisher = try RecordPublisher(settings: broker.settings, skipsRefused: true)
        let record = ProducedRecord(topic: broker.topic("news"), partition: 0, value: [1])
        broker.embedded?.failNext(.produce, .messageTooLarge, count: 2)
        try publisher.publish(record)
        try publisher.flush()
        try publisher.publish(record)
        try publisher.flush()
        #expect(publisher.takeRefused().map(\.index) == [0])
        #expect(publisher.takeRefused().isEmpty)
        #expect(publisher.acknowledged == 1 && publisher.contiguous == 2)
        #expect(publisher.recreatedTopic == nil)
        broker.embedded?.failNext(.produce, .topicAuthorizationFailed)
        try publisher.publish(record)
        #expect(throws: KafkaFailure.self) { try publisher.flush() }
    }

    @Test func `a partition in which a later record has no later offset was recreated or cut back`() {
        var offsets = AcknowledgedOffsets()
        let (one, two) = (TopicPartition(topic: "t", partition: 1), TopicPartition(topic: "t", partition: 2))
        // An acknowledgement without an offset says nothing about the topic.
        let answers = [(5, one), (7, one), (-1, one), (0, two), (7, one), (8, one), (3, one), (4, one), (1, two)]
            .map { offsets.append($0, $1) }
        #expect(answers == [true, true, true, true, false, true, false, true, true])
    }

    @Test(
        arguments: [(5, 5, 5, false), (5, 5, 6, true), (5, 6, 6, false), (5, 6, 7, false), (5, 4, 6, true)] as [Offsets]
    )
    func `a transaction hides records if nothing stable follows the end, and the topic is longer`(offsets: Offsets) {
        let (end, stable, high, isHeldUp) = offsets
        #expect(TopicReader.isHeldUp(at: end, stable: stable, high: high) == isHeldUp)
    }

    typealias Offsets = (end: Int64, stable: Int64, high: Int64, isHeldUp: Bool)

    @Test(.enabled(if: Broker.external != nil, "needs a broker that deletes records"))
    func `a reader from a time may lack records if none before that time is left, and the first are removed`() throws {
        let broker = try Broker(("news", 1))
        try publish(6, broker, partitions: 1)
        func mayLack(since time: Instant) throws -> Bool {
            try TopicReader(settings: broker.settings, topic: broker.topic("news"), from: .time(time)).mayLackRecords
        }
        #expect(try !mayLack(since: hourAgo))
        for offset in [3, 6] as [Int64] {
            try broker.delete(broker.partition("news", 0), below: offset)
            #expect(try mayLack(since: hourAgo))
            #expect(try mayLack(since: hourAgo + .seconds(7_200)) == (offset == 6))
        }
    }

    @Test(.enabled(if: Broker.external != nil, "needs a broker that deletes topics"))
    func `a publisher detects that its topic was deleted and recreated`() throws {
        let broker = try Broker(("news", 1))
        let publisher = try RecordPublisher(settings: broker.settings)
        let record = ProducedRecord(topic: broker.topic("news"), partition: 0, value: [1])
        for _ in 0..<100 { try publisher.publish(record) }
        try publisher.flush()
        #expect(publisher.recreatedTopic == nil)
        try broker.makeAgain("news", partitions: 1)
        try publisher.publish(record)
        // The broker may refuse the record instead, because it does not know the producer any more.
        let isRefused = (try? publisher.flush()) == nil
        #expect(isRefused || publisher.recreatedTopic == broker.topic("news"))
    }

    @Test(.enabled(if: Broker.external == nil))
    func `an abandoned record is not sent later`() throws {
        let broker = try Broker(("news", 1))
        let publisher = try RecordPublisher(settings: broker.settings)
        let record = ProducedRecord(topic: broker.topic("news"), partition: 0, value: [1])
        try publisher.publish(record)
        try publisher.flush()
        broker.embedded?.setDown()
        try publisher.publish(record)
        #expect(!publisher.settle(within: .milliseconds(1)))
        #expect(publisher.waiting == 1)
        // The record was never sent.
        #expect(publisher.abandon() == 0)
        #expect(publisher.waiting == 0)
        #expect(publisher.isAcknowledged(0) && !publisher.isAcknowledged(1))
        #expect(throws: KafkaFailure.self) { try publisher.publish(record) }
        broker.embedded?.setUp()
        #expect(try KafkaAdmin(settings: broker.settings).watermarks(broker.partition("news", 0)) == 0..<1)
    }

    @Test func `a cluster has a name`() throws {
        let broker = try Broker(("news", 1))
        let admin = try KafkaAdmin(settings: broker.settings)
        #expect(admin.clusterID()?.isEmpty == false)
        #expect(try KafkaAdmin(settings: broker.settings).clusterID() == admin.clusterID())
    }
}
