import EditorialControl
import KafkaModel
import NewsModel
import Testing

/// The held topic was deleted and recreated, or is only read again.
struct VanishedEventsTests {
    private func event(_ story: String, at offset: Int64, due: Duration = .seconds(3_600)) -> HeldRecord.Reading {
        .held(
            HeldEvent(
                eventID: story, story: story, version: nil, due: PlayedHeldState.noon + due, because: .embargo,
                lane: "live",
                source: .init(partition: PlayedHeldState.source, offset: offset), identity: RecordIdentity(hash: 9)),
            since: nil)
    }

    @Test func `of two events without versions the later one stays, and the other returns as superseded`() {
        var play = PlayedHeldState()
        _ = play.read(0, event("a", at: 40))
        #expect(play.read(1, event("a", at: 41)).returns == [0: .superseded])
        #expect(play.desk.count == 1)
    }

    /// Makes a desk with three held events.
    private func desk(owning partitions: [TopicPartition] = [PlayedHeldState.source]) -> PlayedHeldState {
        var desk = PlayedHeldState(owning: partitions)
        for (offset, story) in ["a", "b", "c"].enumerated() {
            _ = desk.read(Int64(offset), event(story, at: 40 + Int64(offset)))
        }
        return desk
    }

    @Test(arguments: [false, true]) func `events of a recreated topic are written to their lane again`(
        wasAway: Bool
    ) {
        var desk = desk()
        desk.ends = [3: 0, 4: 0]
        if wasAway { _ = desk.take(.lost) }
        let restores = desk.take(.began).restores
        #expect(restores.map(\.original.offset).sorted() == [40, 41, 42])
        #expect(restores.allSatisfy { $0.partition == PlayedHeldState.source })
        #expect(desk.take(.restored(restores.map { .restored($0.id) })).restores.isEmpty)
        #expect(desk.wait(.seconds(60)).restores.isEmpty)
        #expect(desk.desk.vanished.restored == 3 && desk.desk.vanished.lost == 0)
    }

    /// The reader of a recreated topic notices it seconds later.
    @Test(arguments: [false, true])
    func `an event due while the topic was recreated is written to its lane again`(isPartition: Bool) {
        var desk = PlayedHeldState()
        _ = desk.read(7, event("a", at: 40, due: .seconds(5)))
        #expect(desk.wait(.seconds(5)).returns == [7: .due])
        _ = desk.take(.ended([.gone(HeldPlace(3, 7))]))
        #expect(desk.desk.count == 0)
        desk.ends = nil
        _ = isPartition ? desk.read(0, event("b", at: 50)) : desk.take(.began)
        let restores = desk.take(.ends(look: desk.look, [3: isPartition ? 1 : 0, 4: 0], unreported: [])).restores
        #expect(restores.map(\.original.offset) == [40])
    }

    @Test func `an event erased by another process is not written to its lane again`() {
        var desk = PlayedHeldState()
        _ = desk.read(7, event("a", at: 40, due: .seconds(5)))
        _ = desk.wait(.seconds(5))
        _ = desk.take(.ended([.gone(HeldPlace(3, 7))]))
        _ = desk.read(8, .erased(story: "a", upTo: nil))
        desk.ends = [3: 0, 4: 0]
        #expect(desk.take(.began).restores.isEmpty)
    }

    @Test func `events that the topic still shows are not written again`() {
        var desk = desk()
        desk.ends = nil
        _ = desk.take(.began)
        #expect(desk.read(0, event("a", at: 40)).restores.isEmpty)
        #expect(desk.read(2, .erased(story: "c", upTo: nil)).restores.isEmpty)
        let restores = desk.take(.ends(look: desk.look, [3: 3, 4: 0], unreported: [])).restores
        #expect(restores.map(\.original.offset) == [41])
    }

    @Test func `a partition whose offsets restart has lost its events`() {
        var desk = desk()
        desk.ends = nil
        _ = desk.read(0, event("d", at: 50))
        let restores = desk.take(.ends(look: desk.look, [3: 1, 4: 0], unreported: [])).restores
        #expect(restores.map(\.original.offset).sorted() == [40, 41, 42])
    }

    @Test func `another owner's events are left to it until they become ours`() {
        var desk = desk(owning: [TopicPartition(topic: "news", partition: 4)])
        desk.ends = [3: 0, 4: 0]
        #expect(desk.take(.began).restores.isEmpty)
        #expect(desk.take(.owned(LaneID(0), ShardID(0), [PlayedHeldState.source])).restores.count == 3)
    }

    @Test func `another owner's event that was requested back is left to it as long as any`() {
        var desk = desk(owning: [TopicPartition(topic: "news", partition: 4)])
        _ = desk.take(.bringBack(story: "a", .superseded))
        desk.ends = [3: 0, 4: 0]
        #expect(desk.take(.began).restores.isEmpty)
        #expect(desk.wait(.seconds(599)).restores.isEmpty)
        #expect(desk.take(.owned(LaneID(0), ShardID(0), [PlayedHeldState.source])).restores.count == 3)
    }

    // MARK: No process ran

    /// The totals of a topic with three held events, and its records.
    private func former() throws -> (totals: HeldTotals, readings: [HeldRecord.Reading]) {
        let totals = try #require(desk().desk.totals)
        #expect(totals.count == 3 && totals.last?.place == HeldPlace(3, 2))
        return (totals, ["a", "b", "c"].enumerated().map { event($1, at: 40 + Int64($0)) })
    }

