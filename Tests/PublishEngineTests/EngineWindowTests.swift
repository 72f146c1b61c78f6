import EditorialControl
import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine
import Testing

/// Bounded windows forget what has been still for longest, not what was first.
struct EngineWindowTests: HoldingSuite {
    /// A window of two deliveries and of two stories.
    private func narrow() throws -> TestShell { try shell { $0.duplicateWindow = 2 } }

    /// Publishes an event, which the hub answers.
    private func send(_ event: String, status: Int = 201, in shell: inout TestShell) throws {
        let send = try #require(shell.publish(event).sends.first)
        _ = shell.store(shell.reply(status, to: send))
    }

    @Test func `an older version is outdated although its story was the first in the window`() throws {
        var shell = try narrow()
        try send(news("t1", story: "ticker", version: 1), in: &shell)
        try send(news("a1", story: "a", version: 1), in: &shell)
        try send(news("t80", story: "ticker", version: 80), in: &shell)
        try send(news("b1", story: "b", version: 1), in: &shell)
        #expect(shell.publish(news("t79", story: "ticker", version: 79)).outcomes == [.superseded])
        #expect(shell.publish(news("a0", story: "a", version: 0)).sends.count == 1, "the window has two stories")
    }

    @Test func `a delivery that was removed and made again ages from its last entry`() throws {
        var shell = try narrow()
        try send(news("a"), status: 400, in: &shell)
        try send(news("a"), in: &shell)
        try send(news("b"), in: &shell)
        #expect(shell.publish(news("a")).outcomes == [.duplicate])
    }

    @Test func `deliveries that are removed and made again many times take no room from others`() throws {
        var shell = try narrow()
        try send(news("a"), in: &shell)
        for _ in 0..<10 { try send(news("b"), status: 400, in: &shell) }
        try send(news("b"), in: &shell)
        #expect(shell.publish(news("a"), news("b")).outcomes == [.duplicate, .duplicate])
        try send(news("c"), in: &shell)
        #expect(shell.publish(news("a")).sends.count == 1)
    }

    @Test func `a story's end is remembered although its first end was the first in the window`() throws {
        var shell = try narrow()
        for (id, story) in [("s1", "s"), ("a", "a"), ("s2", "s"), ("b", "b")] {
            try send(news(id, story: story), in: &shell)
        }
        let held = HeldStory(
            story: "s", source: .init(partition: TestShell.source, offset: 1), isHeld: true)
        #expect(shell.take(.held([held])).returns == ["s superseded"])
    }

    @Test func `a story that is recalled again stays recalled when many others are`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        func recall(_ story: String) -> Input {
            .recalled(
                EventRecall(
                    story: story, eventID: story, source: .init(partition: TestShell.source, offset: 0), at: nil))
        }
        _ = shell.take(recall("s"))
        for index in 1..<10_000 { _ = shell.take(recall("other-\(index)")) }
        _ = shell.take(recall("s"))
        _ = shell.take(recall("last"))
        #expect(shell.publish(news("a", story: "s")).outcomes == [.canceled])
        #expect(shell.publish(news("b", story: "other-1")).sends.count == 1)
    }
}
