import EditorialControl
import KafkaModel
import NewsModel
import Testing

/// The held topic was deleted and recreated, its records were removed, or it is only read again.
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
        #expect(play.state.count == 1)
    }

    /// Makes a state with three held events.
    private func state(owning partitions: [TopicPartition] = [PlayedHeldState.source]) -> PlayedHeldState {
        var state = PlayedHeldState(owning: partitions)
        for (offset, story) in ["a", "b", "c"].enumerated() {
            _ = state.read(Int64(offset), event(story, at: 40 + Int64(offset)))
        }
        return state
    }

    @Test(arguments: [false, true]) func `events of a recreated topic are written to their lane again`(
        wasAway: Bool
    ) {
        var state = state()
        state.ends = [3: 0, 4: 0]
        if wasAway { _ = state.take(.lost) }
        let restores = state.take(.began).restores
        #expect(restores.map(\.original.offset).sorted() == [40, 41, 42])
        #expect(restores.allSatisfy { $0.partition == PlayedHeldState.source })
        #expect(state.take(.restored(restores.map { .restored($0.id) })).restores.isEmpty)
        #expect(state.wait(.seconds(60)).restores.isEmpty)
        #expect(state.state.vanished.restored == 3 && state.state.vanished.lost == 0)
    }

    /// The reader of a recreated topic notices it seconds later.
    @Test(arguments: [false, true])
    func `an event due while the topic was recreated is written to its lane again`(isPartition: Bool) {
        var state = PlayedHeldState()
        _ = state.read(7, event("a", at: 40, due: .seconds(5)))
        #expect(state.wait(.seconds(5)).returns == [7: .due])
        state.ends = nil
        _ = state.take(.ended([.gone(HeldPlace(3, 7))]))
        #expect(state.state.count == 0)
        _ = isPartition ? state.read(0, event("b", at: 50)) : state.take(.began)
        let restores = state.take(.ends(look: state.look, [3: isPartition ? 1 : 0, 4: 0], unreported: [])).restores
        #expect(restores.map(\.original.offset) == [40])
    }

    @Test func `an event erased by another process is not written to its lane again`() {
        var state = PlayedHeldState()
        _ = state.read(7, event("a", at: 40, due: .seconds(5)))
        _ = state.wait(.seconds(5))
        state.ends = nil
        _ = state.take(.ended([.gone(HeldPlace(3, 7))]))
        _ = state.read(8, .erased(story: "a", upTo: nil))
        #expect(state.take(.ends(look: state.look, [3: 9, 4: 0], unreported: [])).restores.isEmpty)
        state.ends = [3: 0, 4: 0]
        #expect(state.take(.began).restores.isEmpty)
    }

    @Test func `an event whose record was removed from the topic is written to its lane again when it is due`() {
        var state = PlayedHeldState()
        _ = state.read(7, event("a", at: 40, due: .seconds(5)))
        _ = state.wait(.seconds(5))
        state.ends = nil
        #expect(state.take(.ended([.gone(HeldPlace(3, 7))])).restores.isEmpty, "another process may have erased it")
        let earlier = HeldOriginal(offset: 39, identity: RecordIdentity(hash: 9))
        _ = state.read(8, .erased(story: "a", upTo: 6, original: earlier))
        let restores = state.take(.ends(look: state.look, [3: 9, 4: 0], unreported: [])).restores
        #expect(restores.map(\.original.offset) == [40])
    }

    /// It was on its way when the topic was deleted. Its header names an offset of the former topic.
    @Test func `a record written again that arrives on a recreated topic is erased like any other`() {
        var state = PlayedHeldState()
        #expect(state.hold(0, "a", due: .zero, since: 5).returns == [0: .due])
        _ = state.take(.ended([.putBack(HeldPlace(3, 0), story: "a")]))
        _ = state.read(1, .erased(story: "a", upTo: 0))
        #expect(state.state.count == 0)
    }

    @Test func `events that the topic still shows are not written again`() {
        var state = state()
        state.ends = nil
        _ = state.take(.began)
        #expect(state.read(0, event("a", at: 40)).restores.isEmpty)
        #expect(state.read(2, .erased(story: "c", upTo: nil)).restores.isEmpty)
        let restores = state.take(.ends(look: state.look, [3: 3, 4: 0], unreported: [])).restores
        #expect(restores.map(\.original.offset) == [41])
    }

    @Test func `a partition whose offsets restart has lost its events`() {
        var state = state()
        state.ends = nil
        _ = state.read(0, event("d", at: 50))
        let restores = state.take(.ends(look: state.look, [3: 1, 4: 0], unreported: [])).restores
        #expect(restores.map(\.original.offset).sorted() == [40, 41, 42])
    }

    @Test func `another owner's events are left to it until they become ours`() {
        var state = state(owning: [TopicPartition(topic: "news", partition: 4)])
        state.ends = [3: 0, 4: 0]
        #expect(state.take(.began).restores.isEmpty)
        #expect(state.take(.owned(LaneID(0), ShardID(0), [PlayedHeldState.source])).restores.count == 3)
    }

    @Test func `another owner's events that stay missing are written by this process after a while`() {
        var state = state(owning: [TopicPartition(topic: "news", partition: 4)])
        state.ends = [3: 0, 4: 0]
        #expect(state.take(.began).restores.isEmpty)
        _ = state.read(0, event("a", at: 50))
        #expect(state.wait(.seconds(69)).restores.isEmpty)
        #expect(state.state.isRestoring && state.state.wakeAt == state.now.steady + .seconds(1))
        let restores = state.wait(.seconds(1)).restores
        #expect(restores.map(\.original.offset).sorted() == [41, 42])
        _ = state.take(.restored([.restored(restores[0].id), .gone(restores[1].id)]))
        #expect(state.state.vanished.restored == 1 && state.state.vanished.lost == 0, "its owner counts what is gone")
        #expect(!state.state.isRestoring)
    }

    @Test func `another owner's event that was requested back is left to it as long as any`() {
        var state = state(owning: [TopicPartition(topic: "news", partition: 4)])
        _ = state.take(.bringBack(story: "a", .superseded))
        state.ends = [3: 0, 4: 0]
        #expect(state.take(.began).restores.isEmpty)
        #expect(state.wait(.seconds(69)).restores.isEmpty)
        #expect(state.take(.owned(LaneID(0), ShardID(0), [PlayedHeldState.source])).restores.count == 3)
    }

    // MARK: No process ran

    /// The totals of a topic with three held events, and its records.
    private func former() throws -> (totals: HeldTotals, readings: [HeldRecord.Reading]) {
        let totals = try #require(state().state.totals)
        #expect(totals.count == 3 && totals.last?.place == HeldPlace(3, 2))
        return (totals, ["a", "b", "c"].enumerated().map { event($1, at: 40 + Int64($0)) })
    }

    /// Makes a state that begins to read the topic. The test reports its ends.
    private func unread(after totals: HeldTotals) -> PlayedHeldState {
        var play = PlayedHeldState()
        (play.state, play.ends) = (HeldState(), nil)
        _ = play.take(.formerly(totals))
        _ = play.take(.began)
        return play
    }

    @Test func `held events that the topic still shows are not lost`() throws {
        let (totals, readings) = try former()
        var play = unread(after: totals)
        for (offset, reading) in readings.enumerated() { _ = play.read(Int64(offset), reading) }
        _ = play.take(.ends(look: play.look, [3: 3, 4: 0], unreported: []))
        #expect(play.state.vanished.lost == 0 && play.state.totals == totals)
    }

    @Test func `events of a topic that was deleted while no process ran are counted as lost, once`() throws {
        let (totals, _) = try former()
        var play = PlayedHeldState(former: totals)
        #expect(play.state.vanished.lost == 0 && play.state.totals == nil, "other processes may restore them")
        #expect(play.state.wakeAt == play.now.steady + .seconds(120))
        _ = play.wait(.seconds(120))
        #expect(play.state.vanished.lost == 3)
        #expect(play.state.totals == HeldTotals(count: 0, last: nil))
        _ = play.take(.formerly(totals))
        _ = play.take(.began)
        #expect(play.state.vanished.lost == 3)
    }

    @Test func `events of a topic whose records were removed while no process ran are counted as lost`() throws {
        let (totals, _) = try former()
        var play = unread(after: totals)
        _ = play.take(.endReached(partition: 3, offset: 3))
        _ = play.take(.endReached(partition: 4, offset: 0))
        _ = play.take(.ends(look: play.look, [3: 3, 4: 0], unreported: []))
        _ = play.wait(.seconds(120))
        #expect(play.state.vanished.lost == 3)
    }

    @Test func `events that other processes have restored are not lost`() throws {
        let (totals, readings) = try former()
        var play = PlayedHeldState(former: totals)
        guard case .held(var event, _) = readings[0] else { return }
        event.restoredAt = PlayedHeldState.noon
        _ = play.read(0, .held(event, since: nil))
        _ = play.wait(.seconds(120))
        #expect(play.state.vanished.lost == 2)
    }

    @Test func `events restored before the totals were written do not count for what was lost later`() throws {
        var (totals, _) = try former()
        totals.writtenAt = PlayedHeldState.noon
        var play = PlayedHeldState(former: totals)
        for (offset, seconds) in [-1, 1].enumerated() {
            guard case .held(var event, _) = event("d\(offset)", at: 50) else { return }
            event.restoredAt = PlayedHeldState.noon + .seconds(seconds)
            _ = play.read(Int64(offset), .held(event, since: nil))
        }
        _ = play.wait(.seconds(120))
        #expect(play.state.vanished.lost == 2)
    }

    @Test func `an event that this process restores does not count as restored by others`() throws {
        let (totals, _) = try former()
        var play = PlayedHeldState(former: totals)
        _ = play.read(0, event("d", at: 50))
        play.ends = [3: 0, 4: 0]
        let restore = try #require(play.take(.began).restores.first)
        _ = play.take(.restored([.restored(restore.id)]))
        guard case .held(var again, _) = event("d", at: 51) else { return }
        again.restoredAt = PlayedHeldState.noon
        _ = play.read(0, .held(again, since: nil))
        _ = play.wait(.seconds(120))
        #expect(play.state.vanished.lost == 3)
    }

    @Test func `an event that several processes restore counts once`() throws {
        let (totals, readings) = try former()
        var play = PlayedHeldState(former: totals)
        _ = play.hold(0, "d")
        _ = play.take(.began)
        guard case .held(var known, _) = event("d", at: 50), case .held(var unknown, _) = readings[0] else { return }
        (known.restoredAt, unknown.restoredAt) = (PlayedHeldState.noon, PlayedHeldState.noon)
        for (offset, event) in [known, unknown, known, unknown].enumerated() {
            _ = play.read(Int64(offset), .held(event, since: nil))
        }
        _ = play.wait(.seconds(120))
        #expect(play.state.vanished.lost == 2)
    }

    @Test(arguments: [false, true])
    func `an event held since the start does not count as restored when the topic is recreated again`(
        isWhole: Bool
    ) throws {
        let (totals, _) = try former()
        var play = PlayedHeldState(former: totals)
        _ = play.hold(0, "d")
        if isWhole { _ = play.take(.began) }
        guard case .held(var event, _) = event("d", at: 50) else { return }
        event.restoredAt = PlayedHeldState.noon
        _ = play.read(0, .held(event, since: nil))
        _ = play.wait(.seconds(120))
        #expect(play.state.vanished.lost == 3)
    }

    /// It holds the same events again, or others.
    @Test(arguments: [false, true])
    func `a recreated topic that has grown as long is recognised by its records`(areOthers: Bool) throws {
        let (totals, readings) = try former()
        var play = unread(after: totals)
        for (offset, reading) in (areOthers ? readings.reversed() : readings).enumerated() {
            _ = play.read(Int64(offset), reading, at: areOthers ? nil : PlayedHeldState.noon)
        }
        _ = play.take(.ends(look: play.look, [3: 3, 4: 0], unreported: []))
        _ = play.wait(.seconds(120))
        #expect(play.state.vanished.lost == 3)
    }

    @Test func `a record that compaction has removed does not show that the topic was recreated`() throws {
        let (totals, readings) = try former()
        var play = unread(after: totals)
        _ = play.read(0, readings[0])
        _ = play.take(.endReached(partition: 3, offset: 5))
        _ = play.take(.ends(look: play.look, [3: 5, 4: 0], unreported: []))
        #expect(play.state.vanished.lost == 0 && play.state.totals?.count == 1)
    }

    @Test func `missing originals are counted, and failed reads are retried`() throws {
        var state = state()
        state.ends = [3: 0, 4: 0]
        let restores = state.take(.began).restores
        _ = state.take(.restored([.gone(restores[0].id), .failed(restores[1].id), .restored(restores[2].id)]))
        #expect(state.state.vanished.restored == 1 && state.state.vanished.lost == 1)
        #expect(state.state.wakeAt.map { $0 - state.now.steady } == .seconds(5))
        let again = state.wait(.seconds(5)).restores
        #expect(again.map(\.original) == [restores[1].original])
    }

    @Test func `originals of a deleted partition are lost`() {
        var state = state()
        state.ends = [3: 0, 4: 0]
        _ = state.take(.counts(["news": 2]))
        _ = state.take(.owned(LaneID(0), ShardID(0), [TopicPartition(topic: "news", partition: 1)]))
        #expect(state.take(.began).restores.isEmpty)
        #expect(state.state.vanished.lost == 3)
    }

    @Test func `a record at an original's offset is compared with the original`() throws {
        let original = SourceRecord(offset: 7, timestamp: Instant(milliseconds: 5), key: [1], value: [2])
        let event = HeldEvent(
            eventID: "a", story: "a", version: nil, due: PlayedHeldState.noon + .seconds(3_600), because: .embargo,
            lane: "live", source: .init(partition: PlayedHeldState.source, offset: 7))
        let record = HeldRecord.hold(original, event, topic: "held")
        var state = PlayedHeldState()
        _ = state.read(0, HeldRecord.read(key: record.key, hasValue: true, headers: record.headers))
        state.ends = [3: 0, 4: 0]
        let restore = try #require(state.take(.began).restores.first)
        #expect(restore.original.isThe(original))
        #expect(
            !restore.original.isThe(SourceRecord(offset: 7, timestamp: Instant(milliseconds: 5), key: [1], value: [3])))
        let restored = HeldRecord.restored(original, to: restore.partition, at: PlayedHeldState.noon)
        #expect(restored.value == [2] && restored.key == [1])
        #expect(restored.headers.map(\.name) == ["nw-held-restored", "nw-held-from"])
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
        var state = PlayedHeldState()
        _ = state.read(0, HeldRecord.read(key: known.key, hasValue: true, headers: known.headers))
        #expect(state.state.isExpected(record(offset, story), at: HeldPlace(3, 0)) == isExpected)
        #expect(!state.state.isExpected(known, at: HeldPlace(3, 1)))
        // Its place on the topic is another event's, so that it returns from its own.
        guard case .held(var event, _) = event("a", at: 9) else { return }
        event.source.partition = TopicPartition(topic: "archive", partition: 3)
        _ = state.read(1, .held(event, since: nil))
        #expect(state.state.isExpected(record(offset, story), at: HeldPlace(3, 0)) == isExpected)
    }
}