    /// Makes a desk that begins to read the topic. The test reports its ends.
    private func unread(after totals: HeldTotals) -> PlayedHeldState {
        var play = PlayedHeldState()
        (play.desk, play.ends) = (HeldState(), nil)
        _ = play.take(.formerly(totals))
        _ = play.take(.began)
        return play
    }

    @Test func `held events that the topic still shows are not lost`() throws {
        let (totals, readings) = try former()
        var play = unread(after: totals)
        for (offset, reading) in readings.enumerated() { _ = play.read(Int64(offset), reading) }
        _ = play.take(.ends(look: play.look, [3: 3, 4: 0], unreported: []))
        #expect(play.desk.vanished.lost == 0 && play.desk.totals == totals)
    }

    @Test func `events of a topic that was deleted while no process ran are counted as lost, once`() throws {
        let (totals, _) = try former()
        var play = PlayedHeldState(former: totals)
        #expect(play.desk.vanished.lost == 3)
        #expect(play.desk.totals == HeldTotals(count: 0, last: nil))
        _ = play.take(.formerly(totals))
        _ = play.take(.began)
        #expect(play.desk.vanished.lost == 3)
    }

    /// It holds the same events again, or others.
    @Test(arguments: [false, true])
    func `a recreated topic that has grown as long is recognised by its records`(areOthers: Bool) throws {
        let (totals, readings) = try former()
        var play = unread(after: totals)
        for (offset, reading) in (areOthers ? readings.reversed() : readings).enumerated() {
            _ = play.read(Int64(offset), reading, at: areOthers ? nil : PlayedHeldState.noon)
        }
        #expect(play.desk.vanished.lost == 3)
    }

    @Test func `a record that compaction has removed does not show that the topic was recreated`() throws {
        let (totals, readings) = try former()
        var play = unread(after: totals)
        _ = play.read(0, readings[0])
        _ = play.take(.endReached(partition: 3, offset: 5))
        _ = play.take(.ends(look: play.look, [3: 5, 4: 0], unreported: []))
        #expect(play.desk.vanished.lost == 0 && play.desk.totals?.count == 1)
    }

    @Test func `missing originals are counted, and failed reads are retried`() throws {
        var desk = desk()
        desk.ends = [3: 0, 4: 0]
        let restores = desk.take(.began).restores
        _ = desk.take(.restored([.gone(restores[0].id), .failed(restores[1].id), .restored(restores[2].id)]))
        #expect(desk.desk.vanished.restored == 1 && desk.desk.vanished.lost == 1)
        #expect(desk.desk.wakeAt.map { $0 - desk.now.steady } == .seconds(5))
        let again = desk.wait(.seconds(5)).restores
        #expect(again.map(\.original) == [restores[1].original])
    }

    @Test func `originals of a deleted partition are lost`() {
        var desk = desk()
        desk.ends = [3: 0, 4: 0]
        _ = desk.take(.counts(["news": 2]))
        _ = desk.take(.owned(LaneID(0), ShardID(0), [TopicPartition(topic: "news", partition: 1)]))
        #expect(desk.take(.began).restores.isEmpty)
        #expect(desk.desk.vanished.lost == 3)
    }

    @Test func `a record at an original's offset is compared with the original`() throws {
        let original = SourceRecord(offset: 7, timestamp: Instant(milliseconds: 5), key: [1], value: [2])
        let event = HeldEvent(
            eventID: "a", story: "a", version: nil, due: PlayedHeldState.noon + .seconds(3_600), because: .embargo,
            lane: "live", source: .init(partition: PlayedHeldState.source, offset: 7))
        let record = HeldRecord.hold(original, event, topic: "held")
        var desk = PlayedHeldState()
        _ = desk.read(0, HeldRecord.read(key: record.key, hasValue: true, headers: record.headers))
        desk.ends = [3: 0, 4: 0]
        let restore = try #require(desk.take(.began).restores.first)
        #expect(restore.original.isThe(original))
        #expect(
            !restore.original.isThe(SourceRecord(offset: 7, timestamp: Instant(milliseconds: 5), key: [1], value: [3])))
        let restored = HeldRecord.restored(original, to: restore.partition)
        #expect(restored.value == [2] && restored.key == [1] && restored.headers.isEmpty)
    }

    /// The topic was recreated, and this process has not noticed it yet.
    @Test(arguments: [(7, "a", true), (8, "a", false), (7, "b", false)])
    func `another event's record at the place of a return is not put back`(
        offset: Int64, story: String, isExpected: Bool
    ) {
        func record(_ offset: Int64, _ story: String) -> SourceRecord {
            let original = SourceRecord(offset: offset, timestamp: nil, key: nil, value: [2])
            let event = HeldEvent(
                eventID: story, story: story, version: nil, due: PlayedHeldState.noon, because: .embargo, lane: "live",
                source: .init(partition: PlayedHeldState.source, offset: offset))
            let held = HeldRecord.hold(original, event, topic: "held")
            return SourceRecord(offset: 0, timestamp: nil, key: held.key, value: held.value, headers: held.headers)
        }
        let known = record(7, "a")
        var desk = PlayedHeldState()
        _ = desk.read(0, HeldRecord.read(key: known.key, hasValue: true, headers: known.headers))
        #expect(desk.desk.isExpected(record(offset, story), at: HeldPlace(3, 0)) == isExpected)
        #expect(!desk.desk.isExpected(known, at: HeldPlace(3, 1)))
    }
}
