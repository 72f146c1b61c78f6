import EditorialControl
import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine
import Testing

/// Events that return from the held topic, and the recalls, versions and results that request them back.
struct EngineReturnTests: HoldingSuite {
    @Test func `an event that expires while held comes back at its expiry and ends as expired`() throws {
        var shell = try shell()
        let expiry = shell.wall + .seconds(600)
        let original = news("a", embargo(shell.wall + Self.inAWeek) + #","expiresAt":"\#(expiry)""#)
        let held = shell.publish(original)
        #expect(held.holds.map(\.event.due) == [expiry])
        _ = shell.store(held)
        _ = shell.wait(.seconds(600))
        let back = shell.publish(original, headers: [RecordHeader(HeaderName.held, "due")])
        #expect(back.outcomes == [.expired] && back.sends.isEmpty)
    }

    @Test func `a returned event is counted when its last platform has its outcome`() throws {
        var shell = try shell { $0.platforms = [.apple, .fcmv1] }
        let due = shell.publish(news("a"), headers: [RecordHeader(HeaderName.held, "due")])
        let other = shell.publish(news("c"))
        _ = shell.publish(news("b"), headers: [RecordHeader(HeaderName.held, "recalled")])
        for send in other.sends { _ = shell.reply(201, to: send) }
        #expect(due.sends.count == 2)
        for (send, count) in zip(due.sends, [0, 1]) {
            #expect(shell.engine.returnsSettled == 0)
            _ = shell.reply(201, to: send)
            #expect(shell.engine.returnsSettled == count)
        }
    }

    @Test(arguments: ["due", "word of a later version"])
    func `a returned event is sent, never early by our own clock, and not held again`(reason: String) throws {
        var shell = try shell { $0.lanes[0].maxAge = .seconds(900) }
        let due = shell.wall + Self.inAWeek
        let original = news("a", story: "s", version: 1, embargo(due))
        _ = shell.store(shell.publish(original))
        _ = shell.wait(Self.inAWeek - .seconds(300))
        // The clock of the returning process is five minutes ahead of ours.
        let back = shell.publish(original, headers: [RecordHeader(HeaderName.held, reason)])
        #expect(back.holds.isEmpty && back.sends.isEmpty && back.outcomes.isEmpty)
        #expect(shell.wait(.seconds(299)).sends.isEmpty)
        let sent = shell.wait(.seconds(2)).sends
        #expect(sent.count == 1)
        // A crash between the return and its tombstone returns it twice.
        _ = shell.store(shell.reply(201, to: try #require(sent.first)))
        let twice = shell.publish(original, headers: [RecordHeader(HeaderName.held, reason)])
        #expect(twice.outcomes == [.duplicate])
    }

    @Test func `an event's maximum age counts from its return`() throws {
        var shell = try shell { $0.lanes[0].maxAge = .seconds(900) }
        let original = news("a", embargo(shell.wall + .seconds(3_600)))
        _ = shell.store(shell.publish(original))
        _ = shell.wait(.seconds(3_600))
        let back = shell.record(original, headers: [RecordHeader(HeaderName.held, "due")])
        _ = shell.wait(.seconds(600))
        #expect(shell.take(.records(TestShell.live, TestShell.first, TestShell.source, [back])).sends.count == 1)
    }

    @Test(arguments: [
        (ReturnReason.recalled, Outcome.canceled, "recalled"), (.superseded, .superseded, "superseded"),
    ])
    func `an event returned early ends for the reason of its return`(
        reason: ReturnReason, outcome: Outcome, code: String
    ) throws {
        var shell = try shell()
        let back = shell.publish(
            news("a", story: "s", embargo(shell.wall + Self.inAWeek)),
            headers: [RecordHeader(HeaderName.held, reason.rawValue)])
        #expect(back.outcomes == [outcome])
        #expect(back.endings.first?.result.error?.code == code)
        #expect(back.holds.isEmpty)
    }

    @Test func `a held story that is recalled ends as canceled, whenever it comes back`() throws {
        var shell = try shell()
        _ = shell.take(.orders([.recall("s")]))
        for reason in ReturnReason.allCases {
            let back = shell.publish(
                news("a", story: "s", embargo(shell.wall + Self.inAWeek)),
                headers: [RecordHeader(HeaderName.held, reason.rawValue)])
            #expect(back.outcomes == [.canceled])
        }
    }

    @Test func `a held event is not one that was sent: a restart sends what comes back`() throws {
        var shell = try shell { $0.holdsBeyond = .seconds(60) }
        let original = news("a", version: 1, embargo(shell.wall + .seconds(600)))
        let entry = LedgerEntry(
            offset: 0, source: .init(partition: TestShell.source, offset: 0), platform: .template, outcome: .held,
            identity: RecordIdentity(eventID: "a"), eventID: "a", version: "1")
        _ = shell.assign(generation: Generation(2), ledger: [entry], end: 1)
        let again = shell.publish(original, generation: Generation(2))
        #expect(again.holds.isEmpty, "the record itself is done")
        _ = shell.wait(.seconds(600))
        let back = shell.record(original, headers: [RecordHeader(HeaderName.held, "due")])
        #expect(shell.take(.records(TestShell.live, Generation(2), TestShell.source, [back])).sends.count == 1)
    }

    @Test func `an event held for one platform stays held when another is sent after a restart`() throws {
        var shell = try TestShell {
            $0.holdsBeyond = .seconds(60)
            $0.platforms = [.apple, .windows]
        }
        let entry = LedgerEntry(
            offset: 0, source: .init(partition: TestShell.source, offset: 0), platform: .windows, outcome: .held,
            identity: RecordIdentity(eventID: "a"), eventID: "a", version: "1")
        _ = shell.assign(ledger: [entry], end: 1)
        _ = shell.take(.held([HeldStory(story: "a", version: NewsEvent.Version("1"), isHeld: true)]))
        // Meanwhile it is due.
        let sends = shell.publish(news("a", version: 1)).sends
        #expect(sends.count == 1)
        let accepted = shell.reply(201, to: try #require(sends.first))
        #expect(accepted.outcomes == [.accepted])
        #expect(shell.store(accepted).returns.isEmpty, "readers of the other platform get what is held")
    }

    // MARK: Recalls and versions

    @Test func `an event that recalls a held story brings it back`() throws {
        var shell = try shell()
        _ = shell.take(.held([HeldStory(story: "s", version: NewsEvent.Version("1"), isHeld: true)]))
        #expect(shell.publish(news("k", story: "s", status: "canceled")).returns == ["s recalled"])
    }

    @Test func `a recall that comes while the original is being stored brings it back`() throws {
        var shell = try shell()
        let held = shell.publish(news("a", story: "s", embargo(shell.wall + Self.inAWeek)))
        #expect(shell.take(.orders([.recall("s")])).outcomes.isEmpty)
        #expect(shell.store(held).returns == ["s recalled"])
    }

    @Test func `a newer version that does not wait is sent, and brings back what is held`() throws {
        var shell = try shell()
        _ = shell.take(.held([HeldStory(story: "s", version: NewsEvent.Version("1"), isHeld: true)]))
        let newer = shell.publish(news("a", story: "s", version: 2))
        #expect(newer.sends.count == 1)
        #expect(newer.returns == ["s superseded"])
        #expect(shell.publish(news("a", story: "s", version: 3)).returns.isEmpty, "once is enough")
    }

    @Test func `a newer version that does not wait brings back what this engine has just held`() throws {
        var shell = try shell()
        _ = shell.store(shell.publish(news("a", story: "s", version: 1, embargo(shell.wall + Self.inAWeek))))
        #expect(shell.publish(news("a", story: "s", version: 2)).returns == ["s superseded"])
    }

    @Test func `a newer version under a later embargo takes the place of what is held`() throws {
        var shell = try shell()
        _ = shell.take(.held([HeldStory(story: "s", version: NewsEvent.Version("1"), isHeld: true)]))
        let newer = shell.publish(news("a", story: "s", version: 2, embargo(shell.wall + Self.inAWeek + Self.inAWeek)))
        #expect(newer.holds.count == 1)
        #expect(newer.returns.isEmpty)
    }

    @Test(arguments: ["", #","embargoUntil":"2100-01-01T00:00:00Z""#])
    func `a version older than what is held is superseded`(more: String) throws {
        var shell = try shell()
        _ = shell.take(.held([HeldStory(story: "s", version: NewsEvent.Version("5"), isHeld: true)]))
        let older = shell.publish(news("a", story: "s", version: 4, more))
        #expect(older.outcomes == [.superseded])
        #expect(older.sends.isEmpty && older.holds.isEmpty && older.returns.isEmpty)
    }

    @Test(arguments: [
        (#","status":"withheld""#, Outcome.withheld), (#","expiresAt":"2000-01-01T00:00:00Z""#, .expired),
    ])
    func `a newer version that is not sent takes back what is held`(more: String, outcome: Outcome) throws {
        var shell = try shell()
        _ = shell.take(.held([HeldStory(story: "s", version: NewsEvent.Version("1"), isHeld: true)]))
        let newer = shell.publish(news("a", story: "s", version: 2, more))
        #expect(newer.outcomes == [outcome] && newer.returns == ["s superseded"])
    }

    @Test(arguments: [(nil, nil, nil), (1, nil, 2), (nil, 1, nil)] as [(Int?, Int?, Int?)])
    func `of two events of a story the later one takes the place of what is held unless both have versions`(
        _ versions: (Int?, Int?, Int?)
    ) throws {
        var shell = try shell()
        let week = embargo(shell.wall + Self.inAWeek)
        _ = shell.store(shell.publish(news("a", story: "s", version: versions.0, week)))
        let later = shell.publish(news("b", story: "s", version: versions.1, week))
        #expect(later.holds.map(\.event.eventID) == ["b"])
        _ = shell.store(later)
        let last = shell.publish(news("c", story: "s", version: versions.2))
        #expect(last.sends.count == 1 && last.returns == ["s superseded"])
    }

    @Test func `another event of a story, with nothing to tell which is newer, neither takes its place nor ends it`()
        throws
    {
        var shell = try shell()
        let other = TopicPartition(topic: "news", partition: 7)
        _ = shell.take(.held([HeldStory(story: "s", source: .init(partition: other, offset: 0), isHeld: true)]))
        let live = shell.publish(news("b", story: "s"))
        #expect(live.sends.count == 1)
        #expect(live.returns.isEmpty)
        let third = shell.publish(news("c", story: "s", embargo(shell.wall + .seconds(600))))
        #expect(third.holds.isEmpty, "on the held topic it would take the first one's place")
        _ = shell.reply(201, to: try #require(live.sends.first))
        #expect(shell.wait(.seconds(601)).sends.count == 1)
    }

    /// A dead letter is put back for its own platform.
    private func redriven(_ platform: Platform) -> [RecordHeader] {
        [RecordHeader(HeaderName.redrive, "1"), RecordHeader(HeaderName.platform, platform.rawValue)]
    }

    @Test(arguments: [nil, 1] as [Int?])
    func `an embargoed event redriven for two platforms reaches both`(version: Int?) throws {
        var shell = try shell { $0.platforms = [.apple, .fcmv1] }
        let due = shell.wall + Self.inAWeek
        func original() -> String { news("a", story: "s", version: version, embargo(due)) }
        let first = shell.publish(original(), headers: redriven(.apple))
        #expect(first.holds.count == 1)
        let second = shell.publish(original(), headers: redriven(.fcmv1))
        #expect(second.holds.isEmpty && second.returns.isEmpty, "there it would take the place of the first")
        let sent = shell.wait(Self.inAWeek)
        #expect(sent.sends.count == 1)
        let accepted = shell.reply(201, to: try #require(sent.sends.first))
        #expect(shell.store(accepted).returns.isEmpty, "the other platform needs what is held")
    }

    @Test func `an old text that is redriven does not take the place of a newer one that is held`() throws {
        var shell = try shell()
        _ = shell.store(shell.publish(news("b", story: "s", embargo(shell.wall + Self.inAWeek))))
        let old = shell.publish(news("a", story: "s"), headers: redriven(.template))
        #expect(old.returns.isEmpty && old.sends.count == 1)
        #expect(shell.store(shell.reply(201, to: try #require(old.sends.first))).returns.isEmpty)
        // With an embargo of its own it waits here.
        let embargoed = news("a", story: "s", embargo(shell.wall + .seconds(90_000)))
        let waiting = shell.publish(embargoed, headers: redriven(.template))
        #expect(waiting.holds.isEmpty && waiting.returns.isEmpty && waiting.outcomes.isEmpty)
    }

    @Test func `an event put back while its former record was still held is held when that record is gone`() throws {
        var shell = try shell()
        let week = embargo(shell.wall + Self.inAWeek)
        _ = shell.store(shell.publish(news("a", story: "s", week)))
        _ = shell.take(.held([HeldStory(story: "s", version: nil, isHeld: true)]))
        let again = shell.publish(news("b", story: "s", week), headers: redriven(.template))
        #expect(again.holds.isEmpty)
        #expect(shell.take(.held([HeldStory(story: "other", version: nil, isHeld: false)])).holds.isEmpty)
        let erased = shell.take(.held([HeldStory(story: "s", version: nil, isHeld: false)]))
        #expect(erased.holds.map(\.event.eventID) == ["b"])
    }

    @Test func `an event without versions that says no embargo any more is sent at once`() throws {
        var shell = try shell()
        _ = shell.store(shell.publish(news("a", embargo(shell.wall + Self.inAWeek))))
        let lifted = shell.publish(news("a"))
        #expect(lifted.returns.isEmpty, "until it has left")
        let accepted = shell.reply(201, to: try #require(lifted.sends.first))
        #expect(accepted.returns.isEmpty, "a crash before the result is stored would lose the only proof of it")
        #expect(shell.store(accepted).returns == ["a superseded"])
    }

    @Test func `a held record that is read again keeps the held copy until it has left`() throws {
        var shell = try shell { $0.platforms = [.apple, .fcmv1] }
        _ = shell.take(.held([HeldStory(story: "s", version: NewsEvent.Version("1"), isHeld: true)]))
        let again = shell.publish(news("a", story: "s", version: 1, embargo(shell.wall + .seconds(30))))
        #expect(again.holds.isEmpty && again.returns.isEmpty)
        // A process that loses its partition here has sent nothing, so the held event is sent when due.
        let sends = shell.wait(.seconds(30)).sends
        #expect(shell.store(shell.reply(201, to: sends[0])).returns.isEmpty)
        let last = shell.reply(201, to: sends[1])
        #expect(last.returns.isEmpty)
        #expect(shell.store(last).returns == ["s superseded"])
    }

    @Test func `a newer version that is held supersedes an older one that waits to be sent`() throws {
        var shell = try shell { $0.connections = 1 }
        _ = shell.publish(news("x"))
        _ = shell.publish(news("a", story: "s", version: 1))
        let newer = shell.publish(news("a", story: "s", version: 2, embargo(shell.wall + Self.inAWeek)))
        #expect(newer.outcomes == [.superseded])
        #expect(newer.holds.count == 1)
    }

    @Test func `of a story, only what is held and older is called back for a version that has not left yet`() throws {
        var shell = try TestShell { $0.holdsBeyond = .seconds(60) }
        _ = shell.assign()
        _ = shell.take(.held([HeldStory(story: "s", version: NewsEvent.Version("1"), isHeld: true)]))
        let sent = shell.publish(news("a", story: "s", version: 3))
        // Another process may hold this version by now, and this one may never send it.
        #expect(sent.returnedParts == [.older(upTo: NewsEvent.Version("1"))])
        _ = shell.take(.held([HeldStory(story: "s", version: NewsEvent.Version("3"), isHeld: true)]))
        let ended = shell.store(shell.reply(201, to: sent.sends[0]))
        #expect(ended.returnedParts == [.older(upTo: NewsEvent.Version("3"))])
    }

    @Test func `of a story, what is on the held topic is called back with what may still be refused by it`() throws {
        var shell = try shell()
        _ = shell.store(shell.publish(news("a", story: "s", embargo(shell.wall + Self.inAWeek))))
        let source = ResultRecord.Source(partition: TestShell.source, offset: 0)
        let original = try #require(HeldOriginal(offset: 0, identity: RecordIdentity(hash: 1)))
        var onTopic = HeldStory(story: "s", source: source, isHeld: true)
        onTopic.original = original
        _ = shell.take(.held([onTopic]))
        #expect(shell.publish(news("b", story: "s", version: 1, embargo(shell.wall + Self.inAWeek))).holds.count == 1)
        let sent = shell.publish(news("c", story: "s", version: 2))
        guard case .older(NewsEvent.Version("1"), let originals)? = sent.returnedParts.first else {
            Issue.record("\(sent.returnedParts)")
            return
        }
        #expect(originals.count == 2 && originals.last == original)
    }

    @Test func `an event of a story that came back is news again`() throws {
        var shell = try shell()
        let version = NewsEvent.Version("5")
        _ = shell.take(.held([HeldStory(story: "s", version: version, isHeld: true)]))
        _ = shell.take(.held([HeldStory(story: "s", version: version, isHeld: false)]))
        let older = shell.publish(news("a", story: "s", version: 4))
        #expect(older.sends.count == 1)
        #expect(older.returns.isEmpty)
    }

    // MARK: Results of former runs

    private func accepted(_ id: String, _ version: String, story: String?) -> LedgerEntry {
        LedgerEntry(
            offset: 0, source: .init(partition: TestShell.source, offset: 0), platform: .template, outcome: .accepted,
            identity: RecordIdentity(eventID: id), eventID: id, version: version, story: story)
    }

    @Test func `a held event is requested back when the ledger has a newer version`() throws {
        var shell = try TestShell { $0.holdsBeyond = .seconds(60) }
        _ = shell.take(.held([HeldStory(story: "s", version: NewsEvent.Version("1"), isHeld: true)]))
        let restored = shell.assign(ledger: [accepted("b", "2", story: "s")], end: 1)
        #expect(restored.returns == ["s superseded"])
    }

    @Test func `a held event read after the ledger is requested back`() throws {
        var shell = try TestShell { $0.holdsBeyond = .seconds(60) }
        _ = shell.assign(ledger: [accepted("b", "2", story: "s"), accepted("c", "9", story: nil)], end: 1)
        func held(_ story: String, _ version: String) -> [String] {
            shell.take(.held([HeldStory(story: story, version: NewsEvent.Version(version), isHeld: true)])).returns
        }
        #expect(held("s", "1") == ["s superseded"])
        #expect(held("c", "8") == ["c superseded"], "an event without a story is its own")
        #expect(held("s", "3").isEmpty)
    }

    @Test(arguments: [HeaderName.held, HeaderName.redrive])
    func `an older version does not follow one that left in a former run`(header: String) throws {
        var shell = try TestShell { $0.holdsBeyond = .seconds(60) }
        _ = shell.assign(ledger: [accepted("b", "2", story: "s")], end: 1)
        let older = shell.publish(news("a", story: "s", version: 1), headers: [RecordHeader(header, "due")])
        #expect(older.outcomes == [.superseded])
        let newer = shell.publish(news("a", story: "s", version: 3), headers: [RecordHeader(header, "due")])
        #expect(newer.sends.count == 1)
    }
}

extension [Action] {
    fileprivate var returnedParts: [HeldPart] {
        compactMap { if case .returnHeld(_, _, let part) = $0 { part } else { nil } }
    }
}
