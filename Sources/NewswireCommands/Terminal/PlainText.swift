extension StringProtocol {
    /// The text on one line and without control characters. Text from outside must not move the cursor or change the order in
    /// which the rest of the line is read.
    package var plain: String {
        String(map { $0.isNewline || $0 == "\t" ? " " : $0 }.filter { !$0.isControl }).escapingHidden
    }
}

extension String {
    /// The text with JSON escapes for characters that change how the text around them is shown. These are C1 controls, line and
    /// paragraph separators, and marks of writing direction. U+202E, for example, makes `txt.exe` of `exe.txt`.
    ///
    /// In JSON such a character occurs only inside a string, where the escape means the same.
    package var escapingHidden: String {
        // In UTF-8, all of these characters begin with one of these three bytes, which few texts contain.
        guard utf8.contains(where: { $0 == 0xC2 || $0 == 0xD8 || $0 == 0xE2 }),
            unicodeScalars.contains(where: \.isHidden)
        else {
            return self
        }
        var escaped = ""
        for scalar in unicodeScalars {
            if scalar.isHidden {
                let digits = String(scalar.value, radix: 16)
                escaped += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            } else {
                escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}

extension Unicode.Scalar {
    fileprivate var isHidden: Bool {
        switch value {
        case 0x80...0x9F, 0x061C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}

extension Character {
    fileprivate var isControl: Bool {
        unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
}
