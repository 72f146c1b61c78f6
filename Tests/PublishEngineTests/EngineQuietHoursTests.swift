import EditorialControl
import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine
import Testing

/// Quiet hours that begin while news is queued. The shell's time begins at 08:00 UTC, the quiet hours at 08:01.
struct EngineQuietHoursTests {
    private static let night = QuietHours(
        window: DailyWindow(from: 8 * 60 + 1, to: 9 * 60, zone: .utc), action: .delay, exceptUrgency: 1)

    private func shell(change: (inout EngineSettings) -> Void = { _ in }) throws -> TestShell {
        var shell = try TestShell(
            change: {
                $0.holdsBeyond = .seconds(60)
                $0.lanes[0].maxAge = .seconds(900)
                $0.connections = 1
                change(&$0)
            }, policy: ContentPolicy(quietHours: [Self.night]))
        _ = shell.assign()
        return shell
    }

    /// The times at which news of this night may leave, for a shell whose time has not passed.
    private func morning(of shell: TestShell) -> ClosedRange<Instant> {
        shell.wall + .seconds(3_600)...shell.wall + .seconds(4_200)
    }

    @Test func `news that is queued when quiet hours begin is held, and leaves when they end`() throws {
        var shell = try shell()
        let morning = morning(of: shell)
        let first = try #require(shell.publish(news("a"), news("b", story: "s", version: 1)).sends.first)
        _ = shell.wait(.seconds(90))
        let accepted = shell.reply(201, to: first)
        let held = try #require(accepted.holds.first?.event)
        #expect(held.eventID == "b" && held.because == .quietHours && morning.contains(held.due))
        #expect(shell.store(accepted).outcomes == [.held])
        #expect(shell.engine.counts.records == 0 && shell.engine.counts.stories == 0)
        _ = shell.wait(held.due - shell.wall)
        let back = [RecordHeader(HeaderName.held, "due")]
        #expect(shell.publish(news("b", story: "s", version: 1), headers: back).sends.count == 1)
    }

    @Test func `without a held topic such news waits in the window, and leaves when quiet hours end`() throws {
        var shell = try shell { $0.holdsBeyond = nil }
        let first = try #require(shell.publish(news("a"), news("b")).sends.first)
        _ = shell.wait(.seconds(90))
        let accepted = shell.reply(201, to: first)
        #expect(accepted.holds.isEmpty && accepted.sends.isEmpty)
        let later = shell.wait(.seconds(4_300))
        #expect(later.outcomes.isEmpty && later.sends.count == 1)
    }

    @Test func `news behind another event of its story is held too`() throws {
        var shell = try shell()
        let first = try #require(shell.publish(news("a", story: "s"), news("b", story: "s")).sends.first)
        _ = shell.wait(.seconds(90))
        #expect(shell.reply(201, to: first).holds.map(\.event.eventID) == ["b"])
    }

