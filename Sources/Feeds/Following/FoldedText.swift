import ByteText

/// Normal forms of texts, which are equal if readers see the same text.
enum FoldedText {
    /// Replaces each run of white space by one space. Keeps case.
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

    /// Keeps letters and digits, in lower case, with one space between words, so that a headline is equal in two feeds.
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
