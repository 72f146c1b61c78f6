import EditorialControl
import NewsModel
import Testing

private let start = Instant(milliseconds: 1_795_255_200_000)

private func beat(_ replica: String, _ seconds: Int64?, clock: Duration = .zero) -> ControlRecord.Beat {
    ControlRecord.Beat(replica: replica, at: start + clock, logTime: seconds.map { .seconds($0) })
}

/// The processes that count as living, whatever the clocks of their machines say.
struct LifeSignsTests {
    private func signs(_ beats: ControlRecord.Beat...) -> LifeSigns {
        var signs = LifeSigns(capacity: 10)
        for beat in beats { signs.heard(beat) }
        return signs
    }

    @Test(arguments: [Duration.zero, .seconds(-3_600), .seconds(3_600), .seconds(-86_400 * 400)])
    func `a process counts as living whatever its clock says`(clock: Duration) {
        #expect(signs(beat("a", 100, clock: clock), beat("b", 110)).living.map(\.replica) == ["a", "b"])
    }

    @Test func `a process is silent when the others advanced the time of the log by more than three beats`() {
        var signs = signs(beat("a", 100), beat("b", 130))
        #expect(signs.living.map(\.replica) == ["a", "b"])
        signs.heard(beat("b", 140))
        #expect(signs.living.map(\.replica) == ["b"])
        #expect(signs.silent.map(\.beat.replica) == ["a"])
        #expect(signs.silent.map(\.since) == [.seconds(40)])
        signs.heard(beat("a", 141))
        #expect(signs.living.map(\.replica) == ["a", "b"])
    }

    @Test func `no process falls silent while no process beats`() {
        #expect(signs(beat("a", 100), beat("b", 105)).living.count == 2)
    }

    @Test func `a process that reported its end is neither living nor silent`() {
        var signs = signs(beat("a", 100), beat("b", 200))
        signs.ended("a")
        signs.ended("b")
        #expect(signs.living.isEmpty && signs.silent.isEmpty)
    }

    @Test func `a beat without a log time counts from the next beat with one`() {
        var signs = signs(beat("b", 100), beat("new", nil))
        #expect(signs.living.map(\.replica) == ["b", "new"])
        signs.heard(beat("b", 170))
        signs.heard(beat("b", 190))
        #expect(signs.living.map(\.replica) == ["b", "new"])
        signs.heard(beat("b", 201))
        #expect(signs.silent.map(\.beat.replica) == ["new"])
    }

    @Test func `processes without log times count as living until they end`() {
        #expect(signs(beat("a", nil, clock: .seconds(-7_200)), beat("b", nil)).living.count == 2)
    }

    @Test func `a beat with an old time counts by its position on the topic`() {
        // The machine was suspended together with its monotonic clock.
        #expect(signs(beat("a", 100), beat("b", 4_000), beat("a", 101)).living.map(\.replica) == ["a", "b"])
    }

    @Test func `beats of processes beyond the capacity are not kept`() {
        var signs = LifeSigns(capacity: 1)
        for name in ["a", "b", "a"] { signs.heard(beat(name, 100)) }
        #expect(signs.living.map(\.replica) == ["a"])
    }
}
