import EditorialControl
import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine
import Testing

/// News for single readers that is held has a key of its own for each group of readers of a story.
struct PersonalHoldTests: HoldingSuite {
    private func personal(_ id: String, _ users: [String], version: Int? = nil, _ more: String = "") -> String {
        let names = users.map { "\"\($0)\"" }.joined(separator: ",")
        let version = version.map { #","version":\#($0)"# } ?? ""
        return #"{"id":"\#(id)","headline":"h","story":"s","users":[\#(names)]\#(version)\#(more)}"#
    }

    /// Publishes an event under an embargo of a week, which the held topic stores.
    private func hold(_ event: String, in shell: inout TestShell) throws -> String {
        let held = shell.publish(event)
        #expect(shell.store(held).outcomes == [.held])
        return try #require(held.holds.first).event.story
    }

    /// The headers of a copy of the first event that returns because it is due.
    private var due: [RecordHeader] {
        let source = ResultRecord.Source(partition: TestShell.source, offset: 0)
        return [RecordHeader(HeaderName.held, "due"), RecordHeader(HeaderName.heldFrom, "\(source)")]
    }

    @Test func `events of a story for different readers are held beside one another`() throws {
        var shell = try shell()
        let embargo = embargo(shell.wall + Self.inAWeek)
        let all = try hold(news("all", story: "s", version: 1, embargo), in: &shell)
        let anna = try hold(personal("a", ["anna", "ben"], version: 1, embargo), in: &shell)
        let ben = try hold(personal("b", ["ben"], version: 1, embargo), in: &shell)
        #expect(all == "s" && Set([all, anna, ben]).count == 3)
        #expect([anna, ben].map(HeldKey.orderKey) == ["s", "s"])
        #expect(!anna.contains("anna"))
        let newer = try hold(personal("a2", ["ben", "anna"], version: 2, embargo), in: &shell)
        #expect(newer == anna, "the order of the readers says nothing")
        #expect(shell.engine.counts.records == 0 && shell.engine.counts.stories == 0)
    }

    @Test func `a held event is requested back by a newer one for the same readers only`() throws {
        var shell = try shell()
        let embargo = embargo(shell.wall + Self.inAWeek)
        _ = try hold(news("all", story: "s", version: 1, embargo), in: &shell)
        let anna = try hold(personal("a", ["anna"], version: 1, embargo), in: &shell)
        #expect(shell.publish(personal("b", ["ben"], version: 2)).returns.isEmpty)
        #expect(shell.publish(personal("a2", ["anna"], version: 2)).returns == ["\(anna) superseded"])
    }

    @Test(arguments: [
        (1 as Int?, ["anna", "ben"], Outcome.superseded), (1, ["ben"], .accepted), (nil, ["anna"], .superseded),
        (nil, ["ben"], .accepted),
    ])
    func
        `a held event does not follow a newer version that its reader got with others, or a later event for the same readers`(
            version: Int?, users: [String], outcome: Outcome
        ) throws
    {
        var shell = try shell()
        let event = personal("a", ["anna"], version: version, embargo(shell.wall + .seconds(600)))
        _ = try hold(event, in: &shell)
        let newer = try #require(shell.publish(personal("b", users, version: version.map { $0 + 1 })).sends.first)
        _ = shell.store(shell.reply(201, to: newer))
        _ = shell.wait(.seconds(600))
        var actions = shell.publish(event, headers: due)
        if let sent = actions.sends.first { actions += shell.reply(201, to: sent) }
        #expect(actions.outcomes == [outcome])
    }

    @Test func `a held version does not end an older one for some of its readers that is due before it`() throws {
        var shell = try shell()
        let event = personal("a", ["anna"], version: 1, embargo(shell.wall + .seconds(600)))
        _ = try hold(event, in: &shell)
        _ = try hold(personal("b", ["anna", "ben"], version: 2, embargo(shell.wall + Self.inAWeek)), in: &shell)
        _ = shell.wait(.seconds(600))
        #expect(shell.publish(event, headers: due).sends.map(\.request.tags) == ["$UserId:{anna}"])
    }

    @Test func `a waiting version that is held does not end an older one that has other readers too`() throws {
        var shell = try shell { $0.holdsBeyond = nil }
        let embargo = embargo(shell.wall + .seconds(600))
        let older = personal("a", ["anna", "ben"], version: 1, embargo)
        _ = shell.publish(older, personal("b", ["anna"], version: 2, embargo))
        _ = shell.take(.holdsBeyond(.seconds(60)))
        let held = shell.take(.held([]))
        #expect(held.holds.map(\.event.eventID) == ["a", "b"])
        #expect(shell.store(held).outcomes == [.held, .held])
        _ = shell.wait(.seconds(600))
        #expect(shell.publish(older, headers: due).sends.map(\.request.tags) == ["$UserId:{anna} || $UserId:{ben}"])
    }

    @Test(arguments: [
        (news("a", story: "s", status: "withheld"), true),
        (news("a", story: "s", version: 2, status: "withheld"), true),
        (news("a", story: "s", version: 1, status: "withheld"), false),
        (news("b", story: "s", status: "withheld"), false),
        (news("a", story: "t", status: "withheld"), false),
    ])
    func `a withheld event without its readers requests its held copy back`(withheld: String, isMeant: Bool) throws {
        var shell = try shell()
        let key = try hold(personal("a", ["anna"], version: 2, embargo(shell.wall + Self.inAWeek)), in: &shell)
        #expect(shell.publish(withheld).returns == (isMeant ? ["\(key) superseded"] : []))
    }

    @Test(arguments: [["ben"], ["anna", "ben"]])
    func `a withheld event requests back what is held of it for other readers or for all`(users: [String]) throws {
        var shell = try shell()
        let embargo = embargo(shell.wall + Self.inAWeek)
        let all = try hold(news("a", story: "s", embargo), in: &shell)
        let anna = try hold(personal("a", ["anna"], embargo), in: &shell)
        let ben = try hold(personal("b", ["ben"], embargo), in: &shell)
        let withheld = shell.publish(personal("a", users, #","status":"withheld""#))
        let own = users == ["ben"] ? [ben] : []
        #expect(Set(withheld.returns) == Set((own + [all, anna]).map { "\($0) superseded" }))
    }

    @Test(arguments: [("a", Int64(0), true), ("b", 0, false), ("a", 9, false)])
    func `a withheld event requests back what another process held of it before`(
        id: String, offset: Int64, isMeant: Bool
    ) throws {
        var shell = try shell()
        _ = shell.publish(news("x"))
        let key = HeldKey.key(of: "s", readers: 7)
        let source = ResultRecord.Source(partition: TestShell.source, offset: offset)
        var story = HeldStory(story: key, source: source, isHeld: true)
        story.eventID = id
        _ = shell.take(.held([story]))
        let withheld = shell.publish(news("a", story: "s", status: "withheld"))
        #expect(withheld.returns == (isMeant ? ["\(key) superseded"] : []))
    }

    @Test(arguments: [("a", false, Outcome.superseded), ("a", true, .superseded), ("b", false, .accepted)])
    func `a held copy that was unknown when its event was withheld is not sent`(
        id: String, isFormer: Bool, outcome: Outcome
    ) throws {
        var shell = try TestShell { $0.holdsBeyond = .seconds(60) }
        // The places of what is held and of the withheld event.
        let (_, withheld) = (shell.record(""), shell.record(news(id, story: "s", status: "withheld")))
        let entry = LedgerEntry(
            offset: 0, source: .init(partition: TestShell.source, offset: withheld.offset), platform: .template,
            outcome: .withheld, identity: RecordIdentity(of: withheld), eventID: id, story: "s", isOpen: false)
        _ = shell.assign(ledger: isFormer ? [entry] : [], end: 1)
        if !isFormer { _ = shell.take(.records(TestShell.live, TestShell.first, TestShell.source, [withheld])) }
        var actions = shell.publish(personal("a", ["anna"]), headers: due)
        if let sent = actions.sends.first { actions += shell.reply(201, to: sent) }
        #expect(actions.outcomes == [outcome])
    }

    @Test func `ends for single readers do not push that of a story out of the window`() throws {
        var shell = try shell { $0.duplicateWindow = 2 }
        // The place of what is held.
        _ = shell.record("")
        _ = shell.publish(news("a", story: "s", status: "withheld"))
        for reader in ["anna", "ben", "carl"] {
            let sent = try #require(shell.publish(personal("id-\(reader)", [reader])).sends.first)
            _ = shell.store(shell.reply(201, to: sent))
        }
        #expect(shell.publish(news("b", story: "s"), headers: due).outcomes == [.superseded])
    }

    @Test func `a recall of the story requests held events for single readers back`() throws {
        var shell = try shell()
        let embargo = embargo(shell.wall + Self.inAWeek)
        let keys = [
            try hold(personal("a", ["anna"], embargo), in: &shell),
            try hold(personal("b", ["ben"], embargo), in: &shell),
        ]
        let recalled = shell.take(.orders([.recall("s")]))
        #expect(Set(recalled.returns) == Set(keys.map { "\($0) recalled" }))
        #expect(recalled.applied.map(\.held) == [2])
    }

    @Test func `an event for single readers of a recalled story that is on the held topic is requested back`() throws {
        var shell = try shell()
        let key = HeldKey.key(of: "s", readers: 7)
        _ = shell.take(.orders([.recall("s")]))
        #expect(shell.take(.held([HeldStory(story: key, isHeld: true)])).returns == ["\(key) recalled"])
        let other = HeldKey.key(of: "t", readers: 7)
        #expect(shell.take(.held([HeldStory(story: other, isHeld: true)])).returns.isEmpty)
        #expect(shell.take(.orders([.recall("t", "O2")])).returns == ["\(other) recalled"])
    }

    @Test func `a copy for single readers follows an event for all that was published later`() throws {
        var shell = try shell()
        let event = personal("a", ["anna"], embargo(shell.wall + .seconds(600)))
        _ = try hold(event, in: &shell)
        let all = try #require(shell.publish(news("all", story: "s")).sends.first)
        _ = shell.store(shell.reply(201, to: all))
        _ = shell.wait(.seconds(600))
        #expect(shell.publish(event, headers: due).sends.map(\.request.tags) == ["$UserId:{anna}"])
    }
}
