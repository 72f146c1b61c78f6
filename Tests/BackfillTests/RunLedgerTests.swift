import Backfill
import KafkaModel
import NewsModel
import NotificationHub
import Testing

/// A ledger that an expectation may change.
@dynamicMemberLookup
private final class Book {
    private var ledger: RunLedger

    init(_ ledger: RunLedger) { self.ledger = ledger }

    subscript<Value>(dynamicMember path: KeyPath<RunLedger, Value>) -> Value { ledger[keyPath: path] }

    func append(
        _ source: RunSource, _ identity: RecordIdentity = RecordIdentity(hash: 0), at place: ResultRecord.Source
    ) {
        ledger.append(source, identity, at: place)
    }

    @discardableResult
    func apply(_ result: RunResult) -> Bool { ledger.apply(result) }

    func has(_ result: RunResult) -> Bool { ledger.has(result) }

    func unread(of published: Int) -> Int { ledger.unread(of: published) }

    func isComplete() -> Bool { ledger.isComplete() }

    func stillHeld() -> [UInt64] { ledger.stillHeld() }

    func doubled() -> [UInt64] { ledger.doubled() }
}

/// Every delivery of a run, one by one.
struct RunLedgerTests {
    private let topic = "news.backfill"

    private func place(_ offset: Int64, _ partition: Int32 = 0) -> ResultRecord.Source {
        .init(partition: TopicPartition(topic: topic, partition: partition), offset: offset)
    }

    private func result(
        _ outcome: Outcome, _ event: String, _ offset: Int64, _ platform: Platform = .template, version: String? = nil,
        owner: String? = nil
    ) -> RunResult {
        RunResult(
            outcome, of: event, at: SourceCoordinates(source: place(offset), platform: platform), version: version,
            owner: owner)
    }

    /// A run of records at these offsets.
    private func ledger(_ offsets: [Int64], platforms: [Platform] = [.template]) -> Book {
        let ledger = Book(RunLedger(platforms: platforms, inFlightMax: 2))
        for offset in offsets { ledger.append(RunSource(.published), at: place(offset)) }
        return ledger
    }

    @Test func `a run is complete once every record has a result of any outcome`() {
        let ledger = ledger([5, 6, 9])
        #expect(!ledger.isComplete())
        #expect(ledger.apply(result(.accepted, "a", 5)))
        #expect(ledger.apply(result(.undecodable, "news.backfill/0/6", 6)))
        #expect(!ledger.isComplete())
        #expect(ledger.missingPlaces.map(\.description) == ["news.backfill/0/9/template"])
        #expect(ledger.apply(result(.expired, "c", 9)))
        #expect(ledger.isComplete() && ledger.missing == 0)
        #expect(ledger.tally.results == [.accepted: 1, .undecodable: 1, .expired: 1])
    }

    @Test func `published events whose records were not read are counted`() {
        let ledger = ledger([5, 6])
        ledger.append(RunSource(.returned), at: place(7))
        #expect(ledger.unread(of: 4) == 2)
        #expect(ledger.unread(of: 1) == 0, "a record may be there twice")
    }

    @Test func `a record has one result for each platform`() {
        let ledger = ledger([1], platforms: [.apple, .fcmv1])
        ledger.apply(result(.accepted, "a", 1, .fcmv1))
        #expect(ledger.missingPlaces.map(\.platform) == [.apple])
        // A result for a platform that the settings do not have.
        #expect(!ledger.apply(result(.accepted, "a", 1, .windows)))
        ledger.apply(result(.rejected, "a", 1, .apple))
        #expect(ledger.isComplete())
        #expect(ledger.doubled() == [])
    }

