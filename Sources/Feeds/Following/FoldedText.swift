import ByteText
// The standard library keeps its normal forms of Unicode for Foundation, which pure modules do not import.
@_spi(_Unicode) import Swift

/// Normal forms of texts, which are equal if readers see the same text.
enum FoldedText {
    /// Replaces each run of white space by one space, and composes characters. Keeps case.
    static func whitespace(_ text: String) -> String {
        if text.withBytes(isFolded) { return text }
        var folded = ""
        folded.reserveCapacity(text.utf8.count)
        var isPending = false
        for scalar in text._nfc {
            if scalar.properties.isWhitespace {
                isPending = !folded.isEmpty
            } else {
                if isPending { folded.unicodeScalars.append(" ") }
                isPending = false
                folded.unicodeScalars.append(scalar)
            }
        }
        return folded
    }

    /// Returns true for ASCII without white space other than single spaces between words.
    private static func isFolded(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var previous = UInt8(ascii: " ")
        for byte in bytes {
            guard byte < 0x80, !(0x09...0x0D).contains(byte), byte != 0x20 || previous != 0x20 else { return false }
            previous = byte
        }
        return bytes.isEmpty || previous != 0x20
    }

    /// Keeps letters and digits, in lower case, with one space between words, so that a headline is equal in two feeds.
    static func headline(_ text: String) -> String {
        if let folded = text.withBytes(asciiHeadline) { return folded }
        var folded = ""
        var isPending = false
        for scalar in text._nfc {
            let properties = scalar.properties
            if properties.isAlphabetic || properties.numericType != nil {
                if isPending { folded.unicodeScalars.append(" ") }
                isPending = false
                folded.unicodeScalars.append(contentsOf: properties.lowercaseMapping.unicodeScalars)
            } else {
                isPending = !folded.isEmpty
            }
        }
        return folded
    }

    /// - Returns: `nil` for a text that is not ASCII.
    private static func asciiHeadline(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
        guard bytes.allSatisfy({ $0 < 0x80 }) else { return nil }
        return String(unsafeUninitializedCapacity: bytes.count) { folded in
            var count = 0
            var isPending = false
            for byte in bytes {
                if byte.isASCIILetter || byte.isASCIIDigit {
                    if isPending {
                        folded[count] = UInt8(ascii: " ")
                        count += 1
                    }
                    isPending = false
                    folded[count] = byte.asciiLowercased
                    count += 1
                } else {
                    isPending = count > 0
                }
            }
            return count
        }
    }
}
