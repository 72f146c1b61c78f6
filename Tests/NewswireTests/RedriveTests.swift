import HubServer
import KafkaIO
import KafkaModel
import NewsModel
import NewswireCommands
import PublishEngine
import Testing

private func letter(
    _ outcome: String = "unroutable", reason: String = "no-category", source: String = "news.events/1/7/apple",
    count: String? = nil, at time: Instant? = Instant(milliseconds: 1000), extra: [RecordHeader] = []
) -> SourceRecord {
    var headers = extra + [RecordHeader("x-desk", "night"), RecordHeader(name: "x-null", value: nil)]
    if let count { headers += [RecordHeader("nw-redrive", count), RecordHeader("nw-platform", "windows")] }
    headers += [
        RecordHeader("nw-source", source), RecordHeader("nw-outcome", outcome), RecordHeader("nw-reason", reason),
    ]
    return SourceRecord(offset: 3, timestamp: time, key: [0xff], value: [0x7b, 0xff], headers: headers)
}

private func record(_ verdict: Redrive.Verdict) -> ProducedRecord? {
    if case .putBack(let record) = verdict { record } else { nil }
}

struct RedriveTests {
    let redrive = Redrive(topics: ["news.events": 2])

    @Test(arguments: [(nil, "1"), ("1", "2"), ("2", "3")])
    func `a dead letter returns to its lane byte for byte, for its platform only`(count: String?, next: String) throws {
        let back = try #require(record(redrive.verdict(on: letter(count: count))))
        #expect(back.topic == "news.events")
        #expect(back.partition == 1)
        #expect(back.key == [0xff])
        #expect(back.value == [0x7b, 0xff])
        #expect(back.timestamp == Instant(milliseconds: 1000))
        #expect(
            back.headers == [
                RecordHeader("x-desk", "night"), RecordHeader(name: "x-null", value: nil),
                RecordHeader("nw-redrive", next), RecordHeader("nw-platform", "apple"),
            ])
    }

    @Test func `a returned record has the original's time and none of the dead letter's own headers`() throws {
        let now = Instant(milliseconds: 9_000_000)
        let dead = letter(at: now, extra: [RecordHeader("nw-written-at", "1500")])
        let back = try #require(record(redrive.verdict(on: dead)))
        #expect(back.timestamp == Instant(milliseconds: 1500))
        #expect(back.headers.map(\.name) == ["x-desk", "x-null", "nw-redrive", "nw-platform"])
        // A dead letter of an earlier version, or with a foreign header.
        for extra in [[], [RecordHeader("nw-written-at", "yesterday")]] {
            let back = try #require(record(redrive.verdict(on: letter(at: now, extra: extra))))
            #expect(back.timestamp == now)
        }
    }

    @Test(arguments: [("1000", true), ("1001", true), ("999", false), ("2000", false), ("-10000000000000", false)])
    func `times are those of the original, not of the dead letter`(writtenAt: String, isWanted: Bool) {
        var redrive = redrive
        redrive.since = Instant(milliseconds: 1000)
        redrive.until = Instant(milliseconds: 2000)
        let dead = letter(at: Instant(milliseconds: 1500), extra: [RecordHeader("nw-written-at", writtenAt)])
        #expect((redrive.verdict(on: dead) != .passedOver) == isWanted)
    }

    @Test func `a dead letter without its original is refused`() {
        let dead = smallestDeadLetter(
            ProducedRecord(topic: "dead", key: [1], value: letter().value, headers: letter().headers))
        let read = SourceRecord(offset: 1, timestamp: nil, key: dead.key, value: dead.value, headers: dead.headers)
        #expect(redrive.verdict(on: read) == .refused(.truncated))
        #expect(Redrive.label(read)?.coordinates.source.description == "news.events/1/7")
        #expect(Redrive.Refusal.truncated.rawValue.contains("nw-source"))
    }

    @Test(arguments: ["3", "4", "99999999999999999999", "-1", "x", ""])
    func `a record is returned to its lane only a limited number of times`(count: String) {
        #expect(redrive.verdict(on: letter(count: count)) == .refused(.maximumReached))
    }

    @Test func `a foreign record, or a dead letter of a deleted topic, is refused`() {
        #expect(redrive.verdict(on: SourceRecord(offset: 0, value: [1])) == .refused(.notOurs))
        #expect(redrive.verdict(on: letter("nonsense")) == .refused(.notOurs))
        #expect(redrive.verdict(on: letter(source: "news.events/1/x/apple")) == .refused(.notOurs))
        #expect(redrive.verdict(on: letter(source: "secrets/1/7/apple")) == .refused(.foreignTopic))
    }

    @Test func `the key chooses the partition if the original one no longer exists`() throws {
        let back = try #require(record(redrive.verdict(on: letter(source: "news.events/2/7/apple"))))
        #expect(back.partition == nil)
    }

    @Test func `filters pass over all other dead letters`() {
        func isWanted(_ change: (inout Redrive) -> Void, at time: Instant? = Instant(milliseconds: 1000)) -> Bool {
            var redrive = redrive
            change(&redrive)
            return redrive.verdict(on: letter(at: time)) != .passedOver
        }
        #expect(isWanted { $0.outcomes = [.unroutable] })
        #expect(!isWanted { $0.outcomes = [.rejected] })
        #expect(isWanted { $0.reasons = ["no-category"] })
        #expect(!isWanted { $0.reasons = ["other"] })
        #expect(!isWanted { $0.wantedTopics = ["news.backfill"] })
        #expect(isWanted { $0.since = Instant(milliseconds: 1000) })
        #expect(!isWanted { $0.since = Instant(milliseconds: 1001) })
        #expect(isWanted { $0.until = Instant(milliseconds: 1001) })
        #expect(!isWanted { $0.until = Instant(milliseconds: 1000) })
        #expect(!isWanted({ $0.since = .distantPast }, at: nil))
    }

    @Test func `records returned by two runs with different filters are remembered`() {
        var first = RedriveMark(nil)
        for offset: Int64 in [0, 2, 4, 9, 12] { offset % 4 == 0 ? first.putBack(offset) : first.leave(offset) }
        #expect(first.committed.mark.offset == 2)
        var second = RedriveMark(first.committed.mark)
        #expect([0, 1, 4, 12].allSatisfy(second.isGone))
        #expect(![2, 3, 9, 13].contains(where: second.isGone))
        second.putBack(2)
        second.leave(9)
        #expect(second.committed.mark.offset == 9)
        var third = RedriveMark(second.committed.mark)
        #expect(third.isGone(12))
        third.putBack(9)
        #expect(RedriveMark(third.committed.mark).isGone(9))
        #expect(!RedriveMark(third.committed.mark).isGone(13))
        // After an early end, the later ones are still recorded.
        var early = RedriveMark(first.committed.mark)
        early.putBack(2)
        #expect(RedriveMark(early.committed.mark).isGone(12))
    }

    @Test func `metadata stays within the limit of brokers, and the mark counts what it drops`() {
        var mark = RedriveMark(nil)
        for offset in 0..<100_000 as Range<Int64> {
            offset.isMultiple(of: 2) ? mark.leave(offset) : mark.putBack(offset)
        }
        let (committed, outOfReach) = mark.committed
        #expect(committed.metadata.utf8.count <= 4096)
        #expect(outOfReach == 38_000)
        #expect(!RedriveMark(committed).isGone(committed.offset))
        #expect(RedriveMark(committed).isGone(99_999))
    }

    @Test(arguments: ["garbage", "====", String(repeating: "/", count: 4_100), "\u{0}"])
    func `metadata in another form counts as empty`(metadata: String) {
        #expect(!RedriveMark(.init(offset: 5, metadata: metadata)).isGone(6))
        var last = RedriveMark(.init(offset: .max, metadata: "//8="))
        last.putBack(.max)
        #expect(last.committed.mark.offset > 0)
    }

    @Test func `a returned dead letter is delivered once, and a second run returns nothing`() async throws {
        let room = try await ProgramRoom()
        let publisher = try RecordPublisher(settings: room.broker.settings(group: "test"))
        for (key, category) in [("a", "Gardening"), ("b", "World"), ("c", "Gardening")] {
            try publisher.publish(
                ProducedRecord(
                    topic: "news.events", partition: 1, key: Array(key.utf8),
                    value: Array(#"{"id":"\#(key)","headline":"H","category":"\#(category)"}"#.utf8)))
        }
        try publisher.flush()
        let first = try await room.run("run", "--until-caught-up")
        #expect(first.status == 0, "\(first.errors)")
        #expect(room.hub.receivedCount == 1)

        let dry = try await room.run("redrive", "--dry-run")
        #expect(dry.output.hasSuffix("would put back 2 dead letters\n"), "\(dry.output) \(dry.errors)")
        let other = try await room.run("redrive", "--outcome", "rejected")
        #expect(other.output == "put back 0 dead letters, left 2 excluded by the filters\n", "\(other.errors)")
        let one = try await room.run("redrive", "--limit", "1")
        #expect(one.output.hasSuffix("put back 1 dead letter\n"), "\(one.output) \(one.errors)")
        let rest = try await room.run("redrive")
        #expect(rest.output.contains("put back 1 dead letter"), "\(rest.output) \(rest.errors)")
        let none = try await room.run("redrive")
        #expect(none.output.hasPrefix("put back 0"), "\(none.output) \(none.errors)")

        // The newsroom now sends unroutable events as World.
        let routed = room.environment.merging(["NEWSWIRE_UNROUTABLE": "World"]) { $1 }
        let second = try await Program.run(
            ["run", "--until-caught-up", "--config", room.path("newswire.yaml")], environment: routed)
        #expect(second.status == 0, "\(second.errors)")
        #expect(room.hub.receivedCount == 3)
        let again = try await room.run("redrive", "--again", "--dry-run")
        #expect(again.output.hasSuffix("would put back 2 dead letters\n"), "\(again.output) \(again.errors)")
        await room.close()
    }
}