    @Test(arguments: [[Int64](0..<100), (0..<100).map { $0 * 3 }, [0, 1, 2, 50, 51, 1 << 40]] as [[Int64]])
    func `only results of the run's records count, regardless of their offsets`(offsets: [Int64]) {
        let ledger = ledger(offsets)
        for offset in [-1] + offsets.map({ $0 + 1 }) where !offsets.contains(offset) {
            let other = result(.accepted, "other", offset)
            #expect(!ledger.has(other) && !ledger.apply(other))
        }
        var elsewhere = result(.accepted, "other", 0)
        elsewhere.coordinates.source = place(0, 1)
        #expect(!ledger.has(elsewhere))
        for offset in offsets.reversed() { #expect(ledger.apply(result(.accepted, "\(offset)", offset))) }
        #expect(ledger.isComplete())
    }

    @Test func `results of a former topic with the same places do not count`() {
        let ledger = Book(RunLedger(platforms: [.template], inFlightMax: 2))
        for offset in 0..<2 as Range<Int64> {
            ledger.append(RunSource(.published), RecordIdentity(hash: UInt64(offset)), at: place(offset))
        }
        func result(_ offset: Int64, _ identity: UInt64?) -> RunResult {
            var result = self.result(.accepted, "\(offset)", offset)
            result.identity = identity.map(RecordIdentity.init(hash:))
            return result
        }
        for offset in 0..<2 as Range<Int64> {
            let former = result(offset, 7)
            #expect(!ledger.has(former) && !ledger.apply(former))
        }
        #expect(ledger.missing == 2)
        #expect(ledger.apply(result(0, 0)) && ledger.apply(result(1, nil)), "results of earlier versions have none")
        #expect(ledger.isComplete() && ledger.repeated == 0)
    }

    @Test func `a record that is read again is the same record`() {
        let ledger = ledger([7, 8, 7, 8, 3])
        #expect(ledger.tally.published == 2)
        ledger.apply(result(.accepted, "a", 7))
        ledger.apply(result(.accepted, "b", 8))
        #expect(ledger.isComplete())
    }

    @Test func `a crash may repeat a result of one record, but not ring for a second record`() {
        let ledger = ledger([1, 2, 3])
        ledger.apply(result(.accepted, "a", 1))
        #expect(!ledger.apply(result(.accepted, "a", 1)))
        ledger.apply(result(.accepted, "b", 2))
        #expect(ledger.repeated == 1)
        #expect(ledger.repeats.map(\.event) == ["a"])
        #expect(ledger.doubled() == [])
        ledger.apply(result(.unknown, "a", 3))
        #expect(ledger.doubled() == [result(.accepted, "a", 9).delivery])
        #expect(ledger.isComplete())
    }

    @Test func `a crash explains a repeat only if another owner of the partition wrote it`() {
        let ledger = ledger([1, 2], platforms: [.apple, .fcmv1])
        ledger.apply(result(.accepted, "a", 1, .apple, owner: "x.1"))
        ledger.apply(result(.accepted, "a", 1, .fcmv1, owner: "y.1"))
        ledger.apply(result(.accepted, "b", 2, .apple, owner: "x.1"))
        #expect(ledger.repeated == 0 && ledger.unexplained == 0)
        ledger.apply(result(.accepted, "a", 1, .apple, owner: "x.2"))
        ledger.apply(result(.accepted, "a", 1, .fcmv1, owner: "x.2"))
        #expect(ledger.repeated == 2 && ledger.unexplained == 0, "the same process, assigned again, is another owner")
        ledger.apply(result(.accepted, "b", 2, .apple, owner: "x.1"))
        #expect(ledger.repeated == 2 && ledger.unexplained == 1)
        #expect(ledger.unexplainedRepeats.map(\.event) == ["b"])
    }

    @Test func `a crash explains repeats of unknown owners once each, up to the requests in flight`() {
        let ledger = ledger([1, 2, 3, 4])
        for offset in 1...4 as ClosedRange<Int64> { ledger.apply(result(.accepted, "\(offset)", offset)) }
        ledger.apply(result(.accepted, "1", 1))
        #expect(ledger.repeated == 1 && ledger.unexplained == 0)
        ledger.apply(result(.accepted, "1", 1))
        #expect(ledger.repeated == 1 && ledger.unexplained == 1, "a third result takes a second crash")
        for offset in 2...4 as ClosedRange<Int64> { ledger.apply(result(.accepted, "\(offset)", offset)) }
        #expect(ledger.repeated == 1 && ledger.unexplained == 4)
    }

    @Test func `a duplicate does not count as a ring, and two versions are two deliveries`() {
        let ledger = ledger([1, 2, 3])
        ledger.apply(result(.accepted, "a", 1, version: "1"))
        ledger.apply(result(.duplicate, "a", 2, version: "1"))
        ledger.apply(result(.accepted, "a", 3, version: "2"))
        #expect(ledger.isComplete())
        #expect(ledger.doubled() == [] && ledger.repeated == 0)
    }

    @Test func `a held delivery is complete with the result of its returned original`() {
        let ledger = ledger([1, 2])
        ledger.apply(result(.held, "a", 1))
        ledger.apply(result(.accepted, "b", 2))
        #expect(!ledger.isComplete())
        #expect(ledger.missing == 0)
        #expect(ledger.stillHeld() == [result(.held, "a", 1).delivery])
        ledger.append(RunSource(.returned), at: place(3))
        #expect(!ledger.isComplete())
        // Quiet hours followed the end of the embargo.
        ledger.apply(result(.held, "a", 3))
        #expect(!ledger.isComplete())
        ledger.append(RunSource(.returned), at: place(4))
        ledger.apply(result(.accepted, "a", 4))
        #expect(ledger.isComplete() && ledger.doubled() == [])
        #expect(ledger.tally.published == 2)
    }

    @Test func `an original that returned twice does not count for another one`() {
        let ledger = ledger([1, 2])
        ledger.apply(result(.held, "a", 1))
        ledger.apply(result(.held, "b", 2))
        for offset in [3, 4] as [Int64] { ledger.append(RunSource(.returned), at: place(offset)) }
        ledger.apply(result(.accepted, "a", 3))
        ledger.apply(result(.duplicate, "a", 4))
        #expect(!ledger.isComplete())
        #expect(ledger.stillHeld() == [result(.held, "b", 2).delivery])
    }

    @Test func `a redriven delivery may ring again, and is awaited only on its platform`() {
        let ledger = ledger([1], platforms: [.apple, .fcmv1])
        ledger.apply(result(.unknown, "a", 1, .apple))
        ledger.apply(result(.accepted, "a", 1, .fcmv1))
        ledger.append(RunSource(.redriven, for: .apple), at: place(2))
        #expect(ledger.missing == 1)
        ledger.apply(result(.accepted, "a", 2, .apple))
        #expect(ledger.isComplete() && ledger.doubled() == [])
    }

    @Test func `a record redriven for several platforms has one delivery for each of them`() {
        let ledger = ledger([1], platforms: [.apple, .fcmv1, .windows])
        for platform in [.apple, .fcmv1, .windows] as [Platform] { ledger.apply(result(.unknown, "a", 1, platform)) }
        ledger.append(RunSource(.redriven, for: .apple, .fcmv1), at: place(2))
        #expect(ledger.missing == 2)
        for platform in [.apple, .fcmv1] as [Platform] { ledger.apply(result(.accepted, "a", 2, platform)) }
        #expect(ledger.isComplete() && ledger.doubled() == [])
        #expect(ledger.tally.figures(platforms: 3, at: Instant(milliseconds: 0)).open == 0)
    }

    @Test func `a record for platforms that the settings no longer have is for all of them`() {
        let ledger = ledger([], platforms: [.apple, .fcmv1])
        ledger.append(RunSource(.redriven, for: .windows), at: place(1))
        #expect(ledger.missing == 2)
        for platform in [.apple, .fcmv1] as [Platform] { ledger.apply(result(.accepted, "a", 1, platform)) }
        #expect(ledger.isComplete())
        #expect(ledger.tally.figures(platforms: 2, at: Instant(milliseconds: 0)).open == 0)
    }

    @Test(arguments: [true, false])
    func `a delivery that was held and redriven, in either order, may ring again`(isHeldFirst: Bool) {
        let ledger = ledger([1])
        ledger.apply(result(isHeldFirst ? .held : .unknown, "a", 1))
        ledger.append(RunSource(isHeldFirst ? .returned : .redriven), at: place(2))
        ledger.apply(result(isHeldFirst ? .unknown : .held, "a", 2))
        ledger.append(RunSource(isHeldFirst ? .redriven : .returnedRedriven), at: place(3))
        ledger.apply(result(.accepted, "a", 3))
        #expect(ledger.isComplete() && ledger.doubled() == [])
        let figures = ledger.tally.figures(platforms: 1, at: Instant(milliseconds: 0))
        #expect(figures.open == 0 && figures.outcomes == [.unknown: 1, .accepted: 1])
    }

    @Test func `only the first missing deliveries are named`() {
        let ledger = ledger(Array(0..<1_000))
        #expect(ledger.missing == 1_000)
        #expect(ledger.missingPlaces.map(\.source.offset) == (0..<20).map { Int64($0) })
    }

    @Test func `the headers of a record show how it came to its lane`() {
        func source(_ headers: [(String, String)]) -> RunSource { RunSource(headers.map { RecordHeader($0, $1) }) }
        #expect(source([("nw-run", "r")]) == RunSource(.published))
        #expect(source([("nw-redrive", "1"), ("nw-platform", "apple")]) == RunSource(.redriven, for: .apple))
        #expect(source([("nw-held", "due")]) == RunSource(.returned))
        #expect(
            source([("nw-redrive", "1"), ("nw-platform", "apple"), ("nw-held", "due")])
                == RunSource(.returnedRedriven, for: .apple))
        #expect(
            source([("nw-held", "due"), ("nw-redrive", "1"), ("nw-platform", "apple")])
                == RunSource(.redriven, for: .apple))
        #expect(
            source([("nw-redrive", "1"), ("nw-platform", "apple,fcmv1,pigeon")])
                == RunSource(.redriven, for: .apple, .fcmv1))
        #expect(source([("nw-redrive", "1"), ("nw-platform", "pigeon")]) == RunSource(.redriven))
    }

    @Test func `results of another group and other records do not count`() {
        func record(_ headers: [(String, String)]) -> SourceRecord {
            SourceRecord(
                offset: 0, timestamp: Instant(milliseconds: 5), key: Array("a".utf8), value: nil,
                headers: headers.map { RecordHeader($0, $1) })
        }
        let ours = [("nw-source", "t/0/1/template"), ("nw-outcome", "accepted"), ("nw-group", "g")]
        let read = RunResult(record(ours + [("nw-version", "3"), ("nw-identity", "00000000000000ff")]), group: "g")
        #expect(read?.event == "a" && read?.version == "3" && read?.at == Instant(milliseconds: 5))
        #expect(read?.identity == RecordIdentity(hash: 255))
        #expect(RunResult(record(ours), group: "h") == nil)
        for missing in ours.indices {
            var headers = ours
            headers.remove(at: missing)
            #expect(RunResult(record(headers), group: "g") == nil)
        }
        #expect(RunResult(record(ours + [("nw-outcome", "lost")]), group: "g") == nil)
    }
}
