import ByteText

extension TemplateExpression {
    /// Property names have at most this many characters.
    static let nameLengthMax = 120

    /// - Returns: `nil` if the value is a literal.
    static func parse(_ value: String) throws(TemplateProblem) -> TemplateExpression? {
        switch value.utf8.first {
        case UInt8(ascii: "$"), UInt8(ascii: "."), UInt8(ascii: "%"), UInt8(ascii: "#"): break
        case UInt8(ascii: "{"):
            let trimmed = value.trimmed
            guard trimmed.hasSuffix("}") else {
                throw TemplateProblem("the expression '\(value.prefix(80))' has no '}'")
            }
            return try read(trimmed.dropFirst().dropLast().trimmed, of: value)
        default: return nil
        }
        return try read(value.trimmed, of: value)
    }

    private static func read(_ inner: Substring, of value: String) throws(TemplateProblem) -> TemplateExpression {
        var parser = Parser(bytes: Array(inner.utf8), whole: value)
        return TemplateExpression(parts: try parser.parts())
    }

    private struct Parser {
        let bytes: [UInt8]
        let whole: String
        var position = 0

        var byte: UInt8? { position < bytes.count ? bytes[position] : nil }

        func problem(_ what: String) -> TemplateProblem {
            TemplateProblem("the expression '\(whole.prefix(80))' \(what)")
        }

        mutating func skipBlanks() {
            while let byte, byte == 32 || 9...13 ~= byte { position += 1 }
        }

        mutating func parts() throws(TemplateProblem) -> [Part] {
            var parts: [Part] = []
            while true {
                skipBlanks()
                // The service's validator needs three characters at the start of a token, so it refuses a final ''.
                guard bytes.count - position >= 3 else { throw problem("ends where a token is expected") }
                parts.append(try part())
                skipBlanks()
                guard let byte else { break }
                guard byte == UInt8(ascii: "+") else { throw problem("needs a '+' between its tokens") }
                position += 1
            }
            let hasNumber = parts.contains { part in
                if case .property(let property) = part { property.form == .number } else { false }
            }
            if hasNumber, parts.count > 1 { throw problem("combines '#(…)' with other tokens") }
            return parts
        }

        private mutating func part() throws(TemplateProblem) -> Part {
            guard let mark = byte else { throw problem("ends where a token is expected") }
            position += 1
            switch mark {
            case UInt8(ascii: "'"), UInt8(ascii: "\""): return .literal(try quoted(by: mark))
            case UInt8(ascii: "$"), UInt8(ascii: "."), UInt8(ascii: "%"), UInt8(ascii: "#"):
                guard byte == UInt8(ascii: "(") else { throw problem("has a '\(Unicode.Scalar(mark))' without '('") }
                position += 1
                return .property(try property(mark))
            default: throw problem("has a token that starts with '\(Unicode.Scalar(mark))'")
            }
        }

        /// Reads the text up to the closing quote. A doubled quote stands for one.
        private mutating func quoted(by quote: UInt8) throws(TemplateProblem) -> String {
            var text: [UInt8] = []
            while let byte {
                position += 1
                if byte == quote {
                    guard self.byte == quote else { return String(decoding: text, as: UTF8.self) }
                    position += 1
                }
                text.append(byte)
            }
            throw problem("has a quote that is never closed")
        }

        private mutating func property(_ mark: UInt8) throws(TemplateProblem) -> Property {
            let start = position
            while let byte, byte != UInt8(ascii: ":"), byte != UInt8(ascii: ","), byte != UInt8(ascii: ")") {
                position += 1
            }
            let name = String(decoding: bytes[start..<position], as: UTF8.self).trimmed.lowercased()
            let isLegal = name.utf8.allSatisfy { 48...57 ~= $0 || 97...122 ~= $0 || $0 == UInt8(ascii: "_") }
            guard !name.isEmpty, name.utf8.count <= nameLengthMax, isLegal else {
                throw problem("has an invalid property name")
            }
            let fallback = try fallback()
            skipBlanks()
            let length = try length()
            guard byte == UInt8(ascii: ")") else { throw problem("has a '(' that is never closed") }
            position += 1
            return Property(name: name, fallback: fallback, form: try form(mark, length))
        }

        private func form(_ mark: UInt8, _ length: Int?) throws(TemplateProblem) -> Form {
            switch (mark, length) {
            case (UInt8(ascii: "$"), nil): return .whole
            case (UInt8(ascii: "$"), let length?): return .clipped(length)
            case (UInt8(ascii: "."), let length?): return .dotted(length)
            case (UInt8(ascii: "%"), nil): return .percentEncoded
            case (UInt8(ascii: "#"), nil): return .number
            case (UInt8(ascii: "."), nil): throw problem("needs a length in '.(…,n)'")
            default: throw problem("must not have a length in '\(Unicode.Scalar(mark))(…)'")
            }
        }

        /// Reads `:{text}`. A backslash makes the next character literal.
        private mutating func fallback() throws(TemplateProblem) -> String? {
            guard byte == UInt8(ascii: ":") else { return nil }
            position += 1
            guard byte == UInt8(ascii: "{") else { throw problem("has a ':' without '{'") }
            position += 1
            var text: [UInt8] = []
            while let byte {
                position += 1
                if byte == UInt8(ascii: "}") { return String(decoding: text, as: UTF8.self) }
                if byte == UInt8(ascii: "\\"), let next = self.byte {
                    position += 1
                    text.append(next)
                } else {
                    text.append(byte)
                }
            }
            throw problem("has a default that is never closed")
        }

        private mutating func length() throws(TemplateProblem) -> Int? {
            guard byte == UInt8(ascii: ",") else { return nil }
            position += 1
            let start = position
            while let byte, byte != UInt8(ascii: ")") { position += 1 }
            let text = String(decoding: bytes[start..<position], as: UTF8.self).trimmed
            guard let number = Int(text), number >= 0, text.utf8.first != UInt8(ascii: "+") else {
                throw problem("has a length that is not a whole number")
            }
            return number
        }
    }
}

/// The reason why a template was refused.
struct TemplateProblem: Error, Sendable, Hashable {
    var message: String

    init(_ message: String) { self.message = message }
}
