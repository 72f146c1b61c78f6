extension UInt8 {
    @inlinable
    public var isASCIILetter: Bool { (0x61...0x7A).contains(self | 0x20) }

    @inlinable
    public var isASCIIDigit: Bool { (0x30...0x39).contains(self) }

    /// The byte with A…Z made a…z and everything else left alone.
    @inlinable
    public var asciiLowercased: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }

    /// The value of a hexadecimal digit in either case.
    @inlinable
    public var hexDigitValue: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x41 + 10
        case 0x61...0x66: self - 0x61 + 10
        default: nil
        }
    }

    /// The lower-case hexadecimal digit for the four low bits of a number.
    @inlinable
    public init(hexDigitOf number: some BinaryInteger) {
        let nibble = UInt8(truncatingIfNeeded: number) & 0xF
        self = nibble < 10 ? 0x30 + nibble : 0x61 - 10 + nibble
    }
}

extension Sequence<UInt8> {
    /// Two lower-case hexadecimal digits for each byte.
    public var hexadecimal: String {
        String(decoding: flatMap { [UInt8(hexDigitOf: $0 >> 4), UInt8(hexDigitOf: $0)] }, as: UTF8.self)
    }
}

extension UInt64 {
    /// 16 lower-case hexadecimal digits.
    public var hexDigits: String {
        String(unsafeUninitializedCapacity: 16) { $0.baseAddress.map(writeHexDigits) ?? 0 }
    }

    /// Writes `hexDigits`.
    /// - Returns: how many, 16.
    @inlinable
    public func writeHexDigits(to digits: UnsafeMutablePointer<UInt8>) -> Int {
        for place in 0..<16 { digits[place] = UInt8(hexDigitOf: self >> UInt64(60 - 4 * place)) }
        return 16
    }
}

extension StringProtocol {
    /// Protocol words compare by ASCII letters only; Unicode folding would make the Kelvin sign a `k`.
    @inlinable
    public func equalsIgnoringASCIICase(_ other: some StringProtocol) -> Bool {
        utf8.elementsEqual(other.utf8) { $0.asciiLowercased == $1.asciiLowercased }
    }

    @inlinable
    public func hasPrefixIgnoringASCIICase(_ prefix: some StringProtocol) -> Bool {
        utf8.starts(with: prefix.utf8) { $0.asciiLowercased == $1.asciiLowercased }
    }

    @inlinable
    public var asciiLowercased: String {
        String(decoding: utf8.map { $0.asciiLowercased }, as: UTF8.self)
    }

    /// The text without white space at either end.
    @inlinable
    public var trimmed: SubSequence {
        let isVisible = { (scalar: Unicode.Scalar) in
            scalar.isASCII ? scalar != " " && !("\t"..."\r").contains(scalar) : !scalar.properties.isWhitespace
        }
        guard let first = unicodeScalars.firstIndex(where: isVisible),
            let last = unicodeScalars.lastIndex(where: isVisible)
        else { return self[endIndex...] }
        return self[first..<unicodeScalars.index(after: last)]
    }
}
