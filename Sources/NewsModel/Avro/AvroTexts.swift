import ByteText

/// The texts of Avro's logical types.
enum AvroTexts {
    /// Days and seconds beyond the years 1 to 9999 become the first or last of them, as for times in JSON.
    private static let secondsMin: Int64 = -62_135_596_800
    private static let secondsMax: Int64 = 253_402_300_799

    static func date(days: Int64) -> String {
        let seconds = min(max(days, secondsMin / 86_400), secondsMax / 86_400) * 86_400
        return date(CivilTime(secondsSince1970: seconds).date)
    }

    private static func date(_ date: CivilDate) -> String {
        "\(padded(date.year, 4))-\(padded(date.month))-\(padded(date.day))"
    }

    /// - Returns: `nil` if the count is not within a day.
    static func time(_ count: Int64, _ perSecond: Int64) -> String? {
        guard (0..<(86_400 * perSecond)).contains(count) else { return nil }
        return time(CivilTime(secondsSince1970: count / perSecond), count % perSecond, perSecond)
    }

    private static func time(_ time: CivilTime, _ fraction: Int64, _ perSecond: Int64) -> String {
        let digits = perSecond == 1_000 ? 3 : perSecond == 1_000_000 ? 6 : 9
        return "\(padded(time.hour)):\(padded(time.minute)):\(padded(time.second)).\(padded(Int(fraction), digits))"
    }

    static func timestamp(_ count: Int64, _ perSecond: Int64, isLocal: Bool) -> String {
        let (seconds, fraction) = count.flooredQuotientAndRemainder(dividingBy: perSecond)
        let civil = CivilTime(secondsSince1970: min(max(seconds, secondsMin), secondsMax))
        return "\(date(civil.date))T\(time(civil, fraction, perSecond))\(isLocal ? "" : "Z")"
    }

    private static func padded(_ number: Int, _ width: Int = 2) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(width - digits.utf8.count, 0)) + digits
    }

    /// A whole number of base 256 in two's complement, most significant byte first, divided by a power of ten.
    ///
    /// - Returns: `nil` if it has more than `AvroSchema.digitsMax` digits.
    static func decimal(_ bytes: UnsafeBufferPointer<UInt8>, scale: Int) -> String? {
        guard bytes.count <= AvroSchema.digitsMax / 2 else { return nil }
        let isNegative = bytes.first.map { $0 >= 0x80 } ?? false
        // Digits of base 10, least significant first. For a negative number, those of its complement, plus one.
        var digits: [UInt8] = [0]
        for byte in bytes {
            var carry = Int(isNegative ? ~byte : byte)
            for index in digits.indices {
                carry += Int(digits[index]) * 256
                digits[index] = UInt8(carry % 10)
                carry /= 10
            }
            while carry > 0 {
                digits.append(UInt8(carry % 10))
                carry /= 10
            }
        }
        if isNegative { increment(&digits) }
        while digits.count <= scale { digits.append(0) }
        guard digits.count <= AvroSchema.digitsMax + 1 else { return nil }
        let text = String(decoding: digits.reversed().map { $0 + UInt8(ascii: "0") }, as: UTF8.self)
        let point = scale > 0 ? "\(text.dropLast(scale)).\(text.suffix(scale))" : text
        return isNegative ? "-" + point : point
    }

    private static func increment(_ digits: inout [UInt8]) {
        for index in digits.indices {
            guard digits[index] == 9 else {
                digits[index] += 1
                return
            }
            digits[index] = 0
        }
        digits.append(1)
    }

    /// - Parameter bytes: 16 bytes.
    static func uuid(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        var digits: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { digits.append(UInt8(ascii: "-")) }
            digits.append(UInt8(hexDigitOf: byte >> 4))
            digits.append(UInt8(hexDigitOf: byte))
        }
        return String(decoding: digits, as: UTF8.self)
    }

    /// - Parameter bytes: months, days and milliseconds, each in four bytes, least significant first.
    static func duration(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        let parts = stride(from: 0, to: bytes.count, by: 4).map { start in
            bytes[start..<min(start + 4, bytes.count)].reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        guard parts.count == 3 else { return "" }
        return "P\(parts[0])M\(parts[1])DT\(parts[2] / 1_000).\(padded(parts[2] % 1_000, 3))S"
    }
}
