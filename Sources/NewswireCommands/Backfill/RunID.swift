import ByteText
package import NewsModel

/// The name of a run of `publish`. Events carry it in the header `nw-run`, and their results repeat it.
package struct RunID: Sendable, Hashable, CustomStringConvertible {
    package let text: String

    package var description: String { text }

    /// Maximum length in bytes. Results do not carry longer names.
    static let lengthMax = 64
    static let rule = "1 to \(lengthMax) letters, digits, '.', '_' or '-'"

    /// - Returns: `nil` for a text that would need quotes on a command line or in a file name.
    package init?(_ text: String) {
        guard (1...Self.lengthMax).contains(text.utf8.count),
            text.utf8.allSatisfy({ $0.isASCIILetter || $0.isASCIIDigit || "._-".utf8.contains($0) })
        else { return nil }
        self.text = text
    }

    /// Creates a unique name from the second in which the run began and a random number.
    package init(begunAt wall: Instant, chance: UInt32) {
        let second = Instant(milliseconds: wall.milliseconds / 1_000 * 1_000).description
        let digits = second.filter { $0.isASCII && $0.isNumber }.prefix(14)
        let tail = String(chance, radix: 16)
        text = "\(digits.prefix(8))-\(digits.dropFirst(8))-\(String(repeating: "0", count: 8 - tail.count))\(tail)"
    }
}
