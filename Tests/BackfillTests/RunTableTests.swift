import Backfill
import KafkaModel
import NewsModel
import NotificationHub
import Testing

/// The figures of runs, and how they are kept for the next command.
struct RunTableTests {
    private func at(_ seconds: Int64) -> Instant { Instant(milliseconds: seconds * 1_000) }

    private func result(_ outcome: Outcome, _ event: String, at time: Instant) -> RunResult {
        let source = ResultRecord.Source(partition: TopicPartition(topic: "t", partition: 0), offset: 0)
        return RunResult(outcome, of: event, at: .init(source: source, platform: .template), settled: time)
    }

    private func record(_ run: String, at time: Instant) -> SourceRecord {
        SourceRecord(offset: 0, timestamp: time, value: nil, headers: [RecordHeader("nw-run", run)])
    }

    @Test func `the rate of the last minute gives the time left`() {
        var tally = RunTally()
        for _ in 0..<1_000 { tally.add(RunSource(.published)) }
        // A pause of an hour precedes the last minute.
        for second in (0..<10 as Range<Int64>) { tally.add(result(.accepted, "a", at: at(second))) }
        for second in (3_600..<3_660 as Range<Int64>) {
            for _ in 0..<5 { tally.add(result(.accepted, "b", at: at(second))) }
        }
        let figures = tally.figures(platforms: 1, at: at(3_660))
        #expect(figures.open == 690 && figures.settled == 310)
        #expect((4.9...6).contains(figures.rate))
        #expect((115...141).contains(figures.secondsLeft ?? 0))
        #expect(figures.last == RunTally.Last(event: "b", at: at(3_659)))
        #expect(tally.figures(platforms: 1, at: at(3_668)).secondsLeft != nil)
        // Nothing has moved for ten seconds, or for a minute.
        for second in [3_670, 3_800] as [Int64] {
            let still = tally.figures(platforms: 1, at: at(second))
            #expect(still.rate == 0 && still.secondsLeft == nil)
        }
    }

    @Test func `a slow run does not count as stalled between two results`() {
        var tally = RunTally()
        for _ in 0..<100 { tally.add(RunSource(.published)) }
        for second in [0, 20, 40] as [Int64] { tally.add(result(.accepted, "a", at: at(second))) }
        #expect(tally.figures(platforms: 1, at: at(59)).secondsLeft != nil)
    }

    @Test func `a finished run has no time left, and its rate covers all its time`() {
        var tally = RunTally()
        for second in (0...100 as ClosedRange<Int64>) {
            tally.add(RunSource(.published))
            tally.add(result(.accepted, "a", at: at(second)))
        }
        let figures = tally.figures(platforms: 1, at: at(1_000_000))
        #expect(figures.secondsLeft == 0 && figures.open == 0)
        #expect((1...1.1).contains(figures.rate))
    }

    @Test func `a held delivery counts as open until its original has its outcome`() {
        var tally = RunTally()
        tally.add(RunSource(.published))
        tally.add(RunSource(.published))
        tally.add(result(.held, "a", at: at(1)))
        tally.add(result(.accepted, "b", at: at(1)))
        var figures = tally.figures(platforms: 1, at: at(2))
        #expect(figures.outcomes == [.accepted: 1, .held: 1] && figures.open == 1)
        tally.add(RunSource(.returned))
        tally.add(result(.canceled, "a", at: at(3)))
        figures = tally.figures(platforms: 1, at: at(3))
        #expect(figures.outcomes == [.accepted: 1, .canceled: 1] && figures.open == 0 && figures.published == 2)
    }

    @Test func `each platform of an event is a delivery, and so is each redriven record`() {
        var tally = RunTally()
        tally.add(RunSource(.published))
        tally.add(RunSource(.redriven, for: .apple))
        #expect(tally.figures(platforms: 3, at: at(0)).open == 4)
        tally.add(RunSource(.redriven, for: .apple, .fcmv1))
        #expect(tally.figures(platforms: 3, at: at(0)).open == 6)
    }

    @Test func `tables of partitions add up to the table of all`() {
        var (left, right, all) = (RunTable(), RunTable(), RunTable())
        for number in 0..<100 as Range<Int64> {
            let source = record("r\(number % 3)", at: at(number))
            let outcome: Outcome = number % 7 == 0 ? .rejected : .accepted
            let settled = result(outcome, "e\(number)", at: at(number))
            all.add(source: source, for: "g")
            all.add(settled, of: "r\(number % 3)", source)
            if number % 2 == 0 {
                left.add(source: source, for: "g")
                left.add(settled, of: "r\(number % 3)", source)
            } else {
                right.add(source: source, for: "g")
                right.add(settled, of: "r\(number % 3)", source)
            }
        }
        left.merge(right)
        #expect(left == all)
        #expect(all.runs.count == 3)
    }

