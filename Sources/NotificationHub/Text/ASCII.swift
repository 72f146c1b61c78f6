extension UInt8 {
    var isASCIILetter: Bool { (0x61...0x7A).contains(self | 0x20) }

    var isASCIIDigit: Bool { (0x30...0x39).contains(self) }

    /// The byte with A…Z made a…z and everything else left alone.
    var asciiLowercased: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }

    /// The value of a hexadecimal digit of either case.
    var hexDigitValue: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x41 + 10
        case 0x61...0x66: self - 0x61 + 10
        default: nil
        }
    }

}

extension StringProtocol {
    /// Protocol words compare by ASCII letters only; Unicode folding would make the Kelvin sign a `k`.
    func equalsIgnoringASCIICase(_ other: some StringProtocol) -> Bool {
        utf8.elementsEqual(other.utf8) { $0.asciiLowercased == $1.asciiLowercased }
    }

    var asciiLowercased: String {
        String(decoding: utf8.map(\.asciiLowercased), as: UTF8.self)
    }

    /// Without spaces, tabs and line breaks at either end.
    var trimmed: SubSequence {
        guard let first = indices.first(where: { !self[$0].isWhitespace }),
            let last = indices.last(where: { !self[$0].isWhitespace })
        else { return self[endIndex...] }
        return self[first...last]
    }
}
