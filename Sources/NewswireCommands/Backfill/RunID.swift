import ByteText
package import NewsModel

/// The name of a run of `publish`, which stands in the header `nw-run` of its events and in their results.
package struct RunID: Sendable, Hashable, CustomStringConvertible {
    package let text: String

    package var description: String { text }

    /// In bytes; results carry no longer one.
    static let lengthMax = 64
    static let rule = "1 to \(lengthMax) letters, digits, '.', '_' or '-'"

    /// - Returns: `nil` for a text that a command line or a file name could not hold without quotes.
    package init?(_ text: String) {
        guard (1...Self.lengthMax).contains(text.utf8.count),
            text.utf8.allSatisfy({ $0.isASCIILetter || $0.isASCIIDigit || "._-".utf8.contains($0) })
        else { return nil }
        self.text = text
    }

    /// One that nobody else has: the second it began in, and chance.
    package init(begunAt wall: Instant, chance: UInt32) {
        let second = Instant(milliseconds: wall.milliseconds / 1_000 * 1_000).description
        let digits = second.filter { $0.isASCII && $0.isNumber }.prefix(14)
        let tail = String(chance, radix: 16)
        text = "\(digits.prefix(8))-\(digits.dropFirst(8))-\(String(repeating: "0", count: 8 - tail.count))\(tail)"
    }
}
