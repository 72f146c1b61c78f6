import NewsModel
import Testing

@Suite struct StandstillWatchTests {
    @Test func `a gap of three seconds is a standstill, reported once`() {
        var watch = StandstillWatch()
        let start = Instant(nanoseconds: 0)
        #expect(watch.look(start) == nil)
        #expect(watch.look(start + .milliseconds(2_999)) == nil)
        #expect(watch.look(start + .milliseconds(5_999)) == .seconds(3))
        #expect(watch.look(start + .seconds(6)) == nil)
    }
}
