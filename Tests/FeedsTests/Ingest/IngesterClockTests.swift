import NewsModel
import Testing

@testable import Feeds

/// Decisions of a process whose wall clock is ahead, and after it was corrected.
@Suite struct IngesterClockTests {
    @Test(arguments: [true, false])
    func `news is sent although the clock was hours ahead when the feed was first read`(saysTime: Bool) {
        var fixture = IngesterFixture()
        fixture.publish("old")
        (fixture.clockAhead, fixture.saysTime) = (.seconds(10_800), saysTime)
        fixture.live(as: "first")
        fixture.now = fixture.now + .seconds(900)
        if saysTime {
            // The publisher's time is used even before the clock is right.
            fixture.publish("a")
            fixture.live(as: "second")
        }
        fixture.clockAhead = .zero
        fixture.publish("b")
        fixture.live(as: "third", polls: 2)
        fixture.now = fixture.now + .seconds(900)
        fixture.publish("c")
        fixture.live(as: "fourth", polls: 2)
        #expect(fixture.texts == ((saysTime ? ["a"] : []) + ["b", "c"]).map { "wire:\($0) 1 Headline of \($0)" })
    }

    @Test func `the first reading of a process with a wrong clock stays backlog after the correction`() {
        var fixture = IngesterFixture()
        for id in ["older", "old"] { fixture.publish(id) }
        fixture.clockAhead = .seconds(10_800)
        fixture.live(as: "first")
        fixture.clockAhead = .zero
        fixture.live(as: "second", polls: 2)
        #expect(fixture.written.isEmpty)
    }

    @Test func `a publisher whose time is days old decides nothing`() {
        var fixture = IngesterFixture()
        fixture.publish("old")
        (fixture.clockAhead, fixture.saysTime) = (.seconds(2 * 86_400), true)
        fixture.live(as: "first")
        fixture.publish("new")
        fixture.live(as: "second")
        #expect(fixture.written.isEmpty)
    }
}
