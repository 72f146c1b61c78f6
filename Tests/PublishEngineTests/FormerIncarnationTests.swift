import EditorialControl
import KafkaModel
import NewsModel
import PublishEngine
import Testing

/// Held events, and later events of their stories on a topic that was created again, or while the held topic is first read.
struct FormerIncarnationTests: HoldingSuite {
    /// A held event from behind all records of a topic that was created again.
    private func former(_ incarnation: Int, age: Duration = .seconds(60), in shell: TestShell) -> HeldStory {
        var story = HeldStory(story: "s", source: .init(partition: TestShell.source, offset: 9), isHeld: true)
        story.incarnation = incarnation
        story.writtenAt = shell.wall - age
        return story
    }

    @Test func `an event of a topic that was created again replaces the held one of its former life`() throws {
        var shell = try shell()
        _ = shell.take(.held([former(0, in: shell)]))
        let restarted = shell.take(.restarted(TestShell.live, TestShell.first, TestShell.source, incarnation: 1))
        _ = shell.restore(restarted)
        #expect(shell.publish(news("b", story: "s")).returns == ["s superseded"])
    }

    @Test(arguments: [false, true])
    func `a held event of a topic's former life is taken back if it is read after a later event`(isWithheld: Bool)
        throws
    {
        var shell = try shell(incarnation: 2)
        let later = shell.publish(isWithheld ? news("b", story: "s", #","status":"withheld""#) : news("b", story: "s"))
        for send in later.sends { _ = shell.store(shell.reply(201, to: send)) }
        #expect(shell.take(.held([former(1, age: .seconds(-60), in: shell)])).returns.isEmpty)
        #expect(shell.take(.held([former(1, in: shell)])).returns == ["s superseded"])
    }

    @Test func `a held event of a topic's former life that is read while a later one is sent is taken back`() throws {
        var shell = try shell(incarnation: 2)
        let later = shell.publish(news("b", story: "s"))
        #expect(shell.take(.held([former(1, in: shell)])).returns.isEmpty)
        let accepted = shell.reply(201, to: try #require(later.sends.first))
        #expect(shell.store(accepted).returns == ["s superseded"])
    }

    @Test func `an event just held stays, although an earlier one of its story is read from the topic late`() throws {
        var shell = try shell()
        let first = shell.publish(news("a", story: "other"))
        let live = shell.publish(news("b", story: "s"))
        for send in first.sends + live.sends { _ = shell.store(shell.reply(201, to: send)) }
        _ = shell.store(shell.publish(news("c", story: "s", embargo(shell.wall + .seconds(600)))))
        let earlier = HeldStory(story: "s", source: .init(partition: TestShell.source, offset: 0), isHeld: true)
        #expect(shell.take(.held([earlier])).returns.isEmpty, "the new one has taken its place on the topic")
    }

    /// A minute or more before its time, the later event is held, and replaces the earlier one there.
    @Test(arguments: [nil, 30, 600] as [Int?])
    func `a later event of a story does not wait for an older one that is under embargo`(seconds: Int?) throws {
        var shell = try shell()
        _ = shell.publish(news("a", story: "s", embargo(shell.wall + .seconds(30))))
        let later = shell.publish(news("b", story: "s", seconds.map { embargo(shell.wall + .seconds($0)) } ?? ""))
        #expect(later.results.map(\.result.outcome) == [.superseded])
        #expect(later.sends.count == (seconds == nil ? 1 : 0) && later.holds.count == (seconds == 600 ? 1 : 0))
        if seconds == 30 { #expect(shell.wait(.seconds(31)).sends.count == 1) }
        let other = shell.publish(news("d", story: "t", embargo(shell.wall + .seconds(30))))
        #expect(other.sends.isEmpty && shell.wait(.seconds(31)).sends.count == 1)
    }

    @Test func `an event under embargo for other readers keeps its place before a later one`() throws {
        var shell = try shell()
        let users = #","users":["ann"]"#
        _ = shell.publish(news("a", story: "s", embargo(shell.wall + .seconds(30)) + users))
        #expect(shell.publish(news("b", story: "s")).sends.isEmpty)
        #expect(shell.wait(.seconds(31)).sends.count == 1)
    }

    @Test func `a later owner knows the incarnation by the note of the last one`() throws {
        var shell = try shell(incarnation: 2)
        _ = shell.take(.held([former(1, in: shell)]))
        #expect(shell.publish(news("b", story: "s")).returns == ["s superseded"])
    }

    @Test func `a note of another owner counts, not what was known in an earlier assignment`() throws {
        var shell = try shell(incarnation: 2)
        shell.incarnation = 0
        _ = shell.assign(generation: TestShell.first.next)
        _ = shell.take(.held([former(1, in: shell)]))
        #expect(shell.publish(news("b", story: "s"), generation: TestShell.first.next).returns.isEmpty)
    }

    @Test func `a held event of the new incarnation stays, although it was held before anyone noticed that it is new`()
        throws
    {
        var shell = try shell()
        _ = shell.take(.held([former(0, age: .seconds(-1), in: shell)]))
        _ = shell.restore(shell.take(.restarted(TestShell.live, TestShell.first, TestShell.source, incarnation: 1)))
        #expect(shell.publish(news("b", story: "s")).returns.isEmpty)
    }

    @Test func `of one incarnation, the event with the lower offset does not replace the held one`() throws {
        var shell = try shell(incarnation: 2)
        _ = shell.take(.held([former(2, in: shell)]))
        #expect(shell.publish(news("b", story: "s")).returns.isEmpty)
    }

    @Test func `an embargoed event of a new incarnation takes the place of the held one`() throws {
        var shell = try shell(incarnation: 1)
        _ = shell.take(.held([former(0, in: shell)]))
        let later = shell.publish(news("b", story: "s", embargo(shell.wall + .seconds(600))))
        #expect(later.holds.map(\.event.replacesFormer) == [true])
        #expect(shell.publish(news("c", story: "s")).sends.count == 1, "it does not wait for the embargo")
    }

    @Test func `a held event that is read again under a new number, because no offset was committed, stays`() throws {
        var shell = try shell(incarnation: 2)
        var itself = former(1, age: .zero, in: shell)
        itself.source = .init(partition: TestShell.source, offset: 0)
        _ = shell.take(.held([itself]))
        #expect(shell.publish(news("b", story: "s")).returns.isEmpty)
    }

    @Test func `a held event names the incarnation that it was published in`() throws {
        var shell = try shell(incarnation: 3)
        let held = shell.publish(news("a", story: "s", embargo(shell.wall + .seconds(600)))).holds
        #expect(held.map(\.event.incarnation) == [3])
    }
}
