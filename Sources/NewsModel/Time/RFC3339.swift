import ByteText

// Times as text. RFC 3339; no calendar library, so it is the same on every platform and cheap per event.

extension Instant: CustomStringConvertible {
    /// `nil` unless the text is an RFC 3339 date and time with an offset.
    ///
    /// Digits after the ninth of a fraction are dropped. `:60` is accepted only where UTC has leap seconds (23:59) and
    /// means the second after. Times before 1677 or after 2262 become `distantPast` or `distantFuture`.
    public init?(rfc3339 text: some StringProtocol) {
        let parsed = text.utf8.withContiguousStorageIfAvailable { Instant(rfc3339: $0) }
        guard let instant = parsed ?? Array(text.utf8).withUnsafeBufferPointer({ Instant(rfc3339: $0) }) else {
            return nil
        }
        self = instant
    }

    package init?(rfc3339 bytes: UnsafeBufferPointer<UInt8>) {
        var reader = DigitReader(bytes)
        guard let year = reader.number(digits: 4), reader.skip("-"), let month = reader.number(digits: 2),
            reader.skip("-"), let day = reader.number(digits: 2),
            let date = CivilDate(year: year, month: month, day: day),
            reader.skip("T") || reader.skip("t") || reader.skip(" "),
            let hour = reader.number(digits: 2), reader.skip(":"), let minute = reader.number(digits: 2),
            reader.skip(":"), let second = reader.number(digits: 2),
            let time = CivilTime(date, hour: hour, minute: minute, second: second),
            let fraction = reader.fraction(), let offset = reader.offset(), reader.isAtEnd
        else { return nil }
        let seconds = time.secondsSince1970 - Int64(offset) * 60
        if second == 60, seconds % 86_400 != 0 { return nil }
        self.init(seconds: seconds, nanoseconds: Int64(fraction))
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
    /// - Returns: the number of bytes.
    func write(to bytes: UnsafeMutablePointer<UInt8>) -> Int {
        let (seconds, fraction) = nanoseconds.flooredQuotientAndRemainder(dividingBy: 1_000_000_000)
        let time = CivilTime(secondsSince1970: seconds)
        // 64 bits of nanoseconds reach from the year 1677 to 2262.
        Self.put(pair: time.date.year / 100, to: bytes)
        Self.put(pair: time.date.year % 100, "-", to: bytes + 2)
        Self.put(pair: time.date.month, "-", to: bytes + 5)
        Self.put(pair: time.date.day, "T", to: bytes + 8)
        Self.put(pair: time.hour, ":", to: bytes + 11)
        Self.put(pair: time.minute, ":", to: bytes + 14)
        Self.put(pair: time.second, ".", to: bytes + 17)
        let (milliseconds, finer) = fraction.quotientAndRemainder(dividingBy: 1_000_000)
        Self.put(triple: Int(milliseconds), "Z", to: bytes + 20)
        guard finer > 0 else { return 24 }
        Self.put(triple: Int(finer / 1_000), "Z", to: bytes + 23)
        Self.put(triple: Int(finer % 1_000), "Z", to: bytes + 26)
        return 30
    }

    /// Writes three digits and the character behind them.
    /// - Parameter number: 0…999.
    @inline(__always)
    private static func put(triple number: Int, _ end: Unicode.Scalar, to bytes: UnsafeMutablePointer<UInt8>) {
        bytes[0] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: number / 100)
        put(pair: number % 100, end, to: bytes + 1)
    }

    /// Writes two digits and the character behind them.
    /// - Parameter number: 0…99.
    @inline(__always)
    private static func put(
        pair number: Int, _ end: Unicode.Scalar? = nil, to bytes: UnsafeMutablePointer<UInt8>
    ) {
        let (tens, ones) = UInt8(truncatingIfNeeded: number).quotientAndRemainder(dividingBy: 10)
        bytes[0] = UInt8(ascii: "0") &+ tens
        bytes[1] = UInt8(ascii: "0") &+ ones
        if let end { bytes[2] = UInt8(ascii: end) }
    }
}
