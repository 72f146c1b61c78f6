import Backfill
import KafkaModel
import NewsModel
import NotificationHub
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

/// The mark as the next run reads it.
private func again(_ mark: RedriveMark) -> RedriveMark {
    RedriveMark(offset: mark.committed.offset, metadata: mark.committed.metadata)
}

struct RedriveTests {
    let redrive = Redrive(topics: ["news.events": 2], group: "g", platforms: [.apple, .windows])

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
                RecordHeader("nw-redrive", next), RecordHeader("nw-redrive-of", "news.events/1/7"),
                RecordHeader("nw-platform", "apple"),
            ])
    }

    @Test func `a dead letter of a copy repeats the same event, so that of two failed copies one is sent`() throws {
        let copy = letter(
            source: "news.events/1/9/apple", count: "1", extra: [RecordHeader("nw-redrive-of", "news.events/1/7")])
        let back = try #require(record(redrive.verdict(on: copy)))
        #expect(
            back.headers.filter { $0.name == "nw-redrive-of" } == [RecordHeader("nw-redrive-of", "news.events/1/7")])
    }

    @Test func `a dead letter of a platform that the configuration has no more is refused`() {
        let foreign = letter(source: "news.events/1/7/fcmv1")
        #expect(redrive.verdict(on: foreign) == .refused(.foreignPlatform))
    }

    @Test func `records that differ by their platforms only are joined, in order`() throws {
        let records = try ["1/7/apple", "1/8/apple", "1/7/windows", "1/7/apple"].map { place in
            try #require(record(redrive.verdict(on: letter(source: "news.events/\(place)"))))
        }
        let joined = Redrive.joined(records)
        func texts(_ name: String) -> [String?] {
            joined.map { record in record.headers.last { $0.name == name }?.text }
        }
        #expect(texts("nw-redrive-of") == ["news.events/1/7", "news.events/1/8"])
        #expect(texts("nw-platform") == ["apple,windows", "apple"])
    }

    @Test func `a record put back once more names no delivery, so that it is sent whatever was put back before`() throws
    {
        var redrive = redrive
        redrive.isAgain = true
        let back = try #require(
            record(redrive.verdict(on: letter(extra: [RecordHeader("nw-redrive-of", "news.events/1/2/apple")]))))
        #expect(back.headers.map(\.name) == ["x-desk", "x-null", "nw-redrive", "nw-platform"])
    }

    @Test func `a dead letter returns for the group that wrote it, and another group's is refused`() throws {
        let ours = try #require(record(redrive.verdict(on: letter(extra: [RecordHeader("nw-group", "g")]))))
        #expect(ours.headers.filter { $0.name == "nw-group" } == [RecordHeader("nw-group", "g")])
        let foreign = letter(extra: [RecordHeader("nw-group", "h")])
        #expect(redrive.verdict(on: foreign) == .refused(.otherGroup))
        // The group had another name when it wrote the dead letter.
        var renamed = redrive
        renamed.formerGroup = "h"
        let back = try #require(record(renamed.verdict(on: foreign)))
        #expect(back.headers.filter { $0.name == "nw-group" } == [RecordHeader("nw-group", "g")])
    }

    @Test func `a returned record has the original's time and none of the dead letter's own headers`() throws {
        let now = Instant(milliseconds: 9_000_000)
        let dead = letter(at: now, extra: [RecordHeader("nw-written-at", "1500")])
        let back = try #require(record(redrive.verdict(on: dead)))
        #expect(back.timestamp == Instant(milliseconds: 1500))
        #expect(back.headers.map(\.name) == ["x-desk", "x-null", "nw-redrive", "nw-redrive-of", "nw-platform"])
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
        var first = RedriveMark()
        for offset: Int64 in [0, 2, 4, 9, 12] { offset % 4 == 0 ? first.putBack(offset) : first.leave(offset) }
        #expect(first.committed.offset == 2)
        var second = again(first)
        #expect([0, 1, 4, 12].allSatisfy(second.isGone))
        #expect(![2, 3, 9, 13].contains(where: second.isGone))
        second.putBack(2)
        second.leave(9)
        #expect(second.committed.offset == 9)
        var third = again(second)
        #expect(third.isGone(12))
        third.putBack(9)
        #expect(again(third).isGone(9))
        #expect(!again(third).isGone(13))
        // After an early end, the later ones are still recorded.
        var early = again(first)
        early.putBack(2)
        #expect(again(early).isGone(12))
    }

    @Test func `metadata stays within the limit of brokers, and the mark counts what it drops`() {
        var mark = RedriveMark()
        for offset in 0..<100_000 as Range<Int64> {
            offset.isMultiple(of: 2) ? mark.leave(offset) : mark.putBack(offset)
        }
        let committed = mark.committed
        #expect(committed.metadata.utf8.count <= 4096)
        #expect(committed.outOfReach == 38_000)
        #expect(!again(mark).isGone(committed.offset))
        #expect(again(mark).isGone(99_999))
    }

    @Test(arguments: ["garbage", "====", String(repeating: "/", count: 4_100), "\u{0}"])
    func `metadata in another form counts as empty`(metadata: String) {
        #expect(!RedriveMark(offset: 5, metadata: metadata).isGone(6))
        var last = RedriveMark(offset: .max, metadata: "//8=")
        last.putBack(.max)
        #expect(last.committed.offset > 0)
    }
}

