import HubTelemetry
import KafkaModel
import NewsModel
import NotificationHub
import Testing

struct TelemetryStateTests {
    private func ages(_ room: TestTelemetryState) -> [Double] {
        room.asked.map { Double(($0.at.wall - TestTelemetryState.start.wall).nanoseconds) / 1e9 }
    }

    @Test func `a send is polled at growing ages, each at most a tenth late, until its schedule ends`() throws {
        var room = TestTelemetryState()
        room.come([TestTelemetryState.result(1, at: room.now.wall)])
        room.pass(.seconds(4_000))
        let planned: [Double] = [10, 30, 60, 120, 300, 600, 1_200, 1_860]
        #expect(room.asked.count == planned.count)
        for (age, plan) in zip(ages(room), planned) { #expect((plan...plan * 1.1 + 0.001).contains(age), "\(age)") }
        let last = try #require(room.records.last)
        #expect(room.records.count == 1)
        #expect(last.isFinal && last.state == .unknown && last.attempt == 8 && last.age <= .seconds(2_100))
        #expect(room.committed == [0: 1])
    }

    @Test func `the random delays depend only on the event and the poll`() {
        var first = TestTelemetryState()
        first.come((1...20).map { TestTelemetryState.result($0, at: first.now.wall) })
        first.pass(.seconds(100))
        var second = TestTelemetryState()
        second.come((1...20).map { TestTelemetryState.result($0, at: second.now.wall) })
        second.pass(.seconds(100))
        #expect(ages(first) == ages(second))
        #expect(Set(ages(first).prefix(20)).count > 15)
    }

    @Test func `each change is recorded, the last one as final, and the offset is committed after that`() {
        let start = TestTelemetryState.start.wall
        var room = TestTelemetryState { _, now in
            switch now.wall - start {
            case ..<(.seconds(20)): .nothing
            case ..<(.seconds(100)):
                .details(
                    NotificationDetails(
                        state: .processing, startedAt: start.milliseconds,
                        counts: [.init(platform: "apns", outcomes: [.init(name: "Success", count: 4)])]))
            default: .completed(9, at: start.milliseconds + 90_000)
            }
        }
        room.come([TestTelemetryState.result(1, at: start)])
        room.pass(.seconds(100))
        // The second answer was the same.
        #expect(room.records.map(\.state) == [.processing])
        #expect(room.records.map(\.targets) == [4])
        #expect(room.committed.isEmpty)
        room.pass(.seconds(100))
        #expect(room.records.map(\.state) == [.processing, .completed])
        #expect(room.records.map(\.isFinal) == [false, true])
        #expect(room.records.map(\.attempt) == [2, 4])
        #expect(room.keys == ["event-1", "event-1"])
        #expect(room.committed == [0: 1])
        #expect(room.state.figures.successes == 9)
        let sends = room.state.figures.sends.values.first
        #expect(sends?.seconds.firstIndex(of: 1) == TelemetryFigures.bounds.firstIndex(of: 120))
    }

    @Test func `an open send blocks the offset of its own partition only`() {
        var room = TestTelemetryState(partitions: [0, 1]) { id, _ in id == "NH-1" ? .nothing : .completed() }
        let now = room.now.wall
        room.come((0..<3).map { TestTelemetryState.result($0, at: now) }, partition: 0)
        room.come((10..<13).map { TestTelemetryState.result($0, at: now) }, partition: 1)
        room.pass(.seconds(60))
        #expect(room.committed == [0: 1, 1: 3])
        room.pass(.seconds(2_100))
        #expect(room.committed == [0: 3, 1: 3])
    }

    @Test func `only accepted sends of this group, with an id and of sampled lanes, are polled`() {
        var room = TestTelemetryState(sample: ["live": TelemetrySettings.whole, "backfill": 0]) { _, _ in .completed() }
        let now = room.now.wall
        room.come([
            TestTelemetryState.result(1, at: now), TestTelemetryState.result(2, at: now) { $0.outcome = .rejected },
            TestTelemetryState.result(3, at: now) { $0.notificationID = nil },
            TestTelemetryState.result(4, at: now, lane: "backfill"),
            TestTelemetryState.result(5, at: now - .seconds(8_000)),
            TestTelemetryState.result(6, at: now, lane: "unknown"),
        ])
        room.come([TestTelemetryState.result(7, at: now)], group: "others")
        room.hand(
            .results(
                partition: 0,
                [SourceRecord(offset: 7, value: Array("{".utf8), headers: [.init("nw-group", "newsroom")])]))
        room.pass(.seconds(60))
        #expect(room.asked.map(\.id) == ["NH-1"])
        #expect(room.state.figures.skipped == [.withoutID: 1, .notSampled: 2, .tooOld: 1])
        #expect(room.state.figures.unreadable == 1)
        // The other results do not block the offset.
        #expect(room.committed == [0: 8])
    }

    @Test func `a sample is a share of all events, and the same in every process`() {
        func chosen() -> [String] {
            var room = TestTelemetryState(perSecond: 1_000, openMax: 100_000, sample: ["live": 10_000]) { _, _ in
                .completed()
            }
            room.come((0..<20_000).map { TestTelemetryState.result($0, at: room.now.wall) })
            room.pass(.seconds(60))
            return room.asked.map(\.id).sorted()
        }
        let first = chosen()
        #expect((150...250).contains(first.count))
        #expect(chosen() == first)
    }

    @Test func `questions keep to the pace, of which each process has a share`() {
        for (partitions, total, expected) in [([Int32(0)], 1, 2.0), ([Int32(0)], 4, 0.5)] {
            var room = TestTelemetryState(perSecond: 2, partitions: partitions, of: total) { _, _ in .completed() }
            room.come((0..<100).map { TestTelemetryState.result($0, at: room.now.wall - .seconds(60)) })
            room.pass(.seconds(20))
            #expect(abs(Double(room.asked.count) - 20 * expected) <= 1.5, "\(room.asked.count)")
            for (one, next) in zip(room.asked, room.asked.dropFirst()) {
                #expect(next.at.steady - one.at.steady >= .milliseconds(Int64(950 / expected)))
            }
        }
    }

    @Test func `live sends do not wait for a backfill's, which get a quarter of the pace`() {
        let whole = TelemetrySettings.whole
        var room = TestTelemetryState(perSecond: 2, sample: ["live": whole, "backfill": whole])
        let start = room.now.wall
        room.come((0..<200).map { TestTelemetryState.result($0, at: start, lane: "backfill") })
        room.pass(.seconds(5))
        room.come((200..<230).map { TestTelemetryState.result($0, at: start + .seconds(5)) })
        room.pass(.seconds(35))
        let live = room.asked.filter { (Int($0.id.dropFirst(3)) ?? 0) >= 200 }
        // The polls are due 10 s after acceptance, with a random delay of at most 1 s. 24 s allow 48 questions.
        #expect(Set(live.map(\.id)).count == 30)
        let others = room.asked.count {
            $0.at.steady > TestTelemetryState.start.steady + .seconds(16) && (Int($0.id.dropFirst(3)) ?? 0) < 200
        }
        #expect((10...14).contains(others), "\(others)")
    }

    @Test func `a hub without ids is reported once, and again after it returned one`() {
        var room = TestTelemetryState()
        let at = room.now.wall
        func results(_ numbers: Range<Int>, hasID: Bool) -> [ResultRecord] {
            numbers.map { TestTelemetryState.result($0, at: at) { if !hasID { $0.notificationID = nil } } }
        }
        room.come(results(0..<5, hasID: false))
        #expect(room.notes.map(\.level) == [.error])
        room.come(results(5..<6, hasID: true))
        room.come(results(6..<9, hasID: false))
        #expect(room.notes.count == 2 && room.notes.allSatisfy { $0.text.contains("Standard tier") })
    }

    @Test func `a requested pause stops only questions, and no send is lost`() {
        let start = TestTelemetryState.start.wall
        var room = TestTelemetryState { _, now in
            now.wall - start < .seconds(20) ? .wait(.seconds(300)) : .completed()
        }
        room.come((0..<50).map { TestTelemetryState.result($0, at: start) })
        room.pass(.seconds(100))
        let refused = room.asked.count
        #expect((1...4).contains(refused))
        #expect(room.state.problem == .throttled)
        // Reading continues during the pause.
        #expect(room.credit == 50)
        room.pass(.seconds(400))
        #expect(room.asked.count == refused + 50)
        #expect(room.records.count == 50 && room.records.allSatisfy { $0.state == .completed })
        #expect(room.state.problem == nil && room.committed == [0: 50])
    }

    @Test func `a hub without telemetry is reported once and tested sometimes, and sends end without its report`() {
        var room = TestTelemetryState { _, _ in .notAllowed }
        room.come((0..<30).map { TestTelemetryState.result($0, at: room.now.wall) })
        room.pass(.seconds(3_600))
        #expect(room.notes.filter { $0.level == .error }.count == 1)
        #expect(room.notes.first?.text.contains("Standard tier") == true)
        #expect(room.asked.count <= 8, "\(room.asked.count)")
        #expect(room.records.count == 30)
        #expect(room.records.allSatisfy { $0.isFinal && $0.state == .unknown && $0.error?.code == "not-allowed" })
        #expect(room.committed == [0: 30])
        // A change to a higher tier is noticed without a restart.
        room.answer = { _, _ in .completed() }
        room.come((100..<110).map { TestTelemetryState.result($0, at: room.now.wall) })
        room.pass(.seconds(2_400))
        #expect(room.state.problem == nil)
        #expect(room.records.suffix(10).contains { $0.state == .completed })
        #expect(room.committed == [0: 40])
    }

    @Test func `a refused token is renewed once, and a refused key is reported and retried every minute`() {
        var room = TestTelemetryState { _, _ in .tokenRefused }
        room.come([TestTelemetryState.result(1, at: room.now.wall)])
        room.pass(.seconds(11))
        #expect(room.asked.count == 2 && room.renewals == 2 && room.state.problem == .tokenRefused)
        room.pass(.seconds(600))
        #expect((10...13).contains(room.asked.count))
        #expect(room.notes.count == 1)
        room.answer = { _, _ in .completed() }
        room.pass(.seconds(61))
        #expect(room.records.map(\.state) == [.completed])
    }

    @Test func `a hub that does not answer is polled ever more rarely, and reported once`() {
        var room = TestTelemetryState { _, _ in .failed("connectRefused") }
        room.come((0..<5).map { TestTelemetryState.result($0, at: room.now.wall) })
        room.pass(.seconds(1_000))
        #expect(room.asked.count < 40)
        #expect(room.notes.count == 1 && room.state.problem == .unreachable)
        #expect(room.records.isEmpty)
        room.answer = { _, _ in .completed() }
        room.pass(.seconds(61))
        #expect(room.records.count == 5 && room.state.problem == nil)
    }

    @Test func `a send with a faulty question or answer ends without affecting others`() {
        var room = TestTelemetryState { id, _ in
            switch id {
            case "NH-0": .refused(status: 400)
            case "NH-1": .unreadable(.malformed)
            default: .completed()
            }
        }
        room.come((0..<3).map { TestTelemetryState.result($0, at: room.now.wall) })
        room.pass(.seconds(3_000))
        let errors = Dictionary(room.records.map { ($0.eventID, $0.error?.code) }) { $1 }
        #expect(errors == ["event-0": "status-400", "event-1": "unreadable", "event-2": nil])
        #expect(room.committed == [0: 3] && room.state.problem == nil)
    }

    @Test func `reading pauses while too many sends are open, and resumes later`() {
        var room = TestTelemetryState(openMax: 100) { _, _ in .completed() }
        room.come((0..<150).map { TestTelemetryState.result($0, at: room.now.wall) })
        #expect(room.credit == 0)
        room.pass(.seconds(12))
        #expect(room.credit == 150)
    }

    @Test func `a record that was not stored is written again before its offset is committed`() {
        var room = TestTelemetryState { _, _ in .completed() }
        room.stores = false
        room.come([TestTelemetryState.result(1, at: room.now.wall)])
        room.pass(.seconds(60))
        #expect(room.records.isEmpty && room.committed.isEmpty)
        #expect(room.asked.count == 1 && room.state.cannotStore)
        room.stores = true
        room.pass(.seconds(60))
        #expect(!room.state.cannotStore)
        #expect(room.records.map(\.isFinal) == [true] && room.committed == [0: 1])
    }

    @Test func `a revoked partition is committed as far as it is settled, then released`() {
        var room = TestTelemetryState { id, _ in id == "NH-1" ? .nothing : .completed() }
        room.come((0..<3).map { TestTelemetryState.result($0, at: room.now.wall) })
        room.pass(.seconds(12))
        room.hand(.revoked)
        #expect(room.committed == [0: 1] && room.releases == 1)
        room.pass(.seconds(600))
        // No question follows for revoked partitions.
        #expect(room.asked.count == 3)
        room.hand(.lost)
        #expect(room.releases == 1)
    }

    @Test func `finishing commits and asks nothing more`() {
        var room = TestTelemetryState { id, _ in id == "NH-2" ? .nothing : .completed() }
        room.come((0..<3).map { TestTelemetryState.result($0, at: room.now.wall) })
        room.pass(.seconds(12))
        room.hand(.finish)
        #expect(room.isFinished && room.committed == [0: 2])
        room.pass(.seconds(100))
        #expect(room.asked.count == 3)
    }

    @Test func `the state is caught up once all results of the start are recorded and committed`() {
        var room = TestTelemetryState { _, _ in .completed() }
        room.come((0..<3).map { TestTelemetryState.result($0, at: room.now.wall) })
        room.hand(.restored(partition: 0))
        room.come([TestTelemetryState.result(9, at: room.now.wall + .seconds(100))])
        #expect(!room.isCaughtUp)
        room.pass(.seconds(20))
        #expect(room.isCaughtUp)
        var empty = TestTelemetryState()
        empty.hand(.restored(partition: 0))
        #expect(empty.isCaughtUp)
    }

    @Test func `a recreated topic is read from its beginning, and its offsets are committed`() {
        var room = TestTelemetryState { _, _ in .nothing }
        room.come((0..<5).map { TestTelemetryState.result($0, at: room.now.wall) })
        room.pass(.seconds(12))
        room.answer = { _, _ in .completed() }
        room.hand(.restarted(partition: 0))
        room.hand(
            .results(
                partition: 0, [TestTelemetryState.record(TestTelemetryState.result(9, at: room.now.wall), offset: 0)]))
        room.pass(.seconds(60))
        #expect(room.records.map(\.eventID) == ["event-9"])
        #expect(room.committed == [0: 1])
    }

    @Test func `sends without a device are counted for each tag, and the tags are bounded`() {
        var room = TestTelemetryState { _, _ in .details(NotificationDetails(state: .noTargetFound)) }
        room.come(
            (0..<300).map { number in
                TestTelemetryState.result(number, at: room.now.wall) { $0.tags = ["tag-\(number)", "World"] }
            })
        room.pass(.seconds(60))
        #expect(room.state.figures.withoutTarget["World"]?.count == 300)
        #expect(room.state.figures.withoutTarget.count <= 201)
    }

    @Test func `a tag that has devices on another platform is not without devices`() {
        var room = TestTelemetryState { id, _ in
            id == "NH-0" ? .details(NotificationDetails(state: .noTargetFound)) : .completed()
        }
        func send(_ number: Int, to tags: [String]) {
            let send = TestTelemetryState.result(number, at: room.now.wall) { $0.tags = tags }
            room.hand(.results(partition: 0, [TestTelemetryState.record(send, offset: Int64(number))]))
            room.pass(.seconds(60))
        }
        send(0, to: ["World"])
        send(1, to: ["World", "Sports"])
        #expect(room.state.figures.withoutTarget.keys.sorted() == ["World"], "the devices may have the other tag")
        send(2, to: ["World"])
        #expect(room.state.figures.withoutTarget.isEmpty)
    }
}
