import NewsModel
import Testing

@testable import Feeds

/// Records of one entry: those that count, and their form on the topic.
@Suite struct EntryLogTests: EntryLogSuite {
    /// Records as `version state`. The state is `done`, `known`, or the text of an intended event.
    @Test(
        arguments: [
            (["1 X"], "1 X", false),
            (["1 X", "1 done"], "1 -", false),
            (["1 X", "1 X"], "1 X", false),
            (["1 X", "1 Y"], "1 X", true),
            (["1 X", "1 Y", "1 X"], "1 X", false),
            (["1 X", "1 done", "1 Y"], "1 -", true),
            (["1 X", "1 done", "1 Y", "1 done"], "1 -", false),
            (["1 X", "1 known"], "1 X", true),
            (["0 known", "1 X"], "1 X", false),
            (["1 X", "0 known"], "1 X", true),
            (["2 X", "1 Y"], "2 X", true),
            (["1 X", "2 Y"], "2 Y", false),
            (["1 X", "2 Y", "1 done"], "2 Y", true),
            (["9 X", "10 Y"], "10 Y", false),
            (["1 X", "1 Y", "gone"], "- -", false),
            (["gone", "1 X"], "1 X", false),
        ] as [([String], String, Bool)])
    func `the first record counts`(_ records: [String], _ end: String, _ isOverwritten: Bool) {
        var log = EntryLog()
        for text in records { log.fold(Self.hash, Self.record(text)) }
        let intent = log.intents[Self.hash].map { String(decoding: $0.event, as: UTF8.self) }
        #expect("\(log.table[Self.hash]?.version ?? "-") \(intent ?? "-")" == end)
        #expect(log.overwritten.contains(Self.hash) == isOverwritten)
        // A record that overwrites another one settles the entry.
        if isOverwritten {
            log.fold(Self.hash, log.record(of: Self.hash, writer: "w"))
            #expect(log.overwritten.isEmpty)
        }
    }

    /// Two processes decide about an entry with the publisher's version 5. One alerts, at offset 5.
    @Test(arguments: [(after: 4, counts: false), (5, true), (nil, true)] as [(Int64?, Bool)])
    func `a record without an event does not undo an alert that its writer had not read`(
        after: Int64?, counts: Bool
    ) throws {
        var log = EntryLog()
        log.fold(Self.hash, Self.record("5 X"), at: 5)
        log.fold(Self.hash, Self.record("5 done"), at: 6)
        var late = try #require(Self.record("5 known"))
        late.after = after
        #expect(log.fold(Self.hash, late, at: 7) == counts)
        #expect(log.table[Self.hash]?.standing == (counts ? .known : .sent))
    }

    /// The entry is unknown, or another process has stored it with this standing.
    @Test(
        arguments: [nil, .known, .unreadable, .held, .sent] as [EntryState.Standing?],
        [(isFirst: true, isComplete: true), (false, true), (true, false)])
    func `a record of a first reading decides nothing after a complete first reading`(
        standing: EntryState.Standing?, reading: (isFirst: Bool, isComplete: Bool)
    ) throws {
        var log = EntryLog()
        var feed = FeedState()
        feed.primedAt = FollowedFeed.start
        feed.isHalfPrimed = !reading.isComplete
        log.fold(feed, at: 0)
        var record = try #require(Self.record("0 known"))
        if let standing {
            record.state.standing = standing
            log.fold(Self.hash, record)
            record.state.standing = .known
        }
        let before = log.table[Self.hash]
        record.isOfFirstReading = reading.isFirst
        let isVoid = reading.isFirst && reading.isComplete && standing != .known
        #expect(log.fold(Self.hash, record) == !isVoid)
        #expect(log.table[Self.hash] == (isVoid ? before : record.state))
        #expect(log.overwritten.contains(Self.hash) == (isVoid && standing != nil))
    }

