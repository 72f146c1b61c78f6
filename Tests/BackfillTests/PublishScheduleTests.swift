import Foundation
import NewsModel
import NewswireSettings
import PublishEngine
import Testing

@testable import Backfill

struct PublishScheduleTests {
    private static let night = PublishSchedule(window: DailyWindow(from: 60, to: 5 * 60, zone: .utc))

    private func instant(_ text: String) throws -> Instant { try #require(Instant(rfc3339: text)) }

    @Test(arguments: [
        ("01:00-05:00", 60, 300), ("22:30-6:05", 1_350, 365), ("00:00-24:00", 0, 1_440),
    ])
    func `hours are read as written`(text: String, from: Int, to: Int) throws {
        let window = try #require(PublishSchedule(between: text, zone: .utc)).window
        #expect((window.from, window.to) == (from, to))
    }

    @Test(arguments: [
        "", "1-5", "01:00", "01:00-01:00", "24:00-05:00", "01:60-05:00", "25:00-05:00", "01:00-05:00-06:00",
        "a:bc-05:00",
        "-1:00-05:00", "01:00–05:00", "١:٠٠-05:00",
    ])
    func `a malformed schedule is refused`(text: String) {
        #expect(PublishSchedule(between: text, zone: .utc) == nil)
    }

    @Test(arguments: [
        // Within the night, to its last moment, and over the day that follows.
        ("2026-11-22T01:00:00Z", 3_600, "2026-11-22T02:00:00Z"),
        ("2026-11-22T01:00:00Z", 14_400, "2026-11-22T05:00:00Z"),
        ("2026-11-22T01:00:00Z", 14_401, "2026-11-23T01:00:01Z"),
        // Work that begins by day, and work of ten nights.
        ("2026-11-22T12:00:00Z", 0, "2026-11-23T01:00:00Z"), ("2026-11-22T12:00:00Z", 144_000, "2026-12-02T05:00:00Z"),
    ])
    func `the end of a work includes its pauses`(start: String, seconds: Int64, end: String) throws {
        #expect(Self.night.end(of: .seconds(seconds), from: try instant(start)) == Instant(rfc3339: end))
    }

    @Test func `a night that loses an hour has less time for work`() throws {
        let berlin = try #require(ClockZone(named: "Europe/Berlin"))
        let schedule = PublishSchedule(window: DailyWindow(from: 60, to: 5 * 60, zone: berlin))
        // From the last Sunday of March on, clocks are an hour ahead.
        #expect(
            schedule.end(of: .seconds(3 * 3_600 + 60), from: try instant("2027-03-28T00:00:00Z"))
                == Instant(rfc3339: "2027-03-28T23:01:00Z"))
    }

    @Test(arguments: 1...8)
    func `clocks of the past seasons are known too`(season: Int) throws {
        let berlin = try #require(TimeZone(identifier: "Europe/Berlin"))
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = berlin
        let past = Date(timeIntervalSinceNow: -Double(season) * 91 * 86_400)
        let eight = try #require(calendar.date(bySettingHour: 8, minute: 0, second: 0, of: past))
        let window = DailyWindow(from: 7 * 60, to: 9 * 60, zone: try #require(ClockZone(named: "Europe/Berlin")))
        let end = window.end(at: Instant(milliseconds: Int64(eight.timeIntervalSince1970) * 1_000))
        #expect(end == Instant(milliseconds: (Int64(eight.timeIntervalSince1970) + 3_600) * 1_000))
    }

    @Test func `work of extreme length has an end`() throws {
        let end = Self.night.end(of: .seconds(Int64.max / 4), from: try instant("2026-11-22T01:00:00Z"))
        #expect(end > Instant(milliseconds: 4_000_000_000_000))
    }

    @Test func `records missed during a pause are not caught up`() {
        let start = ContinuousClock.now
        let pace = PublishPace(rate: 10, start: start)
        #expect(pace.due(after: 5) == start + .milliseconds(500))
        pace.restart(after: 5, at: start + .seconds(3_600))
        #expect(pace.due(after: 5) == start + .seconds(3_600))
        #expect(pace.due(after: 6) == start + .seconds(3_600) + .milliseconds(100))
    }
}
