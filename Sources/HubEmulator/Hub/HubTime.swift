import ByteText

/// A point in time for the hub's rules, in milliseconds since 1970-01-01T00:00:00Z.
///
/// The rules never read a clock: the caller passes the time.
public struct HubTime: Hashable, Comparable, Sendable {
    public var milliseconds: Int64

    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// A time in seconds. Saturates at the ends of the representable range.
    public init(seconds: Int64) {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        milliseconds = overflow ? (seconds < 0 ? .min : .max) : product
    }

    /// The service's value for "never": 9999-12-31T23:59:59.999Z.
    public static let never = HubTime(milliseconds: 253_402_300_799_999)

    /// Whole seconds since 1970, rounded down.
    public var seconds: Int64 { milliseconds.flooredQuotientAndRemainder(dividingBy: 1000).quotient }

    public static func < (lhs: HubTime, rhs: HubTime) -> Bool { lhs.milliseconds < rhs.milliseconds }

    /// Adds milliseconds and saturates at the ends of the range.
    public func advanced(byMilliseconds amount: Int64) -> HubTime {
        let (sum, overflow) = milliseconds.addingReportingOverflow(amount)
        return HubTime(milliseconds: overflow ? (amount < 0 ? .min : .max) : sum)
    }

    /// Subtracts, saturating. Negative when `earlier` is later.
    public func millisecondsSince(_ earlier: HubTime) -> Int64 {
        let (difference, overflow) = milliseconds.subtractingReportingOverflow(earlier.milliseconds)
        return overflow ? (self < earlier ? .min : .max) : difference
    }
}

// The hub's ways of writing and reading times, always UTC.

extension HubTime: CustomStringConvertible {
    /// The time in the form `2018-11-07T00:18:37.000Z`.
    public var description: String { iso(fractionDigits: 3) }

    /// The form `2018-11-07T00:18:37`, followed by `.` and `fractionDigits` digits if there are any, and `suffix`.
    func iso(fractionDigits: Int = 0, suffix: String = "Z") -> String {
        let (time, millisecond) = civil
        let date = time.date
        var text = "\(Self.padded(date.year, 4))-\(Self.padded(date.month))-\(Self.padded(date.day))T"
        text += "\(Self.padded(time.hour)):\(Self.padded(time.minute)):\(Self.padded(time.second))"
        if fractionDigits > 0 {
            // "Never" is written with nines only, whatever the number of digits.
            let filler = self >= .never ? "9999" : "0000"
            text += "." + (Self.padded(millisecond, 3) + filler).prefix(fractionDigits)
        }
        return text + suffix
    }

    /// The form `Wed, 07 Nov 2018 00:18:34 GMT`, as in HTTP.
    var rfc1123: String {
        let time = civil.time
        let weekday = ((time.date.daysSince1970 % 7) + 11) % 7
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let clock = [time.hour, time.minute, time.second].map { Self.padded($0) }.joined(separator: ":")
        return "\(days[weekday]), \(Self.padded(time.date.day)) \(months[time.date.month - 1]) "
            + "\(Self.padded(time.date.year, 4)) \(clock) GMT"
    }

    /// The form `11072018`, which names a day's feedback.
    var feedbackDay: String { String(compact.dropFirst(4).prefix(4) + compact.prefix(4)) }

    /// The form `20181107001834`, as in notification ids.
    var compact: String { iso().filter(\.isNumber) }

    /// The civil time, bounded to the years 1…9999, which the service can write.
    private var civil: (time: CivilTime, millisecond: Int) {
        let bounded = min(max(milliseconds, -62_135_596_800_000), Self.never.milliseconds)
        let (seconds, millisecond) = bounded.flooredQuotientAndRemainder(dividingBy: 1000)
        return (CivilTime(secondsSince1970: seconds), Int(millisecond))
    }

    private static func padded(_ value: Int, _ width: Int = 2) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(width - digits.count, 0)) + digits
    }
}

extension HubTime {
    /// Reads the forms that clients send for times: ISO 8601 with or without seconds, fraction and zone
    /// (no zone means UTC), and `MM/dd/yyyy HH:mm:ss`.
    public init?(clientText text: some StringProtocol) {
        // No valid form is longer; the rest of a hostile value is ignored.
        let bytes = text.utf8.prefix(41).filter { $0 != UInt8(ascii: "'") }
        let isSlashed = bytes.contains(UInt8(ascii: "/"))
        let milliseconds = bytes.withUnsafeBufferPointer { bytes in
            var reader = DigitReader(bytes)
            return isSlashed ? reader.slashedTime() : reader.isoTime()
        }
        guard let milliseconds else { return nil }
        self.milliseconds = milliseconds
    }
}

extension DigitReader {
    fileprivate mutating func slashedTime() -> Int64? {
        guard let month = number(digits: 2), skip("/"), let day = number(digits: 2), skip("/"),
            let year = number(digits: 4), year > 0, skip(" "), let hour = number(digits: 2), skip(":"),
            let minute = number(digits: 2), skip(":"), let second = number(digits: 2), second < 60, isAtEnd,
            let date = CivilDate(year: year, month: month, day: day),
            let time = CivilTime(date, hour: hour, minute: minute, second: second)
        else { return nil }
        return time.secondsSince1970 * 1000
    }
}
