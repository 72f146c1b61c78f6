import NewsModel
import PublishEngine
import Testing

struct DailyWindowTests {
    private static func seconds(_ text: String) -> Int { Int((Instant(rfc3339: text)?.milliseconds ?? 0) / 1_000) }

    private static let berlin = ClockZone(
        name: "Europe/Berlin", offset: 3_600,
        changes: [
            .init(at: seconds("2027-03-28T01:00:00Z"), offset: 7_200),
            .init(at: seconds("2027-10-31T01:00:00Z"), offset: 3_600),
        ])
    private static let newYork = ClockZone(
        name: "America/New_York", offset: -18_000,
        changes: [
            .init(at: seconds("2027-03-14T07:00:00Z"), offset: -14_400),
            .init(at: seconds("2027-11-07T06:00:00Z"), offset: -18_000),
        ])

    struct Case: Sendable {
        var from: Int
        var to: Int
        var zone = berlin
        var at: String
        /// The end of the window; `nil` outside.
        var ends: String?

        init(_ from: String, _ to: String, _ zone: ClockZone = berlin, at: String, ends: String?) {
            func minutes(_ text: String) -> Int {
                let parts = text.split(separator: ":").compactMap { Int($0) }
                return parts[0] * 60 + parts[1]
            }
            (self.from, self.to, self.zone, self.at, self.ends) = (minutes(from), minutes(to), zone, at, ends)
        }
    }

    @Test(arguments: [
        // A night in winter and summer time.
        Case("22:00", "07:00", at: "2027-01-15T20:59:59Z", ends: nil),
        Case("22:00", "07:00", at: "2027-01-15T21:00:00Z", ends: "2027-01-16T06:00:00Z"),
        Case("22:00", "07:00", at: "2027-01-16T05:59:59Z", ends: "2027-01-16T06:00:00Z"),
        Case("22:00", "07:00", at: "2027-01-16T06:00:00Z", ends: nil),
        Case("22:00", "07:00", at: "2027-07-15T20:00:00Z", ends: "2027-07-16T05:00:00Z"),
        Case("22:00", "07:00", newYork, at: "2027-01-16T03:00:00Z", ends: "2027-01-16T12:00:00Z"),
        // A window within a day, and one to its end.
        Case("13:00", "14:30", at: "2027-01-15T13:29:59Z", ends: "2027-01-15T13:30:00Z"),
        Case("13:00", "14:30", at: "2027-01-15T13:30:00Z", ends: nil),
        Case("22:00", "24:00", at: "2027-01-15T22:59:59Z", ends: "2027-01-15T23:00:00Z"),
        Case("00:00", "24:00", at: "2027-01-15T23:00:00Z", ends: "2027-01-16T23:00:00Z"),
        Case("24:00", "00:00", at: "2027-01-15T23:00:00Z", ends: "2027-01-16T23:00:00Z"),
        // The night that loses an hour ends by the clock.
        Case("22:00", "07:00", at: "2027-03-28T04:59:59Z", ends: "2027-03-28T05:00:00Z"),
        // A skipped time stands for the change.
        Case("02:30", "07:00", at: "2027-03-28T00:59:59Z", ends: nil),
        Case("02:30", "07:00", at: "2027-03-28T01:00:00Z", ends: "2027-03-28T05:00:00Z"),
        Case("22:00", "02:30", at: "2027-03-28T00:59:59Z", ends: "2027-03-28T01:00:00Z"),
        Case("22:00", "02:30", at: "2027-03-28T01:00:00Z", ends: nil),
        // Of a repeated time, windows begin at the first and end at the second.
        Case("22:00", "07:00", at: "2027-10-31T05:59:59Z", ends: "2027-10-31T06:00:00Z"),
        Case("22:00", "02:30", at: "2027-10-31T00:45:00Z", ends: "2027-10-31T01:30:00Z"),
        Case("22:00", "02:30", at: "2027-10-31T01:30:00Z", ends: nil),
        Case("02:30", "07:00", at: "2027-10-31T00:30:00Z", ends: "2027-10-31T06:00:00Z"),
        Case("02:30", "07:00", at: "2027-10-31T01:10:00Z", ends: "2027-10-31T06:00:00Z"),
        Case("01:30", "07:00", newYork, at: "2027-11-07T05:30:00Z", ends: "2027-11-07T12:00:00Z"),
    ])
    func `a window goes by the clocks of its zone, through both of their changes`(_ example: Case) throws {
        let window = DailyWindow(from: example.from, to: example.to, zone: example.zone)
        let at = try #require(Instant(rfc3339: example.at))
        #expect(window.end(at: at) == example.ends.flatMap { Instant(rfc3339: $0) })
    }

    @Test func `no time makes a window trap`() {
        let window = DailyWindow(from: 1_320, to: 420, zone: Self.berlin)
        for wall in [Instant.distantPast, .distantFuture, Instant(nanoseconds: 0), Instant(nanoseconds: -1)] {
            _ = window.end(at: wall)
        }
    }

    @Test(arguments: [
        ("2027-01-15T20:59:59Z", "2027-01-15T21:00:00Z"), ("2027-01-15T21:00:00Z", "2027-01-15T21:00:00Z"),
        ("2027-01-16T05:59:59Z", "2027-01-16T05:59:59Z"), ("2027-01-16T06:00:00Z", "2027-01-16T21:00:00Z"),
        ("2027-03-28T05:00:00Z", "2027-03-28T20:00:00Z"),
    ])
    func `outside, it is known when the window opens next`(at: String, opens: String) throws {
        let night = DailyWindow(from: 22 * 60, to: 7 * 60, zone: Self.berlin)
        #expect(night.opening(at: try #require(Instant(rfc3339: at))) == Instant(rfc3339: opens))
    }

    @Test func `a beginning that does not come is the moment of the change`() throws {
        let window = DailyWindow(from: 2 * 60 + 30, to: 5 * 60, zone: Self.berlin)
        let before = try #require(Instant(rfc3339: "2027-03-27T23:00:00Z"))
        #expect(window.opening(at: before) == Instant(rfc3339: "2027-03-28T01:00:00Z"))
    }
}
