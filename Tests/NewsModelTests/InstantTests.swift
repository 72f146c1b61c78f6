import ByteText
import Foundation
import NewsModel
import Testing

@Test(arguments: [
    ("1970-01-01T00:00:00Z", 0),
    ("1970-01-01T00:00:00.000000001Z", 1),
    ("1969-12-31T23:59:59.999Z", -1_000_000),
    ("2026-11-21T01:02:03.123Z", 1_795_222_923_123_000_000),
    ("2026-11-21T01:02:03.1239999999Z", 1_795_222_923_123_999_999),
    ("2026-11-21t01:02:03z", 1_795_222_923_000_000_000),
    ("2026-11-21 01:02:03Z", 1_795_222_923_000_000_000),
    ("2026-11-21T03:32:03+02:30", 1_795_222_923_000_000_000),
    ("2026-11-20T20:02:03-05:00", 1_795_222_923_000_000_000),
    ("2026-11-21T01:02:03-00:00", 1_795_222_923_000_000_000),
    ("2000-02-29T00:00:00Z", 951_782_400_000_000_000),
    ("1990-12-31T23:59:60Z", 662_688_000_000_000_000),
    ("1990-12-31T15:59:60-08:00", 662_688_000_000_000_000),
    ("0001-01-01T00:00:00Z", Int64.min),
    ("9999-12-31T23:59:59Z", Int64.max),
    ("0000-01-01T00:00:00+23:59", Int64.min),
])
func `an RFC 3339 time is read to the nanosecond`(text: String, nanoseconds: Int64) {
    #expect(Instant(rfc3339: text)?.nanoseconds == nanoseconds)
    #expect(Instant(rfc3339: Substring(text))?.nanoseconds == nanoseconds)
}

@Test(arguments: [
    "", "2026", "2026-11-21", "2026-11-21T01:02:03", "2026-11-21T01:02Z", "2026-11-21T01:02:03.Z",
    "2026-11-21T01:02:03+0200", "2026-11-21T01:02:03+02", "2026-11-21T01:02:03+24:00", "2026-11-21T01:02:03+02:60",
    "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-11-31T00:00:00Z", "2026-02-29T00:00:00Z",
    "1900-02-29T00:00:00Z", "2026-11-00T00:00:00Z", "2026-11-21T24:00:00Z", "2026-11-21T23:60:00Z",
    "2026-11-21T23:59:61Z", "2026-11-21T12:59:60Z", "2026-11-21T23:59:60+01:00", "26-11-21T01:02:03Z",
    "2026-11-21T01:02:03Z ", " 2026-11-21T01:02:03Z", "2026-11-21X01:02:03Z", "２０２６-11-21T01:02:03Z",
    "-026-11-21T01:02:03Z",
    "12026-11-21T01:02:03Z", "1795222923", "Sat, 21 Nov 2026 01:02:03 GMT", "2026-11-21T01:02:03Zz",
])
func `anything but an RFC 3339 time is refused`(text: String) {
    #expect(Instant(rfc3339: text) == nil)
}

@Test(arguments: [
    (0, "1970-01-01T00:00:00.000Z"),
    (1_795_222_923_123_000_000, "2026-11-21T01:02:03.123Z"),
    (1_795_222_923_123_000_001, "2026-11-21T01:02:03.123000001Z"),
    (-1, "1969-12-31T23:59:59.999999999Z"),
    (Int64.max, "2262-04-11T23:47:16.854775807Z"),
    (Int64.min, "1677-09-21T00:12:43.145224192Z"),
])
func `an instant prints as UTC`(nanoseconds: Int64, text: String) {
    #expect(Instant(nanoseconds: nanoseconds).description == text)
}

@Test func `a printed instant reads back unchanged`() {
    var random = SeededRandom(seed: 3339)
    let edges = [Int64.min, .min + 1, -1, 0, 1, 999_999_999, 1_000_000_000, .max - 1, .max]
    for nanoseconds in edges + (0..<20_000).map({ _ in Int64.random(in: .min ... .max, using: &random) }) {
        let instant = Instant(nanoseconds: nanoseconds)
        #expect(Instant(rfc3339: instant.description) == instant)
    }
}

