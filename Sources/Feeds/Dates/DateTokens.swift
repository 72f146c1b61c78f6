import ByteText

/// The parts of a date's text: numbers, words and single marks.
struct DateTokens {
    enum Token: Equatable {
        case number(Int, digits: Int)
        /// Words are in lower case.
        case word(String)
        case mark(UInt8)
    }

    /// More tokens than any date has. The limit bounds the time spent on a text.
    private static let countMax = 32
    /// No number in a date has more digits. All of these fit into 64 bits.
    private static let digitsMax = 18

    private var tokens: [(token: Token, isAfterSpace: Bool)] = []
    private(set) var position = 0

    /// - Returns: `nil` for text with more tokens, or longer numbers, than a date has.
    init?(_ text: UnsafeBufferPointer<UInt8>) {
        var index = 0
        var isAfterSpace = false
        while index < text.count {
            let start = index
            let byte = text[index]
            index += 1
            if byte <= 0x20 {
                isAfterSpace = true
                continue
            }
            let token: Token
            if byte.isASCIIDigit {
                while index < text.count, text[index].isASCIIDigit { index += 1 }
                guard index - start <= Self.digitsMax else { return nil }
                var digits = DigitReader(UnsafeBufferPointer(rebasing: text[start..<index]))
                guard let number = digits.number(digits: index - start) else { return nil }
                token = .number(number, digits: index - start)
            } else if Self.isLetter(byte) {
                while index < text.count, Self.isLetter(text[index]) { index += 1 }
                token = .word(String(decoding: text[start..<index], as: UTF8.self).lowercased())
            } else {
                token = .mark(byte)
            }
            guard tokens.count < Self.countMax else { return nil }
            tokens.append((token, isAfterSpace))
            isAfterSpace = false
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { byte.isASCIILetter || byte >= 0x80 }

    func peek(_ ahead: Int = 0) -> Token? {
        position + ahead < tokens.count ? tokens[position + ahead].token : nil
    }

    /// Returns true if white space precedes the token.
    func isAfterSpace(_ ahead: Int = 0) -> Bool {
        position + ahead < tokens.count && tokens[position + ahead].isAfterSpace
    }

    mutating func advance() { position += 1 }

    mutating func skip(_ mark: Unicode.Scalar) -> Bool {
        guard isMark(mark) else { return false }
        position += 1
        return true
    }

    func isMark(_ mark: Unicode.Scalar, _ ahead: Int = 0) -> Bool { peek(ahead) == .mark(UInt8(ascii: mark)) }

    /// Reads a number if its count of digits is in the range.
    mutating func number(_ digits: ClosedRange<Int>) -> (value: Int, digits: Int)? {
        guard case .number(let value, let count)? = peek(), digits.contains(count) else { return nil }
        position += 1
        return (value, count)
    }

    mutating func word() -> String? {
        guard case .word(let word)? = peek() else { return nil }
        position += 1
        return word
    }
}
