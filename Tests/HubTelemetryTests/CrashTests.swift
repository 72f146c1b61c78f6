import ByteText
import HubTelemetry
import NewsModel
import NotificationHub
import Testing

/// A process that restarts after a crash repeats questions, and writes the same records or more complete ones.
struct CrashTests {
    /// The answer of a hub whose telemetry becomes visible over time, and for some sends never.
    private static func word(_ id: String, _ age: Duration) -> HubWord {
        let number = Int(id.dropFirst(3)) ?? 0
        if number % 10 == 3 { return .nothing }
        let end = Duration.seconds(20 + number % 400)
        if age < end / 4 { return .nothing }
        let isOver = age >= end
        let reached = Int64(isOver ? 100 : Int(100 * (age / end)))
        return .details(
            NotificationDetails(
                state: isOver ? .completed : .processing,
                counts: [.init(platform: "apns", outcomes: [.init(name: "Success", count: reached)])]))
    }

    @Test(arguments: [1, 2, 3, 4, 5] as [UInt64])
    func `crashes lose no send and change no record's meaning`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let start = TestTelemetryState.start.wall
        var room = TestTelemetryState(perSecond: 200) { id, now in
            Self.word(id, now.wall - start)
        }
        let results = (0..<300).map { TestTelemetryState.result($0, at: start) }
        room.come(results)
        room.hand(.restored(partition: 0))
        var lives = 1
        while room.now.wall - start < .seconds(3_000) {
            room.pass(.seconds(Int64(random.next() % 200)))
            let asked = room.asked.count
            let committed = Int(room.committed[0] ?? 0)
            room.crash(of: [0: results])
            lives += 1
            room.pass(.seconds(1))
            // Committed sends are not polled again.
            for question in room.asked[asked...] {
                #expect((Int(question.id.dropFirst(3)) ?? 0) >= committed)
            }
        }
        room.pass(.seconds(3_000))
        #expect(lives > 10)
        #expect(room.committed == [0: 300])
        let finals = Dictionary(grouping: room.records.filter(\.isFinal)) { $0.send }
        #expect(finals.count == 300)
        var repeats = 0
        for (send, records) in finals {
            let first = try #require(records.first)
            repeats += records.count - 1
            let isSilent = (Int(send.notificationID.dropFirst(3)) ?? 0) % 10 == 3
            for record in records {
                #expect(record.state == (isSilent ? .unknown : .completed))
                #expect(record.counts == first.counts && record.targets == (isSilent ? 0 : 100))
            }
        }
        // Without repeats this test would prove nothing.
        #expect(repeats > 0)
        // Of several records of one poll, a later one never contains less.
        for records in Dictionary(grouping: room.records, by: { [AnyHashable($0.send), $0.attempt] }).values {
            for (one, next) in zip(records, records.dropFirst()) {
                #expect(next.targets >= one.targets && (next.isFinal || !one.isFinal))
            }
        }
    }

    @Test func `a restarted process polls as often as one without a pause, at most once for the missed polls`() {
        let start = TestTelemetryState.start.wall
        var room = TestTelemetryState { _, _ in .nothing }
        let results = [TestTelemetryState.result(1, at: start)]
        room.come(results)
        room.pass(.seconds(100))
        let before = room.asked.count
        #expect(before == 3)
        // The process is away for ten minutes.
        room.now.wall = room.now.wall + .seconds(600)
        room.now.steady = room.now.steady + .seconds(600)
        room.crash(of: [0: results])
        room.pass(.seconds(1))
        #expect(room.asked.count == before + 1)
        room.pass(.seconds(3_000))
        // The three polls are the missed one and those after 20 and 31 minutes.
        #expect(room.asked.count == before + 3)
        #expect(room.records.map(\.attempt) == [8])
    }
}