    @Test func `a table is kept as text, byte for byte`() throws {
        var table = RunTable()
        for (index, outcome) in Outcome.allCases.enumerated() {
            let time = at(1_700_000_000 + Int64(index) * 7)
            let source = record("Nachtlauf, 2019; ü", at: time)
            table.add(source: source, for: "g")
            table.add(result(outcome, "urn:x,y;z \(index)", at: time), of: "Nachtlauf, 2019; ü", source)
        }
        table.add(source: record("only-published", at: at(1_700_000_000)), for: "g")
        let text = try #require(table.text)
        #expect(text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F })
        #expect(RunTable(text: text) == table)
        #expect(RunTable(text: RunTable().text ?? "") == RunTable())
    }

    @Test(arguments: [
        "", "runs2", "runs1 ", "runs1 x", "runs1 cg==,1,0,0,0,5,,,,,", "runs1 cg==,-1,0,0,0,5,,,,,",
        "runs1 cg==,1,0,0,0,5,,,,lost:1,", "runs1 cg==,1,0,0,0,5,,,,accepted:9999999999999999,",
        "runs1 cg==,1,0,0,0,5,,,,,9223372036854775807:1",
    ])
    func `a text in another form is not a table`(text: String) {
        let isOurs = text == "runs1 cg==,1,0,0,0,5,,,,,"
        #expect((RunTable(text: text) != nil) == isOurs)
    }

    @Test func `runs of the last week are kept, or the mark is not moved`() throws {
        var table = RunTable()
        let week: Int64 = 7 * 86_400
        for number in 0..<200 as Range<Int64> { table.add(source: record("run-\(number)", at: at(number)), for: "g") }
        // All runs are recent. A dropped one would be counted wrongly from then on.
        #expect(table.text == nil)
        for number in 0..<10 as Range<Int64> {
            table.add(source: record("new-\(number)", at: at(week + 1_000 + number)), for: "g")
        }
        let text = try #require(table.text)
        #expect(text.utf8.count <= RunTable.textBytesMax)
        let kept = try #require(RunTable(text: text))
        #expect((0..<10).allSatisfy { kept.runs["new-\($0)"] != nil })
        #expect(kept.runs["run-199"] != nil && kept.runs["run-0"] == nil)
    }

    @Test func `any number of run ids takes bounded memory`() {
        var table = RunTable()
        for number in 0..<(RunTable.runsMax + 5) { table.add(source: record("\(number)", at: at(0)), for: "g") }
        #expect(table.runs.count == RunTable.runsMax && table.ignored == 5)
        var other = RunTable()
        other.add(source: record("another", at: at(0)), for: "g")
        table.merge(other)
        #expect(table.ignored == 6)
        #expect(table.text == nil)
    }

    @Test func `a verdict names errors, and distinguishes a crash from a double`() {
        var figures = RunTally().figures(platforms: 1, at: at(0))
        figures.published = 30
        figures.outcomes = [.duplicate: 2]
        var verdict = RunVerdict(figures: figures)
        verdict.repeated = .init(count: 1, names: ["a at t/0/1/template"])
        #expect(verdict.isSound)
        #expect(verdict.lines(of: "r").contains { $0.contains("within what a crash allows") })
        #expect(verdict.lines(of: "r").contains { $0.hasPrefix("2 deliveries settled as duplicate") })
        #expect(verdict.lines(of: "r").last?.hasSuffix("nothing missing, nothing doubled") == true)
        verdict.firstOffsets = [.init(topic: "t", partition: 0): 7, .init(topic: "t", partition: 2): 3]
        #expect(verdict.isSound)
        #expect(
            verdict.lines(of: "r").contains(
                "note: records before offset 7 of t/0 are gone, as on 1 other partition: a loss there cannot be seen"))
        verdict.firstOffsets = [:]
        verdict.unread = 5
        #expect(!verdict.isSound)
        #expect(verdict.lines(of: "r").first?.hasPrefix("5 of 35 published events cannot be read") == true)
        verdict.unread = 0
        verdict.unexplained = .init(count: 1, names: ["a at t/0/1/template"])
        #expect(!verdict.isSound)
        verdict.unexplained = .init()
        verdict.doubled = .init(count: 1, names: ["b: accepted at t/0/2/template, accepted at t/0/9/template"])
        verdict.missing = .init(count: 25, names: (0..<20).map { "m\($0)" })
        #expect(!verdict.isSound)
        let lines = verdict.lines(of: "r")
        #expect(lines.contains("  m19") && lines.contains("  and 5 more"))
        #expect(lines.contains { $0.hasPrefix("1 delivery doubled") })
        #expect(lines.last?.hasSuffix("not as it should be") == true)
    }
}
