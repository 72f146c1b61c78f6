/// Cuts text between characters as readers see them: never inside an emoji family or before an accent.
enum TextCut {
    static let ellipsis = "…"

    /// The text itself if it costs at most `room`; otherwise its longest beginning that fits with an ellipsis.
    ///
    /// - Parameters:
    ///   - room: the highest cost of the result. Below the ellipsis' own cost the result is empty.
    ///   - cost: the cost of one scalar once encoded, in the unit of `room`.
    static func cut(_ text: String, to room: Int, cost: (Unicode.Scalar) -> Int) -> String {
        let markCost = ellipsis.unicodeScalars.reduce(0) { $0 + cost($1) }
        var spent = 0
        var end = text.startIndex
        for index in text.indices {
            for scalar in text[index].unicodeScalars { spent += cost(scalar) }
            if spent > room {
                guard markCost <= room else { return "" }
                // A single character may be too large if many marks are piled up on it.
                let kept = end == text.startIndex ? scalars(text, to: room - markCost, cost: cost) : text[..<end]
                return trimmed(kept) + ellipsis
            }
            if spent + markCost <= room { end = text.index(after: index) }
        }
        return text
    }

    private static func scalars(_ text: String, to room: Int, cost: (Unicode.Scalar) -> Int) -> Substring {
        var spent = 0
        var end = text.endIndex
        for index in text.unicodeScalars.indices {
            spent += cost(text.unicodeScalars[index])
            if spent > room { end = index; break }
        }
        let kept = text.unicodeScalars[..<end]
        // A joiner would tie the ellipsis to the text before it.
        return Substring(kept.last == "\u{200D}" ? kept.dropLast() : kept)
    }

    /// Removes white space before the ellipsis.
    private static func trimmed(_ text: Substring) -> Substring {
        guard let last = text.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return text[...last]
    }

    /// At most 40 characters of a text from outside, on one line, to be quoted in a message for people.
    static func excerpt(_ text: String) -> String {
        let visible = text.unicodeScalars.prefix(400).map { scalar in
            scalar.properties.generalCategory == .control ? " " : Character(scalar)
        }
        let line = String(visible)
        return line.count > 40 ? line.prefix(39) + ellipsis : line
    }
}
