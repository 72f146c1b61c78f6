/// A time taken apart by the proleptic Gregorian calendar, UTC, and the hub's ways of writing and reading it.
struct CalendarTime: Hashable, Sendable {
    var year: Int64
    var month: Int64
    var day: Int64
    var hour: Int64
    var minute: Int64
    var second: Int64
    var millisecond: Int64

    /// Times past the year 9999 are written as its last millisecond, which is how the service spells "never".
    init(_ time: HubTime) {
        let bounded = min(max(time.milliseconds, -62_135_596_800_000), HubTime.never.milliseconds)
        let (days, inDay) = HubTime.floorDivide(bounded, 86_400_000)
        (hour, minute) = (inDay / 3_600_000, inDay / 60_000 % 60)
        (second, millisecond) = (inDay / 1000 % 60, inDay % 1000)
        // Days to civil date, counting years from March so that a leap day comes last.
        let shifted = days + 719_468
        let (era, dayOfEra) = HubTime.floorDivide(shifted, 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// The time these fields name, or `nil` when a field is out of its range or the day is not in its month.
    static func time(
        year: Int64, month: Int64, day: Int64, hour: Int64, minute: Int64, second: Int64, millisecond: Int64 = 0
    ) -> HubTime? {
        guard 1...9999 ~= year, 1...12 ~= month, 1...31 ~= day, 0...23 ~= hour, 0...59 ~= minute, 0...59 ~= second,
            0...999 ~= millisecond
        else { return nil }
        let shiftedYear = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = HubTime.floorDivide(shiftedYear, 400)
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let days = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
        let inDay = hour * 3_600_000 + minute * 60_000 + second * 1000 + millisecond
        let time = HubTime(milliseconds: days * 86_400_000 + inDay)
        let check = CalendarTime(time)
        return check.day == day && check.month == month ? time : nil
    }

    /// `2018-11-07T00:18:37`, then `.` and `fraction` digits of the second when asked for, then `suffix`.
    func iso(fractionDigits: Int = 0, suffix: String = "Z") -> String {
        var text = "\(Self.padded(year, 4))-\(Self.padded(month))-\(Self.padded(day))T"
        text += "\(Self.padded(hour)):\(Self.padded(minute)):\(Self.padded(second))"
        if fractionDigits > 0 {
            let digits = Self.padded(millisecond, 3) + "9999"
            let zeros = Self.padded(millisecond, 3) + "0000"
            // "Never" is written with all its nines, whatever the number of digits.
            text += "." + (millisecond == 999 && year == 9999 ? digits : zeros).prefix(fractionDigits)
        }
        return text + suffix
    }

    /// `20181107001834`, as in notification ids.
    var compact: String {
        Self.padded(year, 4) + Self.padded(month) + Self.padded(day) + Self.padded(hour) + Self.padded(minute)
            + Self.padded(second)
    }

    static func padded(_ value: Int64, _ width: Int = 2) -> String {
        let digits = String(value)
        return digits.count >= width ? digits : String(repeating: "0", count: width - digits.count) + digits
    }
}

extension HubTime {
    /// `2018-11-07T00:18:37.000Z`, UTC, with milliseconds.
    public var description: String { CalendarTime(self).iso(fractionDigits: 3) }

    /// Reads the forms that clients send for times: ISO 8601 with or without seconds, fraction and zone
    /// (no zone means UTC), and `MM/dd/yyyy HH:mm:ss`.
    public init?(clientText text: String) {
        var reader = DigitReader(text)
        let parsed = text.utf8.contains(UInt8(ascii: "/")) ? reader.slashed() : reader.iso()
        guard let parsed else { return nil }
        self = parsed
    }
}

/// Reads fixed-width decimal fields.
private struct DigitReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ text: String) {
        // No legal form is longer; the rest of a hostile value is not looked at.
        bytes = text.utf8.prefix(41).filter { $0 != UInt8(ascii: "'") }
    }

    mutating func iso() -> HubTime? {
        guard let year = digits(4), take("-"), let month = digits(2), take("-"), let day = digits(2),
            take("T") || take("t") || take(" "), let hour = digits(2), take(":"), let minute = digits(2)
        else { return nil }
        var second: Int64 = 0
        var millisecond: Int64 = 0
        if take(":") {
            guard let read = digits(2) else { return nil }
            second = read
            if take(".") {
                guard let read = fraction() else { return nil }
                millisecond = read
            }
        }
        guard let offset = zone(), position == bytes.count else { return nil }
        return CalendarTime.time(
            year: year, month: month, day: day, hour: hour, minute: minute, second: second, millisecond: millisecond
        )?.advanced(byMilliseconds: -offset)
    }

    mutating func slashed() -> HubTime? {
        guard let month = digits(2), take("/"), let day = digits(2), take("/"), let year = digits(4), take(" "),
            let hour = digits(2), take(":"), let minute = digits(2), take(":"), let second = digits(2),
            position == bytes.count
        else { return nil }
        return CalendarTime.time(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
    }

    /// The offset from UTC in milliseconds; 0 when none is named.
    private mutating func zone() -> Int64? {
        if position == bytes.count || take("Z") || take("z") { return 0 }
        let sign: Int64 = take("-") ? -1 : (take("+") ? 1 : 0)
        guard sign != 0, let hours = digits(2), take(":") || true, let minutes = digits(2), hours < 15, minutes < 60
        else { return nil }
        return sign * (hours * 60 + minutes) * 60_000
    }

    private mutating func fraction() -> Int64? {
        var value: Int64 = 0
        var count = 0
        while position < bytes.count, let digit = Self.digit(bytes[position]) {
            if count < 3 { value = value * 10 + digit }
            count += 1
            position += 1
        }
        guard 1...9 ~= count else { return nil }
        return count == 1 ? value * 100 : (count == 2 ? value * 10 : value)
    }

    private mutating func digits(_ count: Int) -> Int64? {
        guard bytes.count - position >= count else { return nil }
        var value: Int64 = 0
        for index in position..<position + count {
            guard let digit = Self.digit(bytes[index]) else { return nil }
            value = value * 10 + digit
        }
        position += count
        return value
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private static func digit(_ byte: UInt8) -> Int64? {
        byte >= 48 && byte <= 57 ? Int64(byte - 48) : nil
    }
}
