/// The three forms of an HTTP date, all of which a recipient must read. RFC 9110 §5.6.7.
public enum HTTPDate {
    /// The date as Unix seconds.
    /// - Parameter now: Unix seconds; determines the century of a two-digit year.
    /// - Returns: `nil` for anything else, including impossible dates.
    public static func seconds(of text: some StringProtocol, now: Int64) -> Int64? {
        guard text.utf8.count <= 64 else { return nil }
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

    private static func seconds(year: Int, month: String, day: String, time: String) -> Int64? {
        let clock = time.split(separator: ":", omittingEmptySubsequences: false)
        guard let month = months.firstIndex(of: month), let day = number(day, digits: 1...2), clock.count == 3,
            let hour = number(clock[0], digits: 2...2), let minute = number(clock[1], digits: 2...2),
            let second = number(clock[2], digits: 2...2), let date = CivilDate(year: year, month: month + 1, day: day),
            let time = CivilTime(date, hour: hour, minute: minute, second: second)
        else { return nil }
        return time.secondsSince1970
    }

    /// A year more than 50 years ahead belongs to the previous century.
    private static func century(of year: Int, now: Int64) -> Int {
        let current = CivilTime(secondsSince1970: now).date.year
        let candidate = current - current % 100 + year
        return candidate > current + 50 ? candidate - 100 : candidate
    }

    private static func number(_ text: some StringProtocol, digits: ClosedRange<Int>) -> Int? {
        guard digits.contains(text.utf8.count), text.utf8.allSatisfy(\.isASCIIDigit) else { return nil }
        return Int(text)
    }
}

/// The `Retry-After` header: a number of seconds or a date. RFC 9110 §10.2.3.
public enum RetryAfterHeader {
    /// Seconds to wait, 0 or more; numbers too large count as the largest.
    /// - Parameter now: Unix seconds; a date in the past means no wait.
    /// - Returns: `nil` when the value is neither.
    public static func seconds(of value: some StringProtocol, now: Int64) -> Int64? {
        let value = value.trimmed
        guard (1...64).contains(value.utf8.count) else { return nil }
        if value.utf8.allSatisfy(\.isASCIIDigit) { return Int64(value) ?? .max }
        guard let date = HTTPDate.seconds(of: value, now: now) else { return nil }
        let (wait, overflow) = date.subtractingReportingOverflow(now)
        return max(0, overflow ? (now < 0 ? .max : 0) : wait)
    }
}
