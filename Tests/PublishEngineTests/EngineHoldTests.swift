import EditorialControl
import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine
import Testing

/// Events that are due much later wait on the held topic.
struct EngineHoldTests: HoldingSuite {
    @Test func `an embargo of a week goes to the held topic, and stops nobody else`() throws {
        var shell = try shell()
        let due = shell.wall + Self.inAWeek
        let held = shell.publish(news("a", story: "s", version: 3, embargo(due)), news("b"))
        #expect(held.sends.count == 1)
        #expect(held.outcomes.isEmpty, "the original is to be stored first")
        let event = try #require(held.holds.first?.event)
        #expect(held.holds.count == 1)
        #expect((event.eventID, event.story, event.version?.text) == ("a", "s", "3"))
        #expect((event.due, event.because, event.lane) == (due, .embargo, "live"))
        #expect(event.source == .init(partition: TestShell.source, offset: 0))
        let stored = shell.take(
            .stored([StoredRecord(delivery: held.holds[0].request.delivery, kind: .held, offset: 9)]))
        let result = try #require(stored.results.first?.result)
        #expect(result.outcome == .held)
        #expect(result.error?.code == "embargo")
        #expect(result.error?.detail.contains("\(due)") == true)
        #expect(result.error?.detail.contains("headline") == false)
        let done = shell.store(stored) + shell.store(shell.reply(201, to: held.sends[0])) + shell.wait(.seconds(1))
        #expect(done.commits.flatMap(\.self).contains(PartitionOffset(TestShell.source, 2)), "nothing is left open")
        #expect(shell.engine.counts.records == 0)
        #expect(shell.engine.counts.stories == 0)
    }

    @Test(arguments: [(59, 0, 1), (60, 0, 1), (61, 1, 0)])
    func `an event due within a minute waits in the window`(seconds: Int, holds: Int, sends: Int) throws {
        var shell = try shell()
        let actions = shell.publish(news("a", embargo(shell.wall + .seconds(seconds))))
        #expect(actions.holds.count == holds)
        #expect(shell.wait(.seconds(70)).sends.count == sends)
    }

