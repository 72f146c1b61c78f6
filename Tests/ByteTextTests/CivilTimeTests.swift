import ByteText
import Testing

@Test func `days and dates agree over three thousand years`() throws {
    var day = try #require(CivilDate(year: -500, month: 1, day: 1)).daysSince1970
    for year in -500...2500 {
        for month in 1...12 {
            for number in 1...CivilDate.days(inMonth: month, of: year) {
                let date = try #require(CivilDate(year: year, month: month, day: number))
                guard date.daysSince1970 == day, CivilDate(daysSince1970: day) == date else {
                    Issue.record("\(year)-\(month)-\(number) is not day \(day)")
                    return
                }
                day += 1
            }
        }
    }
}

@Test(arguments: [
    (0, 1970, 1, 1), (-1, 1969, 12, 31), (11_016, 2000, 2, 29), (-719_468, 0, 3, 1), (2_932_896, 9999, 12, 31),
])
func `known days have their dates`(day: Int, year: Int, month: Int, number: Int) {
    #expect(CivilDate(year: year, month: month, day: number)?.daysSince1970 == day)
}

@Test(arguments: [
    (2026, 0, 1), (2026, 13, 1), (2026, 1, 0), (2026, 4, 31), (2026, 2, 29), (1900, 2, 29), (10_000, 1, 1),
    (Int.max, 1, 1), (2026, Int.min, 1), (2026, 1, Int.max),
])
func `a day that the calendar does not have is refused`(year: Int, month: Int, day: Int) {
    #expect(CivilDate(year: year, month: month, day: day) == nil)
}

@Test(arguments: [(24, 0, 0), (0, 60, 0), (0, 0, 61), (-1, 0, 0), (0, -1, 0), (0, 0, -1)])
func `a time that no clock shows is refused`(hour: Int, minute: Int, second: Int) {
    #expect(CivilTime(CivilDate(daysSince1970: 0), hour: hour, minute: minute, second: second) == nil)
}

@Test func `seconds are taken apart and put together, before 1970 too`() {
    for seconds: Int64 in [0, -1, 86_399, -86_400, -86_401, 1_795_000_000, 253_402_300_799, -62_167_219_200] {
        #expect(CivilTime(secondsSince1970: seconds).secondsSince1970 == seconds)
    }
    let last = CivilTime(secondsSince1970: -1)
    #expect([last.hour, last.minute, last.second] == [23, 59, 59])
    let leap = CivilTime(last.date, hour: 23, minute: 59, second: 60)
    #expect(leap?.secondsSince1970 == 0)
}

@Test(arguments: [("0", nil), ("12", 12), ("1x", nil), ("", nil), ("123", 12)])
func `a number needs all its digits`(text: String, number: Int?) {
    let read = Array(text.utf8).withUnsafeBufferPointer { bytes in
        var reader = DigitReader(bytes)
        return reader.number(digits: 2)
    }
    #expect(read == number)
}

@Test(arguments: [("", 0), (".5", 500_000_000), (".1234567899", 123_456_789), (".", nil), (".x", nil)])
func `a fraction counts in nanoseconds`(text: String, nanoseconds: Int?) {
    let read = Array(text.utf8).withUnsafeBufferPointer { bytes in
        var reader = DigitReader(bytes)
        return reader.fraction()
    }
    #expect(read == nanoseconds)
}

@Test(arguments: [
    ("Z", true, 0), ("z", true, 0), ("+01:30", true, 90), ("-0130", false, -90), ("-0130", true, nil),
    ("+24:00", true, nil), ("01:00", true, nil), ("+1:00", true, nil), ("+01:60", true, nil),
])
func `an offset counts in minutes east of UTC`(text: String, needsColon: Bool, minutes: Int?) {
    let read = Array(text.utf8).withUnsafeBufferPointer { bytes in
        var reader = DigitReader(bytes)
        return reader.offset(needsColon: needsColon)
    }
    #expect(read == minutes)
}
