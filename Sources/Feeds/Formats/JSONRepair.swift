import ByteText

/// Repairs JSON that one wrong character makes unreadable.
enum JSONRepair {
    /// Replaces each control character by a blank, and each lone half of a surrogate pair by U+FFFD. Returns `nil` if
    /// the text has neither.
    static func repaired(_ text: [UInt8]) -> [UInt8]? {
        var repaired = text
        var at = 0
        while at < repaired.count {
            if repaired[at] == UInt8(ascii: "\\") {
                at = repairEscape(&repaired, at)
            } else {
                // A line break between two members may become a blank as well.
                if repaired[at] < 0x20 { repaired[at] = 0x20 }
                at += 1
            }
        }
        return repaired == text ? nil : repaired
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