struct RedriveSummaryTests {
    private func read(_ offsets: some Sequence<Int64>, _ summary: inout RedriveSummary, _ mark: inout RedriveMark) {
        for offset in offsets where !summary.isFull {
            var dead = letter(offset == 2 ? "nonsense" : "unroutable")
            dead.offset = offset
            _ = summary.decide(dead, &mark)
        }
    }

    @Test func `a limited run stops at its limit, and the next run continues behind it`() {
        let redrive = Redrive(topics: ["news.events": 2], group: "g", platforms: [.apple, .windows])
        var (first, mark) = (RedriveSummary(redrive, limit: 2), RedriveMark())
        read(0..<5, &first, &mark)
        #expect((first.putBack, first.refused, first.gone) == (2, 0, 0) && first.isFull)
        mark = again(mark)
        var second = RedriveSummary(redrive)
        read(0..<5, &second, &mark)
        #expect((second.putBack, second.refused, second.gone) == (2, 1, 2))
        #expect(second.kinds.map(\.count) == [2, 1] && second.kinds.last?.kind.refusal == .notOurs)
        var all = RedriveSummary(redrive, includesGone: true)
        read(0..<5, &all, &mark)
        #expect((all.putBack, all.gone) == (4, 0))
    }

    @Test(arguments: [("h", true), (nil, true), ("g", false)] as [(String?, Bool)])
    func `a dead letter that the former group has put back is gone`(group: String?, isGone: Bool) {
        var redrive = Redrive(topics: ["news.events": 2], group: "g", platforms: [.apple])
        redrive.formerGroup = "h"
        var former = RedriveMark()
        former.leave(1)
        former.putBack(3)
        let dead = letter(extra: group.map { [RecordHeader("nw-group", $0)] } ?? [])
        var (summary, mark) = (RedriveSummary(redrive), RedriveMark())
        let verdict = summary.decide(dead, &mark, former: again(former))
        #expect((verdict == nil) == isGone)
        #expect(summary.gone == (isGone ? 1 : 0))
        var other = dead
        other.offset = 1
        #expect(summary.decide(other, &mark, former: again(former)) != nil)
        var all = RedriveSummary(redrive, includesGone: true)
        #expect(all.decide(dead, &mark, former: again(former)) != nil)
    }

    @Test func `an original that was found again returns for the platform of its result only`() throws {
        let redrive = Redrive(topics: ["news.events": 2], group: "g", platforms: [.apple, .windows])
        let source = ResultRecord.Source(partition: TopicPartition(topic: "news.events", partition: 1), offset: 7)
        let result = ResultRecord(
            eventID: "1", platform: .apple, outcome: .canceled, lane: "live", source: source,
            settledAt: Instant(milliseconds: 9))
        let original = SourceRecord(
            offset: 4, timestamp: Instant(milliseconds: 5), key: [1], value: [2],
            headers: [RecordHeader("nw-held", "due"), RecordHeader("x", "y")])
        let back = try #require(record(redrive.verdict(on: original, of: result)))
        #expect((back.topic, back.partition, back.key, back.value) == ("news.events", 1, [1], [2]))
        #expect(
            back.headers == [
                RecordHeader("x", "y"), RecordHeader("nw-redrive", "1"),
                RecordHeader("nw-redrive-of", "news.events/1/7"), RecordHeader("nw-platform", "apple"),
                RecordHeader("nw-group", "g"),
            ])
    }
}
