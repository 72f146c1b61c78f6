// Times as text. RFC 3339; no calendar library, so it is the same on every platform and cheap per event.

extension Instant: CustomStringConvertible {
    /// `nil` unless the text is an RFC 3339 date and time with an offset.
    ///
    /// Digits after the ninth of a fraction are dropped; `:60` is taken only where UTC has leap seconds (23:59) and
    /// means the second after; what is before 1677 or after 2262 becomes `distantPast` or `distantFuture`.
    public init?(rfc3339 text: some StringProtocol) {
        let parsed = text.utf8.withContiguousStorageIfAvailable { Instant(rfc3339: $0) }
        guard let instant = parsed ?? Array(text.utf8).withUnsafeBufferPointer({ Instant(rfc3339: $0) }) else {
            return nil
        }
        self = instant
    }

    init?(rfc3339 bytes: UnsafeBufferPointer<UInt8>) {
        var reader = DigitReader(bytes: bytes)
        guard let year = reader.number(digits: 4), reader.skip("-"),
            let month = reader.number(digits: 2), (1...12).contains(month), reader.skip("-"),
            let day = reader.number(digits: 2), (1...Self.days(inMonth: month, of: year)).contains(day),
            reader.skip("T") || reader.skip("t") || reader.skip(" "),
            let hour = reader.number(digits: 2), hour <= 23, reader.skip(":"),
            let minute = reader.number(digits: 2), minute <= 59, reader.skip(":"),
            let second = reader.number(digits: 2), second <= 60,
            let fraction = reader.fraction(), let offset = reader.offset(), reader.isAtEnd
        else { return nil }
        let days = Self.daysSince1970(year: year, month: month, day: day)
        let minutes = (days * 24 + hour) * 60 + minute - offset
        if second == 60, (minutes % 1_440 + 1_440) % 1_440 != 1_439 { return nil }
        self.init(seconds: Int64(minutes * 60 + second), nanoseconds: Int64(fraction))
    }

    private init(seconds: Int64, nanoseconds fraction: Int64) {
        // Rounded towards 1970 first, so that only a time that does not fit overflows.
        let isBefore = seconds < 0
        let (scaled, overflow) = (isBefore ? seconds + 1 : seconds).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, overflowed) = scaled.addingReportingOverflow(isBefore ? fraction - 1_000_000_000 : fraction)
        self.init(nanoseconds: overflow || overflowed ? (isBefore ? .min : .max) : sum)
    }

    /// RFC 3339 in UTC: `2026-11-21T01:02:03.123Z`; with nine digits when it is finer than a millisecond.
    public var description: String {
        String(unsafeUninitializedCapacity: Self.textLengthMax) { bytes in
            bytes.baseAddress.map { write(to: $0) } ?? 0
        }
    }

    static let textLengthMax = 30

    /// Writes `description`, at most `textLengthMax` bytes.
    /// - Returns: how many.
    func write(to bytes: UnsafeMutablePointer<UInt8>) -> Int {
        let second: Int64 = 1_000_000_000
        let fraction = Int((nanoseconds % second + second) % second)
        let seconds = nanoseconds / second - (nanoseconds % second < 0 ? 1 : 0)
        let secondOfDay = Int((seconds % 86_400 + 86_400) % 86_400)
        let (year, month, day) = Self.date(daysSince1970: (Int(seconds) - secondOfDay) / 86_400)
        var length = 0
        func put(_ number: Int, digits: Int, _ end: StaticString = "") {
            var rest = number
            for place in stride(from: digits - 1, through: 0, by: -1) {
                bytes[length + place] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            }
            length += digits
            guard end.utf8CodeUnitCount == 1 else { return }
            bytes[length] = end.utf8Start[0]
            length += 1
        }
        put(year, digits: 4, "-")
        put(month, digits: 2, "-")
        put(day, digits: 2, "T")
        put(secondOfDay / 3_600, digits: 2, ":")
        put(secondOfDay / 60 % 60, digits: 2, ":")
        put(secondOfDay % 60, digits: 2, ".")
        if fraction % 1_000_000 == 0 {
            put(fraction / 1_000_000, digits: 3, "Z")
        } else {
            put(fraction, digits: 9, "Z")
        }
        return length
    }
}

// MARK: - The Gregorian calendar in 400-year eras that begin on 1 March (Howard Hinnant's chrono algorithms)

extension Instant {
    private static func days(inMonth month: Int, of year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func date(daysSince1970 days: Int) -> (year: Int, month: Int, day: Int) {
        let days = days + 719_468
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }
}

/// Reads fixed-width numbers from bytes that need not be there.
private struct DigitReader {
    let bytes: UnsafeBufferPointer<UInt8>
    var position = 0

    init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    mutating func digit() -> Int? {
        guard position < bytes.count, case let value = bytes[position] &- UInt8(ascii: "0"), value <= 9 else {
            return nil
        }
        position += 1
        return Int(value)
    }

    mutating func number(digits: Int) -> Int? {
        var number = 0
        for _ in 0..<digits {
            guard let digit = digit() else { return nil }
            number = number * 10 + digit
        }
        return number
    }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    /// Nanoseconds; 0 without a fraction, `nil` for a point without digits.
    mutating func fraction() -> Int? {
        guard skip(".") else { return 0 }
        var nanoseconds = 0
        var unit = 100_000_000
        guard let first = digit() else { return nil }
        nanoseconds = first * unit
        while let digit = digit() {
            unit /= 10
            nanoseconds += digit * unit
        }
        return nanoseconds
    }

    /// Minutes east of UTC.
    mutating func offset() -> Int? {
        if skip("Z") || skip("z") { return 0 }
        let isEast = skip("+")
        guard isEast || skip("-"), let hours = number(digits: 2), hours <= 23, skip(":"),
            let minutes = number(digits: 2), minutes <= 59
        else { return nil }
        return (isEast ? 1 : -1) * (hours * 60 + minutes)
    }
}
