import KafkaModel
import NewsModel
import NotificationHub
import Testing

private let results = (0..<3).map { TopicPartition(topic: "results", partition: $0) }
private let sources = (0..<3).map { TopicPartition(topic: "news", partition: $0) }
private let start = Instant(milliseconds: 1_000_000)

private func entry(_ offset: Int64, about source: Int64, in partition: Int = 0) -> LedgerEntry {
    LedgerEntry(
        offset: offset, source: .init(partition: sources[partition], offset: source), platform: .template,
        outcome: .accepted, identity: RecordIdentity(eventID: "\(source)"))
}

private struct Ledger {
    var state = LedgerState(lane: LaneID(0))
    var events = ShardEvents(shards: 1)

    init(_ partitions: Range<Int>, window: Int64 = 0, since: Instant? = nil) {
        for partition in partitions {
            state.restore(
                results[partition], for: [sources[partition]], from: RestoreStart(window: window, since: since),
                shard: ShardID(0), generation: Generation(1))
        }
    }

    /// Locates every partition at `kept`.
    mutating func locate(_ kept: Range<Int64>, committed: Int64? = nil, watermark: Int64? = nil) {
        guard case .locate(let requests) = state.next(at: start) else { return }
        for request in requests {
            let source = sources[Int(request.results.partition)]
            state.located(
                request.results,
                .init(committed: committed, watermarks: watermark.map { [source: $0] } ?? [:], kept: kept), at: start)
        }
    }

    mutating func taken() -> [KafkaEvent] {
        defer { events = ShardEvents(shards: 1) }
        return events.lists[0]
    }
}

struct LedgerStateTests {
    @Test func `partitions requested together are located and read together`() {
        var ledger = Ledger(0..<3)
        ledger.locate(0..<10, committed: 4)
        #expect(ledger.state.next(at: start) == .assign(results.map { PartitionOffset($0, 4) }))
        #expect(ledger.state.next(at: start) == .read)
    }

    @Test func `a partition without a committed offset begins an incarnation with a higher number`() throws {
        var ledger = Ledger(0..<1)
        _ = ledger.state.next(at: start)
        let wall = Instant(milliseconds: 1_795_348_800_000)
        let found = ledger.state.located(
            results[0], .init(committed: 4, watermarks: [:], uncommitted: [sources[0]], kept: 0..<4, at: wall),
            at: start)
        #expect(found?.notes.map(\.note) == ["nw1 in 1795348800000"])
        ledger.state.read(results[0], [], next: 4, isAtEnd: true, at: start, &ledger.events)
        guard case .restored(_, _, _, _, let end?) = try #require(ledger.taken().first) else { return }
        #expect(end.incarnations == [sources[0]: 1_795_348_800_000])
    }

    @Test func `a partition that cannot be read fails alone, and is tried again ever more slowly`() throws {
        var ledger = Ledger(0..<2)
        guard case .locate = ledger.state.next(at: start) else { return }
        ledger.state.failed(results[0], .standstill, at: start, &ledger.events)
        ledger.state.located(results[1], .init(committed: 4, watermarks: [:], kept: 0..<10), at: start)
        #expect(ledger.state.next(at: start) == .assign([PartitionOffset(results[1], 4)]))
        ledger.state.read(results[1], [], next: 10, isAtEnd: true, at: start, &ledger.events)
        let events = ledger.taken()
        #expect(events.count == 2)
        guard case .restoreFailed(_, _, results[0], _)? = events.first,
            case .restored(_, _, results[1], _, _?)? = events.last
        else {
            Issue.record("\(events)")
            return
        }
        var now = start
        var rest = Duration.zero
        for _ in 0..<8 {
            guard case .wait(let until?) = ledger.state.next(at: now) else { break }
            #expect(until - now >= rest && until - now <= .seconds(5))
            rest = until - now
            now = until
            guard case .locate = ledger.state.next(at: now) else { break }
            ledger.state.failed(results[0], .standstill, at: now, &ledger.events)
        }
        #expect(rest == .seconds(5))
    }

    @Test func `a stuck partition counts as unreadable, and continues where it stopped`() {
        var ledger = Ledger(0..<1)
        ledger.locate(0..<10, committed: 2)
        _ = ledger.state.next(at: start)
        ledger.state.read(results[0], [entry(4, about: 4)], next: 5, isAtEnd: false, at: start, &ledger.events)
        let late = start + LedgerState.standstillMax
        ledger.state.tick(at: late, &ledger.events)
        guard case .restoreFailed(_, _, _, let failure)? = ledger.taken().last else {
            Issue.record("nobody was told")
            return
        }
        #expect(failure == .standstill)
        guard case .locate = ledger.state.next(at: late + .seconds(1)) else { return }
        ledger.state.located(results[0], .init(committed: 2, watermarks: [:], kept: 0..<10), at: late)
        #expect(ledger.state.next(at: late) == .assign([PartitionOffset(results[0], 5)]))
    }

