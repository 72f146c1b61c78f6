/// The three forms of an HTTP date, all of which a recipient must read. RFC 9110 §5.6.7.
enum HTTPDate {
    /// Unix seconds.
    /// - Parameter now: decides the century of a date that has none.
    /// - Returns: `nil` for anything else, an impossible day included.
    static func seconds(of text: some StringProtocol, now: Int64) -> Int64? {
        let words = text.split { $0 == " " || $0 == "," || $0 == "-" }.map { String($0) }
        switch words.count {
        case 6 where words[5] == "GMT":  // Sun, 06 Nov 1994 08:49:37 GMT; Sunday, 06-Nov-94 08:49:37 GMT
            let year =
                number(words[3], digits: 4...4)
                ?? number(words[3], digits: 2...2).map { century(of: $0, now: now) }
            guard let year else { return nil }
            return seconds(year: year, month: words[2], day: words[1], time: words[4])
        case 5:  // Sun Nov  6 08:49:37 1994
            guard let year = number(words[4], digits: 4...4) else { return nil }
            return seconds(year: year, month: words[1], day: words[2], time: words[3])
        default: return nil
        }
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func seconds(year: Int64, month: String, day: String, time: String) -> Int64? {
        let clock = time.split(separator: ":", omittingEmptySubsequences: false)
        guard let month = months.firstIndex(of: month), let day = number(day, digits: 1...2), clock.count == 3,
            let hour = number(clock[0], digits: 2...2), let minute = number(clock[1], digits: 2...2),
            let second = number(clock[2], digits: 2...2), hour < 24, minute < 60, second <= 60,
            (0...9999).contains(year)
        else { return nil }
        let date = CivilDate(year: year, month: Int64(month) + 1, day: day)
        // A day that the month does not have comes back as another.
        guard CivilDate(daysSince1970: date.daysSince1970) == date else { return nil }
        return date.daysSince1970 * 86_400 + hour * 3600 + minute * 60 + second
    }

    /// More than 50 years ahead means the century before.
    private static func century(of year: Int64, now: Int64) -> Int64 {
        let current = CivilDate(daysSince1970: now / 86_400).year
        let candidate = current - current % 100 + year
        return candidate > current + 50 ? candidate - 100 : candidate
    }

    private static func number(_ text: some StringProtocol, digits: ClosedRange<Int>) -> Int64? {
        guard digits.contains(text.utf8.count), text.utf8.allSatisfy(\.isASCIIDigit) else { return nil }
        return Int64(text)
    }
}

/// A day of the Gregorian calendar, without a clock or a time zone.
struct CivilDate: Hashable {
    var year: Int64
    /// 1…12.
    var month: Int64
    var day: Int64

    init(year: Int64, month: Int64, day: Int64) {
        self.year = year
        self.month = month
        self.day = day
    }

    // Both ways by Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms": years that start in March, eras of
    // 400 years.
    init(daysSince1970 days: Int64) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// For years of at most four digits.
    var daysSince1970: Int64 {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}
