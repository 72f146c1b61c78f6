import NewsModel
import NewswireCommands
import Testing

@testable import Feeds

/// The output of `newswire ingest --status`.
struct FeedTableTests {
    private static let now = Instant(milliseconds: 1_780_000_000_000)

    private func status(_ name: String, _ change: (inout FeedState) -> Void = { _ in }) -> FeedStatus {
        var state = FeedState()
        state.primedAt = Self.now - .seconds(400_000)
        state.lastSuccessAt = Self.now - .seconds(45)
        state.lastNewAt = Self.now - .seconds(600)
        change(&state)
        return FeedStatus(FeedRules(name: name, url: "https://\(name).example/"), state, at: Self.now)
    }

    private func lines(_ statuses: [FeedStatus]) -> [String] {
        FeedTable.text(statuses, at: Self.now, hasColours: false).split(separator: "\n").map { line in
            line.split(separator: " ").joined(separator: " ")
        }
    }

    @Test func `a feed has its last success, its last news, and when it is polled next and why`() {
        var world = status("world")
        world.nextPollAt = Self.now + .seconds(200)
        world.because = "limited by max-age 300 s"
        #expect(
            lines([world]) == [
                "FEED STATE LAST SUCCESS LAST NEW WEBSUB NEXT POLL AND WHY",
                "world primed 45 s ago 10 min ago in 3 min: limited by max-age 300 s",
            ])
    }

    @Test func `a feed that nobody polls has the reason in place of its next poll`() {
        var world = status("world") { $0.lastSuccessAt = Self.now - .seconds(7_200) }
        world.because = "overdue"
        #expect(lines([world]).last == "world primed 2 h ago 10 min ago overdue")
    }

    @Test(arguments: [(4_500, 0, false), (4_501, 0, true), (4_501, 3_600, false)])
    func `a feed is overdue after two of its longest intervals and a quarter of an hour`(
        seconds: Int, interval: Int, isOverdue: Bool
    ) {
        var state = FeedState()
        #expect(state.unpolledFor(.seconds(1_800), at: Self.now) == nil)
        state.lastSuccessAt = Self.now - .seconds(seconds)
        state.interval = .seconds(interval)
        #expect((state.unpolledFor(.seconds(1_800), at: Self.now) != nil) == isOverdue)
    }

    @Test func `the newest problem comes first, with its remarks`() {
        let statuses = [
            status("a"),
            status("b") {
                $0.failures = 4
                $0.failingSince = Self.now - .seconds(90_000)
                $0.failure = "no answer within 20 s"
            },
            status("c") {
                $0.failures = 1
                $0.failingSince = Self.now - .seconds(60)
                $0.failure = "the server answered 500"
            },
            status("d") { $0.isGone = true },
        ]
        let shown = lines(statuses)
        #expect(
            shown.dropFirst().prefix(4) == [
                "c failing for 60 s 45 s ago 10 min ago", "the server answered 500",
                "b failing for 25 h 45 s ago 10 min ago", "no answer within 20 s",
            ])
        #expect(shown[5] == "d gone 45 s ago 10 min ago never")
        #expect(shown.last == "a primed 45 s ago 10 min ago")
    }

    @Test func `a feed that reaches its hourly limit is a problem, with the number of waiting events`() {
        var capped = status("a") { $0.cappedAt = Self.now - .seconds(60) }
        capped.heldBack = 12
        #expect(capped.isProblem)
        let shown = lines([capped, status("b") { $0.cappedAt = Self.now - .seconds(3_600) }])
        #expect(shown[1] == "a capped 60 s ago 45 s ago 10 min ago")
        #expect(shown[2].hasPrefix("more than maxPerHour (20) events within an hour"))
        #expect(shown[3] == "12 held back by limits, sent later")
        #expect(shown[4].hasPrefix("b primed"))
    }

    @Test(arguments: [
        (1_200, 3_601, true), (1_200, 3_600, false), (60, 3_000, false), (7_200, 21_600, false), (7_200, 21_601, true),
    ])
    func `a feed is strangely quiet after three times its usual gap, and an hour at least`(
        gap: Int, silence: Int, isQuiet: Bool
    ) {
        let quiet = status("a") {
            $0.medianGap = .seconds(gap)
            $0.lastNewAt = Self.now - .seconds(silence)
        }
        #expect(quiet.isQuiet == isQuiet)
        #expect(!quiet.isProblem)
        #expect(lines([quiet]).contains { $0.hasPrefix("strangely quiet: usually something new every") } == isQuiet)
    }

    @Test(arguments: [0, 1]) func `a round of polls fails if Kafka refused an event`(refused: Int) {
        var world = status("world")
        world.lastPollAt = Self.now
        world.counts = FeedCounts()
        world.counts?.refused = refused
        let round = PollRound([world])
        #expect(round.hasFailed == (refused > 0))
        #expect(round.lines == (refused > 0 ? ["error: feed world: Kafka refused 1 event"] : []))
    }

    @Test func `the summary of a round counts the feeds that were polled`() {
        var world = status("world")
        world.lastPollAt = Self.now
        world.counts = FeedCounts()
        world.counts?[.alert] = 2
        #expect(PollRound([world]).summary == "polled 1 feed: 2 alert")
        let paused = status("sports")
        #expect(PollRound([world, paused]).summary == "polled 1 feed: 2 alert; 1 not polled now")
    }

    @Test func `a feed that fails, or was never read, is not called quiet`() {
        let failing = status("a") {
            $0.medianGap = .seconds(60)
            $0.lastNewAt = Self.now - .seconds(90_000)
            $0.failures = 1
        }
        #expect(!failing.isQuiet && !FeedStatus(FeedRules(name: "b", url: "u"), nil, at: Self.now).isQuiet)
        #expect(lines([failing]).allSatisfy { !$0.contains("quiet") })
    }
}
