import EditorialControl
import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine
import Testing

/// Events that ended after a held event of their story was published: it must not be sent after them, even if the process died
/// before it was requested back, or the held topic was away.
struct EngineEndedTests: HoldingSuite {
    private static func place(_ offset: Int64) -> ResultRecord.Source {
        .init(partition: TestShell.source, offset: offset)
    }

    /// A result below the committed watermark, whose record is not read again.
    private static func ended(_ outcome: Outcome, at offset: Int64, version: String? = nil) -> LedgerEntry {
        LedgerEntry(
            offset: 0, source: place(offset), platform: .template, outcome: outcome,
            identity: RecordIdentity(eventID: "x"), eventID: "x", version: version, story: "s", isOpen: false)
    }

    /// A copy of a held event as it comes back to its lane.
    private func copy(of offset: Int64, _ name: String = HeaderName.held) -> [RecordHeader] {
        [RecordHeader(name, name == HeaderName.held ? "due" : "1"), RecordHeader("nw-held-from", "news/0/\(offset)")]
    }

    // MARK: After a crash

    @Test(
        arguments: [
            (Outcome.withheld, 9, nil, nil, true), (.expired, 9, nil, nil, true), (.accepted, 9, nil, nil, true),
            (.unknown, 9, nil, "1", true), (.withheld, 9, "2", nil, true), (.withheld, 9, "2", "2", true),
            (.expired, 9, "2", "1", true), (.expired, 9, "2", "2", false), (.withheld, 9, "1", "2", false),
            (.withheld, 3, nil, nil, false), (.accepted, 3, nil, "1", false),
        ] as [(Outcome, Int64, String?, String?, Bool)])
    func `the ledger ends older held events, whichever is read first`(
        outcome: Outcome, offset: Int64, version: String?, heldVersion: String?, isEnded: Bool
    ) throws {
        let story = HeldStory(
            story: "s", version: heldVersion.map { NewsEvent.Version($0) }, source: Self.place(5), isHeld: true)
        let ledger = [Self.ended(outcome, at: offset, version: version)]
        for isLedgerFirst in [true, false] {
            var shell = try TestShell { $0.holdsBeyond = .seconds(60) }
            var actions: [Action] = []
            if !isLedgerFirst { actions += shell.take(.held([story])) }
            actions += shell.assign(ledger: ledger, end: 1)
            if isLedgerFirst { actions += shell.take(.held([story])) }
            #expect(actions.returns.isEmpty, "the place of the first record is not known")
            actions += shell.reachEnd(at: 10)
            #expect(actions.returns == (isEnded ? ["s superseded"] : []), "ledger first: \(isLedgerFirst)")
        }
    }

    @Test func `an event that ended before another one was held does not end it, whatever its offset`() throws {
        let story = HeldStory(story: "s", source: Self.place(5), isHeld: true)
        let ledger = [Self.ended(.withheld, at: 9), Self.ended(.held, at: 5), Self.ended(.accepted, at: 3)]
        for isLedgerFirst in [true, false] {
            var shell = try TestShell { $0.holdsBeyond = .seconds(60) }
            var actions = isLedgerFirst ? [] : shell.take(.held([story]))
            actions += shell.assign(ledger: ledger, end: 2)
            if isLedgerFirst { actions += shell.take(.held([story])) }
            actions += shell.reachEnd(at: 10)
            #expect(actions.returns.isEmpty)
        }
    }

    /// A process that had stood still held the oldest one again.
    @Test func `an event that ended before another one was held ends an older one that is held afterwards`() throws {
        var shell = try TestShell { $0.holdsBeyond = .seconds(60) }
        _ = shell.assign(ledger: [Self.ended(.accepted, at: 7), Self.ended(.held, at: 9)], end: 2)
        _ = shell.reachEnd(at: 10)
        let older = HeldStory(story: "s", version: NewsEvent.Version("1"), source: Self.place(5), isHeld: true)
        #expect(shell.take(.held([older])).returns == ["s superseded"])
    }