    @Test func `a version that waits for more readers than the next one is held too`() throws {
        var shell = try shell()
        let older = news("b", story: "s", version: 1, #","users":["anna","ben"]"#)
        let newer = news("c", story: "s", version: 2, #","users":["anna"]"#)
        let first = try #require(shell.publish(news("a"), older, newer).sends.first)
        _ = shell.wait(.seconds(90))
        let accepted = shell.reply(201, to: first)
        #expect(accepted.holds.map(\.event.eventID) == ["b", "c"])
        #expect(shell.store(accepted).outcomes == [.held, .held])
    }

    @Test func `news that the hub has refused before quiet hours is held with its attempts`() throws {
        var shell = try shell()
        let send = try #require(shell.publish(news("a")).sends.first)
        _ = shell.reply(429, retryAfter: .seconds(100), to: send)
        let held = shell.wait(.seconds(110))
        #expect(held.sends.isEmpty && held.holds.map(\.event.eventID) == ["a"])
        let result = try #require(shell.store(held).results.first).result
        #expect(result.outcome == .held && result.attempts == 1)
    }

    @Test func `news that the held topic refuses keeps its attempts, and leaves when quiet hours end`() throws {
        var shell = try shell()
        let send = try #require(shell.publish(news("a")).sends.first)
        _ = shell.reply(429, retryAfter: .seconds(100), to: send)
        let held = shell.wait(.seconds(110))
        _ = shell.take(.tooLargeToHold([try #require(held.holds.first?.request.delivery)]))
        let again = try #require(shell.wait(.seconds(4_300)).sends.first)
        let result = try #require(shell.reply(201, to: again).endings.first).result
        #expect(result.outcome == .accepted && result.attempts == 2)
    }

    @Test(arguments: EngineOvertakenTests.versions)
    func `news that the held topic refuses in quiet hours does not follow a later event of its story`(
        earlier: Int?, later: Int?
    ) throws {
        for hasArrived in [false, true] {
            var shell = try shell()
            _ = shell.wait(.seconds(90))
            let held = shell.publish(news("a", story: "s", version: earlier))
            let urgent = news("b", story: "s", version: later, #","urgency":1"#)
            let send = try #require(shell.publish(urgent).sends.first)
            if hasArrived { _ = shell.store(shell.reply(201, to: send)) }
            let refused = shell.take(.tooLargeToHold([try #require(held.holds.first?.request.delivery)]))
            #expect(refused.outcomes == [.superseded])
            if !hasArrived { _ = shell.store(shell.reply(201, to: send)) }
            #expect(shell.wait(.seconds(4_300)).sends.isEmpty)
        }
    }

    @Test func `news that a stop keeps until quiet hours have begun does not expire`() throws {
        var shell = try shell()
        _ = shell.take(.orders([.stop(.category("World"))]))
        #expect(shell.publish(news("a")).sends.isEmpty)
        let held = shell.wait(.seconds(901))
        #expect(held.outcomes.isEmpty && held.holds.map(\.event.eventID) == ["a"])
    }

    @Test func `news that is too old before quiet hours begin expires`() throws {
        var shell = try shell { $0.lanes[0].maxAge = .seconds(30) }
        let first = try #require(shell.publish(news("a"), news("b")).sends.first)
        _ = shell.wait(.seconds(90))
        #expect(shell.reply(201, to: first).outcomes == [.accepted, .expired])
    }

    @Test func `news whose expiresAt comes before the end of quiet hours comes back to be reported`() throws {
        var shell = try shell()
        let expiresAt = shell.wall + .seconds(1_800)
        let first = try #require(shell.publish(news("a"), news("b", #","expiresAt":"\#(expiresAt)""#)).sends.first)
        _ = shell.wait(.seconds(90))
        #expect(shell.reply(201, to: first).holds.map(\.event.due) == [expiresAt])
    }

    @Test func `a copy from the held topic that is queued until the next quiet hours is held again`() throws {
        var shell = try shell { $0.lanes[0].maxAge = nil }
        let first = try #require(shell.publish(news("a")).sends.first)
        #expect(shell.publish(news("b"), headers: [RecordHeader(HeaderName.held, "due")]).sends.isEmpty)
        _ = shell.wait(.seconds(90))
        #expect(shell.reply(201, to: first).holds.map(\.event.eventID) == ["b"])
    }

    // MARK: Several platforms

    @Test func `the rest of a record is held for its platforms`() throws {
        var shell = try shell { $0.platforms = [.apple, .fcmv1, .windows] }
        let first = try #require(shell.publish(news("a")).sends.first)
        _ = shell.wait(.seconds(90))
        let accepted = shell.reply(201, to: first)
        #expect(accepted.holds.count == 1)
        #expect(accepted.originals.map { $0.headers.map(\.text) } == [["fcmv1,windows"]])
        let stored = shell.store(accepted)
        #expect(stored.outcomes == [.held, .held])
        #expect(shell.engine.counts.records == 0)
    }

    @Test func `the rest of a record is held after a request in flight has its result`() throws {
        var shell = try shell {
            $0.platforms = [.apple, .fcmv1]
            $0.connections = 2
        }
        let sends = shell.publish(news("a")).sends
        #expect(sends.count == 2)
        _ = shell.reply(429, retryAfter: .seconds(70), to: sends[1])
        let waiting = shell.wait(.seconds(90))
        #expect(waiting.holds.isEmpty && waiting.sends.isEmpty)
        let accepted = shell.reply(201, to: sends[0])
        let stored = shell.store(accepted)
        #expect((accepted + stored).originals.map { $0.headers.map(\.text) } == [["fcmv1"]])
        _ = shell.store(stored)
        #expect(shell.engine.counts.records == 0)
    }

    @Test func `a repeat of what some readers may have does not outlast its deadline`() throws {
        var shell = try shell {
            $0.platforms = [.apple, .fcmv1]
            $0.connections = 2
        }
        let sends = shell.publish(news("a")).sends
        _ = shell.reply(429, retryAfter: .seconds(70), to: sends[1])
        _ = shell.take(.reply(.unknown(SendFailure(.requestTimeout, "timeout")), to: sends[0].id))
        var endings: [StoreRequest] = []
        var held: [Action] = []
        for _ in 0..<92 {
            let actions = shell.wait(.seconds(10))
            endings += actions.endings
            for send in actions.sends { endings += shell.reply(503, to: send).endings }
            held += actions + shell.store(actions)
        }
        #expect(endings.map(\.result.outcome) == [.unknown] && endings.map(\.result.platform) == [.apple])
        #expect(held.originals.map { $0.headers.map(\.text) } == [["fcmv1"]])
    }
}