@Test func `every day of eight centuries agrees with the calendar`() throws {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try #require(TimeZone(identifier: "UTC"))
    // 1700 to 2250, in steps of 11 days so that all months and leap years are covered.
    for day in stride(from: -98_000, to: 102_000, by: 11) {
        let parts = calendar.dateComponents(
            [.year, .month, .day], from: Date(timeIntervalSince1970: Double(day) * 86_400))
        let expected = String(format: "%04d-%02d-%02d", parts.year ?? 0, parts.month ?? 0, parts.day ?? 0)
        let printed = Instant(milliseconds: Int64(day) * 86_400_000).description
        #expect(printed == expected + "T00:00:00.000Z")
    }
}

@Test(arguments: [
    (Int64.min, Int64.min), (-10_000_000_000_000, .min), (-9_223_372_036_855, .min),
    (-9_223_372_036_854, -9_223_372_036_854_000_000), (-1, -1_000_000), (0, 0), (1, 1_000_000),
    (9_223_372_036_854, 9_223_372_036_854_000_000), (9_223_372_036_855, .max), (.max, .max),
])
func `milliseconds from outside are clamped to the range of an instant`(milliseconds: Int64, nanoseconds: Int64) {
    #expect(Instant(milliseconds: milliseconds).nanoseconds == nanoseconds)
}

@Test(
    arguments: [
        (Int64.min, -9_223_372_036_855), (.min + 1, -9_223_372_036_855), (-1, -1), (0, 0), (999_999, 0),
        (.max, 9_223_372_036_854),
    ] as [(Int64, Int64)])
func `whole milliseconds are rounded down, at the ends of time too`(nanoseconds: Int64, milliseconds: Int64) {
    #expect(Instant(nanoseconds: nanoseconds).milliseconds == milliseconds)
}

@Test func `arithmetic saturates at the ends of time`() {
    let ends = [Instant.distantPast, Instant(nanoseconds: 0), .distantFuture]
    let spans = [
        Duration.seconds(Int64.min), .nanoseconds(Int64.min), .zero, .nanoseconds(Int64.max), .seconds(Int64.max),
    ]
    for instant in ends {
        for span in spans {
            let later = instant + span
            let earlier = instant - span
            #expect(span == .zero || (later < earlier) == (span < .zero) || later == earlier)
        }
        for other in ends { #expect(((instant - other) > .zero) == (instant > other)) }
    }
    #expect(Instant.distantFuture - .distantPast == .nanoseconds(Int64.max))
    #expect(Instant.distantPast - .distantFuture == .nanoseconds(Int64.min))
    #expect(Instant.distantPast - .nanoseconds(Int64.min) == Instant(nanoseconds: 0))
}

@Test func `a duration in nanoseconds is cut towards zero and saturates`() {
    let seconds: [Int64] = [0, 1, 9, 10, 4_722, 4_723, 9_444, 9_445, 86_400, 9_223_372_036, 9_223_372_037, .max / 4]
    for second in seconds {
        for attosecond: Int64 in [0, 1, 511, 999_999_999, 1_000_000_000, 1_000_000_001, 999_999_999_999_999_999] {
            let duration = Duration(secondsComponent: second, attosecondsComponent: attosecond)
            let exact = Int128(second) * 1_000_000_000 + Int128(attosecond / 1_000_000_000)
            #expect(duration.nanoseconds == Int64(clamping: exact))
            #expect((.zero - duration).nanoseconds == Int64(clamping: -exact))
        }
    }
}

@Test(arguments: [0, 1, -1, 999, 1_000_000_000, -999_999_999, 86_400_000_000_000, .max, .min])
func `the time between two instants is exact`(nanoseconds: Int64) {
    #expect(Instant(nanoseconds: nanoseconds) - Instant(nanoseconds: 0) == .nanoseconds(nanoseconds))
}