    @Test func `a partition that waits while another is read is not blamed on its leader`() {
        var ledger = Ledger(0..<2)
        guard case .locate = ledger.state.next(at: start) else { return }
        for partition in results[0..<2] {
            ledger.state.located(partition, .init(committed: 0, watermarks: [:], kept: 0..<10), at: start)
        }
        _ = ledger.state.next(at: start)
        let late = start + LedgerState.standstillMax
        ledger.state.read(results[1], [], next: 5, isAtEnd: false, at: late - .seconds(1), &ledger.events)
        ledger.state.tick(at: late, &ledger.events)
        guard case .restoreFailed(_, _, results[0], let failure)? = ledger.taken().last else {
            Issue.record("the silent partition is not reported")
            return
        }
        #expect(failure == .awaitsTurn)
    }

    @Test func `entries that no partition needs are dropped`() throws {
        var ledger = Ledger(0..<1, window: 3)
        ledger.locate(0..<10, committed: 5, watermark: 100)
        _ = ledger.state.next(at: start)
        let read = [entry(2, about: 40), entry(3, about: 150), entry(8, about: 60)]
        ledger.state.read(results[0], read, next: 10, isAtEnd: true, at: start, &ledger.events)
        guard case .restored(_, _, _, let entries, let end?)? = ledger.taken().last else {
            Issue.record("not restored")
            return
        }
        #expect(entries.map(\.offset) == [3, 8])
        #expect(entries.map(\.isOpen) == [true, false])
        #expect(end == RestoreEnd(offset: 10, start: 2, basis: .committed))
    }

    @Test(arguments: [
        (Int64?.some(20), nil, RestoreEnd(offset: 10, start: 3, basis: .committed)),
        (nil, Instant(milliseconds: 0), RestoreEnd(offset: 10, start: 6, basis: .time)),
        (nil, nil, RestoreEnd(offset: 10, start: 6, basis: .newest)),
    ])
    func `reading begins at the committed offset, else at a time, else at the newest results`(
        _ committed: Int64?, _ since: Instant?, _ expected: RestoreEnd
    ) {
        var ledger = Ledger(0..<1, window: 4, since: since)
        ledger.locate(3..<10, committed: committed)
        guard case .assign(let offsets) = ledger.state.next(at: start) else {
            Issue.record("nothing to read")
            return
        }
        #expect(offsets == [PartitionOffset(results[0], expected.start)])
        ledger.state.read(results[0], [], next: 10, isAtEnd: true, at: start, &ledger.events)
        guard case .restored(_, _, _, _, expected)? = ledger.taken().last else {
            Issue.record("not restored")
            return
        }
    }

    @Test func `a partition whose new leader shows an earlier end is read on to the end that was located`() {
        var ledger = Ledger(0..<1)
        ledger.locate(0..<10, committed: 0)
        _ = ledger.state.next(at: start)
        ledger.state.read(results[0], [entry(4, about: 4)], next: 5, isAtEnd: true, at: start, &ledger.events)
        guard case .restored(_, _, _, _, nil)? = ledger.taken().last else {
            Issue.record("restored too early")
            return
        }
        ledger.state.read(results[0], [entry(9, about: 9)], next: 10, isAtEnd: true, at: start, &ledger.events)
        guard case .restored(_, _, _, _, let end?)? = ledger.taken().last else {
            Issue.record("not restored")
            return
        }
        #expect(end.offset == 10)
    }

    @Test func `a partition others keep writing to ends some seconds after the end it had`() {
        var ledger = Ledger(0..<1)
        ledger.locate(0..<10, committed: 0)
        _ = ledger.state.next(at: start)
        ledger.state.read(results[0], [], next: 500, isAtEnd: false, at: start, &ledger.events)
        ledger.state.tick(at: start + .seconds(4), &ledger.events)
        #expect(ledger.taken().isEmpty)
        ledger.state.tick(at: start + .seconds(6), &ledger.events)
        guard case .restored(_, _, _, _, let end?)? = ledger.taken().last else {
            Issue.record("not restored")
            return
        }
        #expect(end.offset == 500 && ledger.state.isIdle)
    }

    @Test func `requests of an older generation are dropped silently`() {
        var ledger = Ledger(0..<2)
        ledger.state.begin(Generation(2))
        #expect(ledger.state.isIdle && ledger.state.next(at: start) == .wait(until: nil))
        ledger.state.restore(
            results[0], for: [sources[0]], from: RestoreStart(), shard: ShardID(0), generation: Generation(1))
        #expect(ledger.state.isIdle && ledger.taken().isEmpty)
    }
}
