import Dispatch
import Foundation
import KafkaIO
import KafkaModel
import NewsModel
import Synchronization
import TestSupport
import Testing

@Suite(.ownThread)
struct SharedStateDriverTests {
    private let room: Broker

    init() throws { room = try Broker(("feeds", 4), ("events", 3)) }

    private func member() throws -> Member { try Member(room, topic: room.topic("feeds"), partitions: 4) }

    private func state(_ partition: Int32, _ key: String, _ value: String?) -> ProducedRecord {
        ProducedRecord(
            topic: room.topic("feeds"), partition: partition, key: Array(key.utf8), value: value.map { Array($0.utf8) })
    }

    @Test func `a member reads the records on its partitions, then its own writes in order`() throws {
        let tool = try RecordPublisher(settings: room.settings)
        try tool.publish(state(0, "feed/a", "1"))
        try tool.publish(state(0, "entry/a/x", "1"))
        try tool.publish(state(2, "feed/b", "1"))
        try tool.flush()
        let member = try member()
        defer { member.close() }
        #expect(member.wait { Set($0.restored) == [0, 1, 2, 3] })
        #expect(member.now.values == ["feed/a": "1", "entry/a/x": "1", "feed/b": "1"])

        member.driver.write([state(0, "feed/a", "2"), state(0, "entry/a/x", nil)], as: 41)
        #expect(member.wait { $0.written == [41] && $0.values == ["feed/a": "2", "feed/b": "1"] })
    }

    @Test func `offsets of a former assignment are not committed`() throws {
        let member = try member()
        defer { member.close() }
        #expect(member.wait { $0.restored.count == 4 })
        member.driver.commit([0: 7], .none)
        member.driver.commit([1: 5], member.now.generation)
        #expect(member.wait { $0.commits == 1 })
        let partitions = [Int32(0), 1].map { TopicPartition(topic: room.topic("feeds"), partition: $0) }
        let group = "\(room.settings.group).feeds"
        let offsets = try GroupOffsets(settings: room.settings, group: group).read(partitions)
        #expect(offsets.mapValues(\.offset) == [partitions[1]: 5])
    }

    @Test func `two members share the partitions, and one takes over if the other leaves`() throws {
        let first = try member()
        defer { first.close() }
        #expect(first.wait { Set($0.restored) == [0, 1, 2, 3] })
        first.driver.write([state(3, "feed/c", "1")], as: 1)
        #expect(first.wait { $0.written == [1] })

        let second = try member()
        #expect(second.wait { $0.restored.count == 2 })
        #expect(first.wait { $0.restored.count == 2 })
        #expect(Set(first.now.restored).isDisjoint(with: second.now.restored))
        #expect(first.now.values.merging(second.now.values) { first, _ in first } == ["feed/c": "1"])

        second.close()
        #expect(first.wait { Set($0.restored) == [0, 1, 2, 3] && $0.values == ["feed/c": "1"] })
    }

    @Test func `a revocation waits until pending work is finished`() throws {
        let first = try member()
        defer { first.close() }
        #expect(first.wait { $0.restored.count == 4 })
        first.holdRevoked()
        let second = try member()
        defer { second.close() }
        #expect(first.wait { $0.isRevoked })
        // The other member gets nothing while the first still writes.
        first.driver.write([state(1, "feed/a", "last words")], as: 9)
        #expect(first.wait { $0.written == [9] })
        #expect(second.now.assignments == 0)
        first.release()
        #expect(second.wait { $0.restored.count == 2 })
        #expect(first.wait { $0.restored.count == 2 })
        #expect(
            first.now.values.merging(second.now.values) { first, _ in first } == ["feed/a": "last words"])
    }

    @Test func `an event gets the same partition as from Java's producers`() throws {
        let member = try member()
        defer { member.close() }
        // Kafka's own test of murmur2 expects -973932308 for "21" and -790332482 for "foobar"; the sign is cleared.
        let records = ["21", "foobar"].map {
            ProducedRecord(topic: room.topic("events"), key: Array($0.utf8), value: Array($0.utf8))
        }
        member.driver.write(records, as: 2)
        #expect(member.wait { $0.written == [2] })
        let reader = try TopicReader(settings: room.settings, topic: room.topic("events"))
        var found: [String: Int32] = [:]
        while !reader.isAtEnd {
            for read in try reader.next() {
                found[String(decoding: read.record.key ?? [], as: UTF8.self)] = read.partition.partition
            }
        }
        #expect(found == ["21": (-973_932_308 & 0x7fff_ffff) % 3, "foobar": (-790_332_482 & 0x7fff_ffff) % 3])
    }

    @Test func `a record that is too large is refused, and its neighbors are stored`() throws {
        let member = try Member(
            room, topic: room.topic("feeds"), partitions: 4, properties: ["message.max.bytes": "5000"])
        defer { member.close() }
        #expect(member.wait { $0.restored.count == 4 })
        member.driver.write(
            [state(0, "a", "1"), state(0, "b", String(repeating: "x", count: 9_000)), state(0, "c", "3")], as: 5)
        #expect(member.wait { $0.refused == [5: [1]] && $0.values == ["a": "1", "c": "3"] })
    }

    @Test func `a record for a missing topic fails its write with the topic's name`() throws {
        let member = try Member(
            room, topic: room.topic("feeds"), partitions: 4,
            properties: ["topic.metadata.propagation.max.ms": "300"])
        defer { member.close() }
        #expect(member.wait { $0.restored.count == 4 })
        // The embedded broker creates requested topics, but no partitions beyond the existing ones.
        member.driver.write([state(77, "feed/a", "1")], as: 3)
        #expect(member.wait { $0.failed.keys.contains(3) })
        #expect(member.now.failed[3]?.detail.contains(room.topic("feeds")) == true)
    }
}

