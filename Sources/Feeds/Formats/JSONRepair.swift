import ByteText

/// Repairs JSON that one wrong character or one huge number makes unreadable.
enum JSONRepair {
    /// Replaces each control character by a blank and each lone half of a surrogate pair by U+FFFD, and puts quotation
    /// marks around numbers that are out of range. Returns `nil` if the text needs no repair.
    static func repaired(_ text: [UInt8]) -> [UInt8]? {
        var repaired: [UInt8] = []
        repaired.reserveCapacity(text.count)
        var bytes = text
        var isInText = false
        var at = 0
        while at < bytes.count {
            let start = at
            switch bytes[at] {
            case UInt8(ascii: "\\"):
                at = min(repairEscape(&bytes, at), bytes.count)
            // `where` belongs to the last pattern only, so each has its own.
            case UInt8(ascii: "-") where !isInText, UInt8(ascii: "0")...UInt8(ascii: "9") where !isInText:
                at = bytes[at...].firstIndex { !isNumberByte($0) } ?? bytes.count
                if isOutOfRange(bytes[start..<at]) {
                    repaired += [UInt8(ascii: "\"")] + bytes[start..<at] + [UInt8(ascii: "\"")]
                    continue
                }
            case let byte:
                if byte == UInt8(ascii: "\"") { isInText.toggle() }
                // A line break between two members may become a blank as well.
                if byte < 0x20 { bytes[at] = 0x20 }
                at += 1
            }
            repaired += bytes[start..<at]
        }
        return repaired == text ? nil : repaired
    }

    private static func isNumberByte(_ byte: UInt8) -> Bool { byte.isASCIIDigit || "+-.eE".utf8.contains(byte) }

    /// Returns true if the number is neither a 64-bit integer nor a finite floating-point number.
    private static func isOutOfRange(_ number: ArraySlice<UInt8>) -> Bool {
        let text = String(decoding: number, as: UTF8.self)
        let digits = number.first == UInt8(ascii: "-") ? number.dropFirst() : number
        if digits.allSatisfy(\.isASCIIDigit) { return Int64(text) == nil && UInt64(text) == nil }
        return Double(text).map { !$0.isFinite } ?? false
    }

    /// - Returns: the index after the escape.
    private static func repairEscape(_ text: inout [UInt8], _ at: Int) -> Int {
        guard let unit = unit(text, at) else { return at + 2 }
        if UTF16.isLeadSurrogate(unit), let next = self.unit(text, at + 6), UTF16.isTrailSurrogate(next) {
            return at + 12
        }
        if UTF16.isLeadSurrogate(unit) || UTF16.isTrailSurrogate(unit) {
            for (place, digit) in zip(at + 2..<at + 6, "FFFD".utf8) { text[place] = digit }
        }
        return at + 6
    }

    /// The UTF-16 unit that `\uXXXX` encodes.
    private static func unit(_ text: [UInt8], _ at: Int) -> UInt16? {
        guard at + 6 <= text.count, text[at] == UInt8(ascii: "\\"), text[at + 1] == UInt8(ascii: "u") else {
            return nil
        }
        var unit: UInt16 = 0
        for byte in text[at + 2..<at + 6] {
            guard let digit = byte.hexDigitValue else { return nil }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }
}