    @Test func `a record near the held topic's size limit waits in the window`() throws {
        var shell = try shell()
        let embargo = embargo(shell.wall + .seconds(600))
        func large(_ id: String, _ size: Int) -> String {
            news(id, embargo + #","note":"\#(String(repeating: "x", count: size))""#)
        }
        let actions = shell.publish(large("a", 1_000_000), large("b", 900_000))
        #expect(actions.holds.map(\.event.eventID) == ["b"])
        #expect(shell.wait(.seconds(601)).sends.count == 1)
    }

    @Test func `without a held topic everything waits here`() throws {
        var shell = try shell { $0.holdsBeyond = nil }
        #expect(shell.publish(news("a", embargo(shell.wall + .seconds(600)))).holds.isEmpty)
        #expect(shell.wait(.seconds(601)).sends.count == 1)
    }

    @Test func `one record of several platforms is held once`() throws {
        var shell = try shell { $0.platforms = [.apple, .fcmv1, .windows] }
        let held = shell.publish(news("a", embargo(shell.wall + Self.inAWeek)))
        #expect(held.holds.count == 1)
        let results = shell.take(
            .stored([StoredRecord(delivery: held.holds[0].request.delivery, kind: .held, offset: 0)]))
        #expect(results.results.map(\.result.platform) == [.apple, .fcmv1, .windows])
        #expect(results.outcomes == [.held, .held, .held])
    }

    @Test(arguments: [(Outcome.accepted, "fcmv1" as String?), (.held, nil)])
    func `an original names its platforms unless all are held, also if a former owner has held the others`(
        former: Outcome, names: String?
    ) throws {
        var shell = try TestShell {
            $0.holdsBeyond = .seconds(60)
            $0.platforms = [.apple, .fcmv1]
        }
        let record = shell.record(news("a", embargo(shell.wall + Self.inAWeek)))
        let source = ResultRecord.Source(partition: TestShell.source, offset: 0)
        let entry = LedgerEntry(
            offset: 0, source: source, platform: .apple, outcome: former, identity: RecordIdentity(of: record),
            eventID: "a", version: nil, story: nil, isOpen: true)
        _ = shell.assign(ledger: [entry], end: 1)
        let held = shell.take(.records(TestShell.live, TestShell.first, TestShell.source, [record]))
        #expect(held.holds.map(\.request.result.platform) == [.fcmv1])
        #expect(held.originals.map { $0.headers.map(\.text) } == [names.map { [$0] } ?? []])
    }

    @Test func `a copy that names a platform is for that one alone`() throws {
        var shell = try shell { $0.platforms = [.apple, .fcmv1] }
        let back = [RecordHeader(HeaderName.held, "due"), RecordHeader(HeaderName.platform, "fcmv1")]
        let send = try #require(shell.publish(news("a"), headers: back).sends.first)
        let accepted = shell.reply(201, to: send)
        #expect(accepted.results.map(\.result.platform) == [.fcmv1])
        _ = shell.store(accepted)
        #expect(shell.engine.counts.records == 0)
    }

    @Test func `an embargo that ends within quiet hours is held again until they end`() throws {
        // From 09:00 to 11:00; it is 08:00.
        let night = QuietHours(window: DailyWindow(from: 9 * 60, to: 11 * 60, zone: .utc), action: .delay)
        var shell = try TestShell(
            change: {
                $0.holdsBeyond = .seconds(60)
                $0.lanes[0].maxAge = .seconds(900)
            }, policy: ContentPolicy(quietHours: [night]))
        _ = shell.assign()
        let ends = shell.wall + .seconds(5_400)
        let original = news("a", story: "s", version: 1, embargo(ends))
        let first = shell.publish(original)
        #expect(first.holds.map(\.event.due) == [ends])
        #expect(first.holds.map(\.event.because) == [.embargo])
        _ = shell.store(first)
        let back = [RecordHeader(HeaderName.held, "due")]
        _ = shell.wait(.seconds(5_400))
        let second = shell.publish(original, headers: back)
        let held = try #require(second.holds.first?.event)
        #expect(held.because == .quietHours)
        #expect(second.sends.isEmpty)
        let morning = ends + .seconds(5_400)
        #expect(morning <= held.due && held.due <= morning + .seconds(600))
        #expect(shell.store(second).outcomes == [.held])
        _ = shell.wait(held.due - shell.wall)
        #expect(shell.publish(original, headers: back).sends.count == 1)
    }

    @Test func `an original that the broker does not take keeps its record open, and says so`() throws {
        var shell = try shell()
        _ = shell.publish(news("a", embargo(shell.wall + Self.inAWeek)))
        #expect(shell.wait(.seconds(30)).commits.isEmpty)
        #expect(shell.status.waits.contains { $0.reason == .heldTopic && $0.isAlarming })
    }

    @Test func `a stopped event is held, and waits before its gate when it returns`() throws {
        var shell = try shell()
        _ = shell.take(.orders([.stop(.category("World"))]))
        let original = news("a", embargo(shell.wall + .seconds(600)))
        #expect(shell.store(shell.publish(original)).outcomes == [.held])
        _ = shell.wait(.seconds(600))
        #expect(shell.publish(original, headers: [RecordHeader(HeaderName.held, "due")]).sends.isEmpty)
        #expect(shell.take(.orders([.resume(.category("World"))])).sends.count == 1)
    }

    @Test func `an embargo that names no end withholds the event, and says why`() throws {
        var shell = try shell()
        let endless = shell.publish(#"{"uri":"a","headline":"h","subject":[{"name":"World"}],"embargoed":""}"#)
        #expect(endless.outcomes == [.withheld])
        #expect(endless.endings.first?.result.error?.code == "embargo")
    }

    // MARK: Embargoes in the window

    /// A lane of four records without a held topic.
    private func narrow(change: (inout EngineSettings) -> Void = { _ in }) throws -> TestShell {
        try shell {
            $0.holdsBeyond = nil
            $0.lanes[0].window.records = 4
            change(&$0)
        }
    }

    @Test func `events under embargo that fill the window are an alarm since the last record was read`() throws {
        var shell = try narrow()
        let embargo = embargo(shell.wall + .seconds(600))
        _ = shell.publish(news("a", story: "s", embargo), news("b", story: "t", embargo), news("c", embargo))
        _ = shell.wait(.seconds(10))
        let open = try #require(shell.status.waits.first { $0.reason == .embargo })
        #expect(!open.isAlarming && open.since == shell.now, "one more record can be read")
        _ = shell.publish(news("d", embargo))
        let filled = shell.now
        _ = shell.wait(.seconds(10))
        let blocked = try #require(shell.status.waits.first { $0.reason == .embargo })
        #expect(blocked.isAlarming && blocked.since == filled)
        #expect(blocked.detail.contains("4 events"))
        #expect(blocked.remedy.contains("held.topic") && blocked.remedy.contains("lanes.live.window"))
    }

    @Test func `an embargo is not the alarm if other events fill the window`() throws {
        var shell = try narrow()
        let embargoed = news("a", embargo(shell.wall + .seconds(600)))
        _ = shell.publish(embargoed, news("b"), news("c"), news("d"))
        _ = shell.wait(.seconds(10))
        #expect(!shell.status.waits.contains { $0.reason == .embargo && $0.isAlarming })
    }

    @Test func `an embargo at the front of a partition that is too long to read on is an alarm`() throws {
        var shell = try narrow()
        _ = shell.publish(news("a", embargo(shell.wall + .seconds(600))))
        for index in 0..<7 {
            for send in shell.publish(news("n\(index)")).sends { _ = shell.store(shell.reply(201, to: send)) }
        }
        #expect(shell.engine.counts.records == 8)
        let read = shell.now
        _ = shell.wait(.seconds(10))
        let wait = try #require(shell.status.waits.first { $0.reason == .embargo })
        #expect(wait.isAlarming && wait.since == read)
    }

    /// Only one of the two would have a place on the held topic, and a crash would lose the other.
    @Test func `an event that another lane has held under the same id waits here, and both are sent`() throws {
        let archive = TopicPartition(topic: "archive", partition: 0)
        var shell = try shell { $0.lanes.append(LaneSettings(name: "backfill", topics: ["archive"])) }
        _ = shell.assign([archive], lane: LaneID(1))
        let due = embargo(shell.wall + .seconds(600))
        let held = shell.publish(news("a", due))
        #expect(held.holds.count == 1)
        _ = shell.store(held)
        #expect(shell.publish(news("a", due), lane: LaneID(1), partition: archive).holds.isEmpty)
        #expect(shell.wait(.seconds(601)).sends.count == 1)
    }

    @Test func `events that wait in memory are held when the held topic becomes available`() throws {
        var shell = try narrow { $0.platforms = [.apple, .fcmv1] }
        let week = embargo(shell.wall + Self.inAWeek)
        _ = shell.publish(
            news("a", story: "s", version: 1, week), news("b", embargo(shell.wall + .seconds(59))), news("c", week))
        _ = shell.wait(.seconds(10))
        #expect(shell.take(.holdsBeyond(.seconds(60))).holds.isEmpty)
        let held = shell.take(.held([]))
        #expect(held.holds.map(\.event.eventID) == ["a", "c"])
        #expect(held.holds.map(\.event.source.offset) == [0, 2])
        #expect(shell.take(.held([])).holds.isEmpty, "no event is held twice")
        #expect(shell.store(held).outcomes == [.held, .held, .held, .held])
        #expect(shell.wait(.seconds(60)).sends.count == 2, "the third event was due within a minute")
        #expect(shell.engine.counts.stories == 2)
    }

    @Test func `a waiting event that has taken the place of another one of its story is held`() throws {
        var shell = try narrow()
        let week = embargo(shell.wall + Self.inAWeek)
        let waiting = shell.publish(news("a", story: "s", week), news("b", story: "s", version: 1, week))
        _ = shell.store(waiting)
        #expect(waiting.outcomes == [.superseded])
        _ = shell.take(.holdsBeyond(.seconds(60)))
        let held = shell.take(.held([]))
        #expect(held.holds.map(\.event.eventID) == ["b"])
        #expect(shell.store(held).outcomes == [.held])
        #expect(shell.engine.counts.records == 0 && shell.engine.counts.stories == 0)
    }

    @Test func `a waiting event that the held topic refuses waits on and is sent once`() throws {
        var shell = try narrow()
        let original = news("a", story: "s", version: 1, embargo(shell.wall + .seconds(600)))
        _ = shell.publish(original)
        _ = shell.take(.holdsBeyond(.seconds(60)))
        let held = shell.take(.held([]))
        _ = shell.take(.tooLargeToHold([try #require(held.holds.first?.request.delivery)]))
        let sends = shell.wait(.seconds(601)).sends
        #expect(sends.count == 1)
        let accepted = sends.flatMap { shell.reply(201, to: $0) }
        #expect(accepted.outcomes == [.accepted])
        _ = shell.store(accepted)
        #expect(shell.engine.counts.records == 0 && shell.engine.counts.stories == 0)
    }

    @Test func `an original that the held topic refuses as too large waits here for its time`() throws {
        var shell = try shell { $0.platforms = [.apple, .fcmv1] }
        let held = shell.publish(news("a", story: "s", version: 1, embargo(shell.wall + .seconds(600))))
        let refused = shell.take(.tooLargeToHold([try #require(held.holds.first?.request.delivery)]))
        #expect(refused.outcomes.isEmpty && refused.holds.isEmpty)
        #expect(shell.status.waits.contains { $0.reason == .embargo })
        #expect(shell.publish(news("a", story: "s", version: 1)).outcomes.isEmpty, "a twin waits for it")
        #expect(shell.wait(.seconds(599)).sends.isEmpty)
        let sends = shell.wait(.seconds(2)).sends
        #expect(sends.count == 2)
        for send in sends { _ = shell.store(shell.reply(201, to: send)) }
        #expect(shell.engine.counts.records == 0)
    }

    @Test func `an original that the held topic refuses again is a duplicate of a redriven copy that left`() throws {
        var shell = try narrow()
        _ = shell.publish(news("a", story: "s", embargo(shell.wall + .seconds(600))))
        let redriven = shell.publish(news("a", story: "s"), headers: [RecordHeader(HeaderName.redrive, "1")])
        #expect(redriven.sends.isEmpty, "the original is ahead of it")
        _ = shell.take(.holdsBeyond(.seconds(60)))
        let held = shell.take(.held([]))
        #expect(held.holds.map(\.event.eventID) == ["a"])
        _ = shell.take(.tooLargeToHold([try #require(held.holds.first?.request.delivery)]))
        let accepted = shell.reply(201, to: try #require(held.sends.first))
        #expect(accepted.outcomes == [.accepted, .duplicate])
        _ = shell.store(accepted)
        #expect(shell.wait(.seconds(601)).sends.isEmpty)
        #expect(shell.engine.counts.records == 0 && shell.engine.counts.stories == 0)
    }
}