/// A member of the group that records its partitions' events. It releases at once unless told otherwise.
private final class Member: Sendable {
    struct Books: Sendable {
        var assignments = 0
        var generation = Generation.none
        var commits = 0
        var restored: [Int32] = []
        var values: [String: String] = [:]
        var written: [UInt64] = []
        var failed: [UInt64: KafkaFailure] = [:]
        var refused: [UInt64: [Int]] = [:]
        var isRevoked = false
    }

    private final class Ledger: Sendable {
        let books = Mutex(Books())
        let changed = DispatchSemaphore(value: 0)
        let closed = DispatchSemaphore(value: 0)
        let releases = Atomic(true)
        let driver = Mutex<SharedStateDriver?>(nil)
    }

    let driver: SharedStateDriver
    private let ledger: Ledger

    init(_ room: Broker, topic: String, partitions: Int, properties: [String: String] = [:]) throws {
        let ledger = Ledger()
        var settings = room.settings
        settings.properties.merge(properties) { $1 }
        self.ledger = ledger
        driver = try SharedStateDriver(settings: settings, name: "feeds", topic: topic, partitions: partitions) {
            events in
            ledger.books.withLock { books in for event in events { books.take(event) } }
            let isRevoked = events.contains { if case .revoked = $0 { true } else { false } }
            if isRevoked, ledger.releases.load(ordering: .relaxed) { ledger.driver.withLock { $0 }?.release() }
            ledger.changed.signal()
        } notify: { notice in
            if case .closed = notice { ledger.closed.signal() }
        }
        ledger.driver.withLock { $0 = driver }
        driver.start()
    }

    var now: Books { ledger.books.withLock { $0 } }

    func holdRevoked() { ledger.releases.store(false, ordering: .relaxed) }

    func release() {
        ledger.releases.store(true, ordering: .relaxed)
        driver.release()
    }

    func wait(_ condition: (Books) -> Bool) -> Bool {
        let deadline = DispatchTime.now() + .seconds(30)
        while !condition(now) {
            if ledger.changed.wait(timeout: deadline) == .timedOut { return condition(now) }
        }
        return true
    }

    func close() {
        driver.close()
        _ = ledger.closed.wait(timeout: .now() + .seconds(20))
        ledger.driver.withLock { $0 = nil }
    }
}

extension Member.Books {
    mutating func take(_ event: SharedStateEvent) {
        switch event {
        case .assigned(_, let generation):
            self.generation = generation
            assignments += 1
            restored = []
            values = [:]
        case .records(_, let records):
            for record in records {
                values[String(decoding: record.key ?? [], as: UTF8.self)] = record.value.map {
                    String(decoding: $0, as: UTF8.self)
                }
            }
        case .restored(let partition): restored.append(partition)
        case .revoked: isRevoked = true
        case .lost, .restarted: restored = []
        case .committed: commits += 1
        case .removed: break
        case .written(let number): written.append(number)
        case .refused(let number, let places, _): refused[number] = places
        case .notWritten(let number, let failure): failed[number] = failure
        }
    }
}