    @Test(arguments: [true, false])
    func `an event held since the ledger was read is compared again`(isLedgerFirst: Bool) throws {
        var shell = try TestShell { $0.holdsBeyond = .seconds(60) }
        func held(_ version: String) -> HeldStory {
            HeldStory(story: "s", version: NewsEvent.Version(version), source: Self.place(5), isHeld: true)
        }
        var actions = isLedgerFirst ? [] : shell.take(.held([held("1")]))
        actions += shell.assign(ledger: [Self.ended(.expired, at: 9, version: "2")], end: 1)
        actions += shell.take(.held(isLedgerFirst ? [held("1"), held("3")] : [held("3")]))
        actions += shell.reachEnd(at: 10)
        #expect(actions.returns.isEmpty)
    }

    /// The topic was deleted and created again, and with it the group's committed offset.
    @Test(arguments: [true, false])
    func `a result of a record that was not read is of a former incarnation`(hasRecords: Bool) throws {
        let story = HeldStory(story: "s", version: NewsEvent.Version("1"), source: Self.place(0), isHeld: true)
        for isLedgerFirst in [true, false] {
            var shell = try TestShell { $0.holdsBeyond = .seconds(60) }
            var actions = isLedgerFirst ? [] : shell.take(.held([story]))
            actions += shell.assign(ledger: [Self.ended(.accepted, at: 3)], end: 1)
            if isLedgerFirst { actions += shell.take(.held([story])) }
            actions += hasRecords ? shell.publish(news("other", story: "t")) : shell.reachEnd(at: 3)
            #expect(actions.returns.isEmpty)
        }
    }

