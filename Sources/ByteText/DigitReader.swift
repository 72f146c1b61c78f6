/// Reads the fixed-width numbers of a date and time from bytes that need not be there.
public struct DigitReader {
    @usableFromInline
    let bytes: UnsafeBufferPointer<UInt8>
    @usableFromInline
    var position = 0

    @inlinable
    public init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    @inlinable
    public var isAtEnd: Bool { position == bytes.count }

    @inlinable
    public mutating func digit() -> Int? {
        guard position < bytes.count, case let value = bytes[position] &- UInt8(ascii: "0"), value <= 9 else {
            return nil
        }
        position += 1
        return Int(value)
    }

    /// - Parameter digits: at most 18.
    @inlinable
    public mutating func number(digits: Int) -> Int? {
        var number = 0
        for _ in 0..<digits {
            guard let digit = digit() else { return nil }
            number = number * 10 + digit
        }
        return number
    }

    @inlinable
    public mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    /// A second's fraction in nanoseconds, digits after the ninth dropped: 0 without a point, `nil` for a point without
    /// digits.
    @inlinable
    public mutating func fraction() -> Int? {
        guard skip(".") else { return 0 }
        var unit = 100_000_000
        guard let first = digit() else { return nil }
        var nanoseconds = first * unit
        while let digit = digit() {
            unit /= 10
            nanoseconds += digit * unit
        }
        return nanoseconds
    }

    /// Hours and minutes east of UTC, in minutes; `Z` is 0.
    /// - Parameter needsColon: between hours and minutes.
    @inlinable
    public mutating func offset(needsColon: Bool = true) -> Int? {
        if skip("Z") || skip("z") { return 0 }
        let isEast = skip("+")
        guard isEast || skip("-"), let hours = number(digits: 2), hours <= 23, skip(":") || !needsColon,
            let minutes = number(digits: 2), minutes <= 59
        else { return nil }
        return (isEast ? 1 : -1) * (hours * 60 + minutes)
    }

    /// A date and time in ISO 8601 with a `T` or a space between them, in milliseconds since 1970. Seconds, their
    /// fraction and the zone may be missing; without a zone it is UTC.
    /// - Returns: `nil` unless it ends with the bytes, and for the year 0.
    public mutating func isoTime() -> Int64? {
        guard let year = number(digits: 4), year > 0, skip("-"), let month = number(digits: 2), skip("-"),
            let day = number(digits: 2), skip("T") || skip("t") || skip(" "), let hour = number(digits: 2), skip(":"),
            let minute = number(digits: 2)
        else { return nil }
        var (second, nanosecond) = (0, 0)
        if skip(":") {
            guard let seconds = number(digits: 2), seconds < 60, let fraction = fraction() else { return nil }
            (second, nanosecond) = (seconds, fraction)
        }
        guard let offset = isAtEnd ? 0 : offset(needsColon: false), abs(offset) < 15 * 60, isAtEnd,
            let date = CivilDate(year: year, month: month, day: day),
            let time = CivilTime(date, hour: hour, minute: minute, second: second)
        else { return nil }
        return (time.secondsSince1970 - Int64(offset) * 60) * 1000 + Int64(nanosecond) / 1_000_000
    }
}