    /// The publisher withholds or withdraws the entry after the first reading, and its end is not on the topic yet.
    @Test(arguments: [EntryState.Standing.held, .canceled])
    func `a second first reading leaves the backlog as it is`(standing: EntryState.Standing) throws {
        var log = EntryLog()
        var record = try #require(Self.record("0 known"))
        record.isOfFirstReading = true
        log.fold(Self.hash, record)
        record.state.standing = standing
        let counts = log.fold(Self.hash, record)
        #expect(!counts)
        #expect(log.table[Self.hash]?.standing == .known)
        #expect(log.overwritten == [Self.hash])
    }

    @Test func `an unreadable record is overwritten only if its entry is known`() {
        var log = EntryLog()
        log.spoiled(Self.hash, at: 0)
        #expect(log.overwritten.isEmpty)
        log.fold(Self.hash, Self.record("1 X"))
        log.spoiled(Self.hash, at: 0)
        #expect(log.overwritten == [Self.hash])
    }

    // MARK: - Records

    /// An object is valid only as long as its bytes and its parser exist.
    private func reading<Value>(_ text: some Sequence<UInt8>, _ read: (JSONObject) -> Value) throws -> Value {
        let parser = JSONParser()
        return try withExtendedLifetime(parser) {
            try Array(text).withUnsafeBufferPointer { read(try parser.object(in: $0)) }
        }
    }

    @Test func `a record of an entry is read back unchanged`() throws {
        var record = try #require(Self.record("7 X"))
        record.state.headlinePrint = .max
        record.state.bodyPrint = 1
        record.state.past.leave(.max, at: 1)
        record.state.past.leave(2, at: .max)
        record.state.link = 0x8000_0000_0000_0000
        record.state.title = 3
        record.state.expiry = 4
        record.state.embargo = Minute.never
        record.state.embargoSecond = 60
        record.state.firstSeen = 5
        record.state.lastSeen = 6
        record.state.hourBegan = 7
        record.state.versionsThisHour = 255
        record.state.standing = .heldAfterSent
        record.state.sentPrint = .max
        record.state.returnedAt = 8
        record.state.isLate = true
        record.intent?.event = Array(#"{"id":"é \" \\ 🗞"}"#.utf8)
        record.name = EventName(id: "wire:é", origin: EntryHash("b"))
        record.lane = "urgent"
        record.after = .max
        record.former = EntryHash("c")
        record.isOfFirstReading = true
        record.heldBack = HeldBack(
            intent: Intent(lane: "live", key: "k", event: Array("{}".utf8), order: 0), version: "8", own: "7",
            due: 9, staleAt: Minute.never)
        #expect(try reading(record.bytes) { EntryRecord($0) } == record)
    }

    @Test(arguments: [false, true])
    func `a feed whose first reading may be incomplete stays so for the next process`(isHalfPrimed: Bool) throws {
        var state = FeedState()
        state.primedAt = Instant(milliseconds: 60_000)
        state.isHalfPrimed = isHalfPrimed
        #expect(try reading(state.bytes(writer: "w", after: 3)) { FeedState($0) } == state)
    }

    @Test(
        arguments: [
            "{}", #"{"version":1}"#, #"{"version":"1","standing":7,"headline":"zz","past":[1,2]}"#,
            #"{"version":"1","past":[-1,99999999999,"a",null,1,2,3],"expiry":-5,"versionsThisHour":-1}"#,
            #"{"version":"1","intent":{"lane":1}}"#, #"{"version":"1","intent":[]}"#,
            #"{"url":5,"primedAt":"yesterday","failures":-3,"interval":-1,"medianGap":99999999999,"move":{},"webSub":7}"#,
        ])
    func `a record that another version or a person wrote stops nothing`(_ text: String) throws {
        let (record, state) = try reading(text.utf8) { (EntryRecord($0), FeedState($0)) }
        #expect(record?.intent == nil)
        #expect(state.failures == 0 && state.interval == nil && state.medianGap == nil && !state.isPrimed)
    }
}
