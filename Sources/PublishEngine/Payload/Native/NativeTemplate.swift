import ByteText
import NotificationHub

/// A body as tokens, so that building it is one walk that parses nothing.
///
/// An object, because every event uses it, and copying its arrays would count a reference for each.
final class NativeTemplate: Sendable {
    enum Token: Sendable {
        /// The bytes in this range of the literals.
        case literal(Range<Int>)
        /// These bytes, which begin with a comma. After an opening bracket the comma is left out.
        case member(Range<Int>)
        /// The value with this index, escaped.
        case value(Int, Place)
        /// Skips this number of tokens unless the event has one of these values.
        case skip(unless: UInt64, Int)
    }

    /// The place of a value, which decides how it is escaped.
    enum Place: Sendable {
        case json, xmlText, xmlAttribute
        /// A number of our own.
        case bare
    }

    enum Value: Sendable {
        case variable(MessageVariable)
        /// A text that only the Mustache library can render.
        case rendered(MessageTemplate)
    }

    /// The most values of a body, because a bit stands for each.
    static let valuesMax = 64

    let literals: [UInt8]
    let tokens: [Token]
    let values: [Value]
    let syntax: PlatformFacts.Syntax
    /// The indices of the values that are shortened if the body is too large.
    let texts: [Int]

    init(literals: [UInt8], tokens: [Token], values: [Value], syntax: PlatformFacts.Syntax) {
        self.literals = literals
        self.tokens = tokens
        self.values = values
        self.syntax = syntax
        texts = values.indices.filter { !values[$0].cuts.isDisjoint(with: [.title, .summary, .message]) }
    }

    /// - Parameters:
    ///   - texts: a text for each of `values`; an empty one is absent.
    ///   - textsMax: the most bytes of all texts before escaping.
    /// - Returns: `nil` for longer texts.
    func body(_ texts: [String], textsMax: Int = .max) -> [UInt8]? {
        var present: UInt64 = 0
        var length = 0
        for index in texts.indices where !texts[index].isEmpty {
            present |= 1 << UInt64(index)
            length += texts[index].utf8.count
        }
        guard length <= textsMax else { return nil }
        var body: [UInt8] = []
        body.reserveCapacity(literals.count + length + 64)
        literals.withUnsafeBufferPointer { literals in
            var next = 0
            while next < tokens.count {
                switch tokens[next] {
                case .literal(let range):
                    body.append(contentsOf: UnsafeBufferPointer(rebasing: literals[range]))
                case .member(let range):
                    let isFirst = body.last == UInt8(ascii: "{") || body.last == UInt8(ascii: "[")
                    body.append(
                        contentsOf: UnsafeBufferPointer(rebasing: literals[isFirst ? range.dropFirst() : range]))
                case .value(let index, let place): Self.append(texts[index], in: place, to: &body)
                case .skip(let needed, let count): if present & needed == 0 { next += count }
                }
                next += 1
            }
        }
        return body
    }

    private static func append(_ text: String, in place: Place, to body: inout [UInt8]) {
        switch place {
        case .json: text.withBytes { JSONEscaping.escape($0) { body.append(contentsOf: $0) } }
        case .xmlText: XMLText.append(text, in: .content, unwritable: .leftOut, to: &body)
        case .xmlAttribute: XMLText.append(text, in: .attribute, unwritable: .leftOut, to: &body)
        case .bare: body.append(contentsOf: text.utf8)
        }
    }
}

extension NativeTemplate.Value {
    /// The parts that are missing from the payload if this value is left out or shortened.
    var cuts: PayloadCuts {
        switch self {
        case .variable(let variable): variable.cut
        // Which variables a section shows depends on the event.
        case .rendered: .message
        }
    }
}

extension MessageVariable {
    /// The name in results for a value that was left out or shortened.
    var cut: PayloadCuts {
        switch self {
        case .field(.headline): .title
        case .field(.summary): .summary
        case .field(.link): .link
        case .field(.category), .payload(.categories), .payload(.categorySlug): .category
        case .field: .id
        case .data: .data
        case .payload(.message): .message
        case .payload(.image): .image
        case .payload: []
        }
    }
}