    @Test(arguments: [true, false])
    func `a result above the watermark ends what is held once its own record is read again`(isSame: Bool) throws {
        var shell = try TestShell { $0.holdsBeyond = .seconds(60) }
        var record = shell.record(news("w", story: "s", #","expiresAt":"2020-01-01T00:00:00Z""#))
        record.offset = 9
        var entry = Self.ended(.expired, at: 9)
        (entry.isOpen, entry.identity) = (true, RecordIdentity(of: record))
        // Otherwise the offset is that of a former incarnation of the topic.
        if !isSame { record.timestamp = record.timestamp.map { $0 + .seconds(1) } }
        var actions = shell.assign(ledger: [entry], end: 1)
        actions += shell.take(.held([HeldStory(story: "s", source: Self.place(5), isHeld: true)]))
        #expect(actions.returns.isEmpty)
        let read = shell.take(.records(TestShell.live, TestShell.first, TestShell.source, [record]))
        #expect(read.returns == ["s superseded"])
        #expect(read.outcomes == (isSame ? [] : [.expired]))
    }

    /// The ledger would read as if the event had been held after that end.
    @Test(arguments: [true, false])
    func `a held result names no story if a later event ended before the held topic answered`(isOvertaken: Bool) throws
    {
        var shell = try shell()
        let held = try #require(shell.publish(news("a", story: "s", embargo(shell.wall + Self.inAWeek))).holds.first)
        if isOvertaken { _ = shell.publish(news("w", story: "s", status: "withheld")) }
        let stored = shell.take(.stored([StoredRecord(delivery: held.request.delivery, kind: .held, offset: 0)]))
        #expect(stored.results.map(\.ledgerStory) == [isOvertaken ? nil : "s"])
    }

    @Test func `a record that is read again does not end the part of it that is held`() throws {
        var shell = try TestShell {
            $0.holdsBeyond = .seconds(60)
            $0.platforms = [.apple, .fcmv1]
        }
        let record = shell.record(news("a", story: "s"))
        func known(_ platform: Platform, _ outcome: Outcome, at offset: Int64) -> LedgerEntry {
            LedgerEntry(
                offset: offset, source: Self.place(record.offset), platform: platform, outcome: outcome,
                identity: RecordIdentity(of: record), eventID: "a", version: nil, story: "s", isOpen: true)
        }
        _ = shell.assign(ledger: [known(.apple, .held, at: 0), known(.fcmv1, .accepted, at: 1)], end: 2)
        _ = shell.take(.held([HeldStory(story: "s", source: Self.place(record.offset), isHeld: true)]))
        let read = shell.take(.records(TestShell.live, TestShell.first, TestShell.source, [record]))
        #expect(read.returns.isEmpty && read.sends.isEmpty)
    }

    @Test func `a held event of another partition has no place in the order of this one`() throws {
        var shell = try shell()
        let other = TopicPartition(topic: "news", partition: 1)
        let story = HeldStory(story: "s", source: .init(partition: other, offset: 5), isHeld: true)
        _ = shell.take(.held([story]))
        var actions = shell.assign(generation: Generation(2), ledger: [Self.ended(.withheld, at: 9)], end: 1)
        actions += shell.reachEnd(at: 10, generation: Generation(2))
        #expect(actions.returns.isEmpty)
    }

    @Test(
        arguments: [
            (#","status":"withheld""#, "s"), (#","expiresAt":"2020-01-01T00:00:00Z""#, "s"), ("", "s"),
            (#","users":["anna"]"#, nil), (#","status":"canceled""#, nil),
        ] as [(String, String?)])
    func `a result names the story that it ends`(more: String, story: String?) throws {
        var shell = try shell()
        let read = shell.publish(news("a", story: "s", more))
        let actions = read + (read.sends.first.map { shell.reply(201, to: $0) } ?? [])
        #expect(actions.results.first.map(\.ledgerStory) == .some(story))
    }

    /// While the process was frozen, the topic may have been created again, and the event may be held by its new owner.
    @Test(arguments: [true, false])
    func `after a standstill, nothing held is ended before its partition is confirmed to be ours`(isOurs: Bool) throws {
        var shell = try shell()
        _ = shell.publish(news("before"), news("w", story: "s", status: "withheld"))
        _ = shell.wait(.seconds(10))
        shell.answersCommits = false
        var actions = shell.take(.stoodStill(.seconds(40)))
        actions += shell.take(.held([HeldStory(story: "s", source: Self.place(0), isHeld: true)]))
        actions += shell.take(.ordersConfirmed(1))
        #expect(actions.returns.isEmpty)
        if isOurs {
            let question = try #require(actions.commits.first)
            actions += shell.take(.committed(TestShell.live, TestShell.first, question))
        } else {
            actions += shell.take(.revoked(TestShell.live, TestShell.first, [TestShell.source], lost: true))
        }
        #expect(actions.returns == (isOurs ? ["s superseded"] : []))
    }

    // MARK: Copies

    @Test(arguments: [HeaderName.held, "nw-held-restored"])
    func `a copy from the held topic does not follow what came behind its original`(name: String) throws {
        for (later, outcome) in [
            (news("w", story: "s", status: "withheld"), Outcome.superseded), (news("w", story: "t"), .accepted),
        ] {
            var shell = try shell()
            _ = shell.publish(news("before"))
            for sent in shell.publish(later).sends { _ = shell.reply(201, to: sent) }
            let back = shell.publish(news("a", story: "s"), headers: copy(of: 0, name))
            let actions = back + (back.sends.first.map { shell.reply(201, to: $0) } ?? [])
            #expect(actions.outcomes == [outcome])
        }
    }

    @Test func `an event from before the original does not end its copy`() throws {
        var shell = try shell()
        _ = shell.publish(news("w", story: "s", status: "withheld"))
        #expect(shell.publish(news("a", story: "s"), headers: copy(of: 7)).sends.count == 1)
    }

    @Test func `two versions are ordered by their numbers, wherever they stand`() throws {
        var shell = try shell()
        _ = shell.publish(news("before"))
        for sent in shell.publish(news("w", story: "s", version: 1)).sends { _ = shell.reply(201, to: sent) }
        #expect(shell.publish(news("a", story: "s", version: 2), headers: copy(of: 0)).sends.count == 1)
    }

    @Test(arguments: ["", "news/0", "news/0/-1", "news/x/0", "other/0/0", "news/0/99999999999999999999"])
    func `a copy that names no place is judged by its own`(place: String) throws {
        var shell = try shell()
        _ = shell.publish(news("w", story: "s", status: "withheld"))
        let headers = [RecordHeader(HeaderName.held, "due"), RecordHeader("nw-held-from", place)]
        #expect(shell.publish(news("a", story: "s"), headers: headers).sends.count == 1)
    }
}
