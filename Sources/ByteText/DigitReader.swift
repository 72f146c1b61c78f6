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
}
