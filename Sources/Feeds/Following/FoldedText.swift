import ByteText

/// Texts brought into a form in which equal means equal to a reader.
enum FoldedText {
    /// Runs of white space become one space; case stays.
    static func whitespace(_ text: String) -> String {
        var folded = ""
        folded.reserveCapacity(text.utf8.count)
        var isPending = false
        for scalar in text.unicodeScalars {
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

    /// Letters and digits in lower case, words separated by one space: the same headline in two feeds.
    static func headline(_ text: String) -> String {
        var folded = ""
        var isPending = false
        for scalar in text.unicodeScalars {
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
}
