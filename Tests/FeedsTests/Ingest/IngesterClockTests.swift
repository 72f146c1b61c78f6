import NewsModel
import Testing

@testable import Feeds

/// Decisions of a process whose wall clock is ahead, and after it was corrected.
@Suite struct IngesterClockTests {
    @Test(arguments: [true, false])
    func `news is sent although the clock was hours ahead when the feed was first read`(saysTime: Bool) {
        var fixture = IngesterFixture()
        fixture.publish("old")
        (fixture.clockAhead, fixture.saysTime) = (.seconds(10_800), saysTime)
        fixture.live(as: "first")
        fixture.now = fixture.now + .seconds(900)
        if saysTime {
            // The publisher's time is used even before the clock is right.
            fixture.publish("a")
            fixture.live(as: "second")
        }
        fixture.clockAhead = .zero
        fixture.publish("b")
        fixture.live(as: "third", polls: 2)
        fixture.now = fixture.now + .seconds(900)
        fixture.publish("c")
        fixture.live(as: "fourth", polls: 2)
        #expect(fixture.texts == ((saysTime ? ["a"] : []) + ["b", "c"]).map { "wire:\($0) 1 Headline of \($0)" })
    }

    @Test func `the first reading of a process with a wrong clock stays backlog after the correction`() {
        var fixture = IngesterFixture()
        for id in ["older", "old"] { fixture.publish(id) }
        fixture.clockAhead = .seconds(10_800)
        fixture.live(as: "first")
        fixture.clockAhead = .zero
        fixture.live(as: "second", polls: 2)
        #expect(fixture.written.isEmpty)
    }

    @Test func `an entry of a first reading in the future is not news under another id and headline`() {
        var fixture = IngesterFixture()
        fixture.publish("old")
        fixture.now = fixture.now + .seconds(600)
        fixture.clockAhead = .seconds(10_800)
        fixture.live(as: "first")
        fixture.clockAhead = .zero
        fixture.document[0].id = "rebuilt"
        fixture.document[0].headline = "Another headline"
        fixture.live(as: "second")
        #expect(fixture.written.isEmpty)
    }

    /// - Parameter isReplaced: true if no entry of the first reading is in the feed any more.
    @Test(arguments: [false, true])
    func `a first reading in the future is corrected before its time comes`(isReplaced: Bool) {
        var fixture = IngesterFixture()
        for number in 0..<8 { fixture.publish("old \(number)") }
        fixture.clockAhead = .seconds(10_800)
        fixture.live(as: "first")
        fixture.clockAhead = .zero
        fixture.now = fixture.now + .seconds(900)
        // This process ends before it polls the feed.
        fixture.live(as: "second", polls: 0)
        fixture.now = fixture.now + .seconds(7_200)
        if isReplaced { fixture.document = [] }
        for number in 0..<8 { fixture.publish("new \(number)") }
        fixture.now = fixture.now + .seconds(3_600)
        fixture.live(as: "third")
        #expect(fixture.texts == (0..<8).map { "wire:new \($0) 1 Headline of new \($0)" })
    }

    @Test func `a publisher whose time is days old decides nothing`() {
        var fixture = IngesterFixture()
        fixture.publish("old")
        (fixture.clockAhead, fixture.saysTime) = (.seconds(2 * 86_400), true)
        fixture.live(as: "first")
        fixture.publish("new")
        fixture.live(as: "second")
        #expect(fixture.written.isEmpty)
    }

    @Test func `a wait that a publisher asked for does not grow when the clock is corrected`() {
        var ingester = Ingester(IngesterFixture().settings)
        var ahead = Duration.seconds(10_800)
        var offset: Int64 = 0
        /// Returns the requests that follow an input at this second. Records are stored and read at once.
        func fetches(after input: IngestInput, at second: Int) -> [FetchID] {
            let steady = FollowedFeed.start + .seconds(second)
            var inputs = [input]
            var found: [FetchID] = []
            while !inputs.isEmpty {
                let next = inputs.removeFirst()
                for action in ingester.handle(next, at: Moment(steady: steady, wall: steady + ahead)) {
                    switch action {
                    case .fetch(let id, _): found.append(id)
                    case .store(let id, let partition, let records):
                        for record in records {
                            inputs.append(
                                .record(partition: partition, offset: offset, key: record.key, value: record.value))
                            offset += 1
                        }
                        inputs.append(.stored(id))
                    default: break
                    }
                }
            }
            return found
        }
        _ = fetches(after: .assigned([0]), at: 0)
        _ = fetches(after: .restored(partition: 0), at: 0)
        let answer = FetchAnswer(
            status: 429, headers: [HeaderField("retry-after", "900")], finalURL: "https://example.org/feed")
        for id in fetches(after: .tick, at: 61) { _ = fetches(after: .fetched(id, .answered(answer)), at: 61) }
        ahead = .zero
        #expect(fetches(after: .pollNow, at: 62).isEmpty)
        #expect((63...1_000).filter { !fetches(after: .tick, at: $0).isEmpty } == [961])
    }

    @Test func `a process takes over a wait of at most an hour`() {
        var ingester = IngesterFixture().ingesterThatMustWait
        let polls = (1...4_000).filter { second in
            let time = FollowedFeed.start + .seconds(second)
            return ingester.handle(.tick, at: Moment(steady: time, wall: time)).contains {
                if case .fetch = $0 { true } else { false }
            }
        }
        #expect(polls.count == 1 && polls.allSatisfy { 3_600...3_601 ~= $0 }, "\(polls)")
    }

    @Test func `a wait that was shortened does not begin again in each process`() {
        var fixture = IngesterFixture()
        let start = fixture.now
        let state = #"{"url":"https://example.org/feed","retryUntil":"2030-01-01T00:00:00Z"}"#
        fixture.topic = [StateRecord(key: "feed/wire", value: Array(state.utf8))]
        fixture.live(as: "first", polls: 0)
        fixture.now = start + .seconds(1_800)
        fixture.live(as: "second", polls: 0)
        fixture.now = start + .seconds(3_500)
        fixture.live(as: "third")
        #expect(fixture.requests.count == 1)
        let wait = fixture.now - start
        #expect(wait >= .seconds(3_600) && wait < .seconds(3_700), "\(wait)")
    }
}
