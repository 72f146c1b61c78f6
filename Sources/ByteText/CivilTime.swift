/// A day of the proleptic Gregorian calendar, without a clock or a time zone.
///
/// Both ways by Howard Hinnant's "chrono-Compatible Low-Level Date Algorithms": eras of 400 years that start on 1 March.
public struct CivilDate: Hashable, Sendable {
    public let year: Int
    /// The month of the year, from 1 to 12.
    public let month: Int
    /// The day of the month, 1…31.
    public let day: Int

    /// - Returns: `nil` for a day that the calendar does not have.
    @inlinable
    public init?(year: Int, month: Int, day: Int) {
        guard (-9999...9999).contains(year), (1...12).contains(month),
            (1...Self.days(inMonth: month, of: year)).contains(day)
        else { return nil }
        self.year = year
        self.month = month
        self.day = day
    }

    @inlinable
    public init(daysSince1970 days: Int) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    @inlinable
    public var daysSince1970: Int {
        let yearFromMarch = month <= 2 ? year - 1 : year
        let era = (yearFromMarch >= 0 ? yearFromMarch : yearFromMarch - 399) / 400
        let yearOfEra = yearFromMarch - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    @inlinable
    public static func days(inMonth month: Int, of year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

/// A second of UTC in its components.
public struct CivilTime: Hashable, Sendable {
    public let date: CivilDate
    public let hour: Int
    public let minute: Int
    /// 0…59; 60 in a leap second, which counts as the second after it.
    public let second: Int

    /// - Returns: `nil` for a time that no clock shows.
    @inlinable
    public init?(_ date: CivilDate, hour: Int, minute: Int, second: Int) {
        guard (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second) else { return nil }
        self.date = date
        self.hour = hour
        self.minute = minute
        self.second = second
    }

    @inlinable
    public init(secondsSince1970 seconds: Int64) {
        let (days, secondOfDay) = seconds.flooredQuotientAndRemainder(dividingBy: 86_400)
        date = CivilDate(daysSince1970: Int(days))
        hour = Int(secondOfDay / 3_600)
        minute = Int(secondOfDay / 60 % 60)
        second = Int(secondOfDay % 60)
    }

    @inlinable
    public var secondsSince1970: Int64 {
        ((Int64(date.daysSince1970) * 24 + Int64(hour)) * 60 + Int64(minute)) * 60 + Int64(second)
    }
}

extension Int64 {
    /// The quotient rounded down, so that the remainder is never negative.
    /// - Parameter divisor: positive.
    @inlinable
    public func flooredQuotientAndRemainder(dividingBy divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
