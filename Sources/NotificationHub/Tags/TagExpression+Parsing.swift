extension TagExpression {
    /// Reads an expression. `!` binds before `&&`, and `&&` before `||`.
    public init(parsing text: some StringProtocol) throws(TagExpressionProblem) {
        guard text.utf8.count <= Self.lengthMax else { throw TagExpressionProblem(.tooLong, position: 1) }
        var parser = Parser(bytes: Array(text.utf8))
        let root = try parser.expression(depth: 0)
        guard parser.next == nil else { throw parser.unexpected() }
        let limit = parser.hasOnlyOr ? Self.tagsMaxJoinedByOr : Self.tagsMax
        if parser.tagPositions.count > limit {
            throw TagExpressionProblem(
                parser.hasOnlyOr ? .tooManyTags : .tooManyMixedTags, position: parser.tagPositions[limit])
        }
        self.init(root)
    }

    /// A recursive-descent parser with one function per precedence. `depth` bounds the recursion.
    private struct Parser {
        let bytes: [UInt8]
        var index = 0
        var tagPositions: [Int] = []
        var hasOnlyOr = true

        /// The next byte that is not a blank.
        var next: UInt8? {
            mutating get {
                while index < bytes.count, bytes[index] == 0x20 || bytes[index] == 0x09 { index += 1 }
                return index < bytes.count ? bytes[index] : nil
            }
        }

        var position: Int { index + 1 }

        mutating func expression(depth: Int) throws(TagExpressionProblem) -> Node {
            var nodes = [try conjunction(depth: depth)]
            while try take(UInt8(ascii: "|")) { nodes.append(try conjunction(depth: depth)) }
            return nodes.count == 1 ? nodes[0] : .any(nodes)
        }

        mutating func conjunction(depth: Int) throws(TagExpressionProblem) -> Node {
            var nodes = [try operand(depth: depth)]
            while try take(UInt8(ascii: "&")) {
                hasOnlyOr = false
                nodes.append(try operand(depth: depth))
            }
            return nodes.count == 1 ? nodes[0] : .all(nodes)
        }

        mutating func operand(depth: Int) throws(TagExpressionProblem) -> Node {
            guard let byte = next else { throw TagExpressionProblem(.expectedTag, position: position) }
            switch byte {
            case UInt8(ascii: "!"):
                guard depth < depthMax else { throw TagExpressionProblem(.tooDeep, position: position) }
                index += 1
                hasOnlyOr = false
                return .not(try operand(depth: depth + 1))
            case UInt8(ascii: "("):
                guard depth < depthMax else { throw TagExpressionProblem(.tooDeep, position: position) }
                let opening = position
                index += 1
                let inner = try expression(depth: depth + 1)
                guard let close = next else { throw TagExpressionProblem(.unclosedParenthesis, position: opening) }
                guard close == UInt8(ascii: ")") else { throw unexpected() }
                index += 1
                return inner
            case UInt8(ascii: ")"), UInt8(ascii: "|"), UInt8(ascii: "&"):
                throw TagExpressionProblem(.expectedTag, position: position)
            default:
                return .tag(try tag())
            }
        }

        /// Consumes an operator of two equal marks.
        mutating func take(_ mark: UInt8) throws(TagExpressionProblem) -> Bool {
            guard next == mark else { return false }
            guard index + 1 < bytes.count, bytes[index + 1] == mark else {
                throw TagExpressionProblem(.singleMark, position: position)
            }
            index += 2
            return true
        }

        mutating func tag() throws(TagExpressionProblem) -> Tag {
            let start = index
            tagPositions.append(position)
            var end = start
            let kind: Tag.Kind = bytes[start] == UInt8(ascii: "$") ? .installation : .ordinary
            while end < bytes.count, Tag.accepts(bytes[end], in: kind) || "${}".utf8.contains(bytes[end]) { end += 1 }
            guard end > start else { throw unexpected() }
            index = end
            do { return try Tag(String(decoding: bytes[start..<end], as: UTF8.self)) } catch {
                throw TagExpressionProblem(.tag(error.kind), position: start + error.position)
            }
        }

        mutating func unexpected() -> TagExpressionProblem {
            switch next {
            case UInt8(ascii: ",")?: TagExpressionProblem(.comma, position: position)
            case UInt8(ascii: ")")?: TagExpressionProblem(.unopenedParenthesis, position: position)
            case UInt8(ascii: "(")?, UInt8(ascii: "!")?, UInt8(ascii: "$")?:
                TagExpressionProblem(.expectedOperator, position: position)
            case let byte? where Tag.accepts(byte, in: .ordinary):
                TagExpressionProblem(.expectedOperator, position: position)
            default: TagExpressionProblem(.tag(.character), position: position)
            }
        }
    }
}

/// The reason why a text is not a tag expression, with the position of the invalid character, counted from 1.
public struct TagExpressionProblem: Error, Sendable, Hashable {
    public var kind: Kind
    public var position: Int

    public enum Kind: Sendable, Hashable {
        case empty, tooLong, tooDeep, tooManyTags, tooManyMixedTags
        case expectedTag, expectedOperator, singleMark, comma, unclosedParenthesis, unopenedParenthesis
        case tag(TagProblem.Kind)
    }

    init(_ kind: Kind, position: Int) {
        self.kind = kind
        self.position = position
    }
}

extension TagExpressionProblem: CustomStringConvertible {
    public var description: String { "tag expression, character \(position): \(message)" }

    private var message: String {
        switch kind {
        case .empty: "there is no tag; the send would reach every device or none"
        case .tooLong: "longer than \(TagExpression.lengthMax) bytes; send to one coarser tag"
        case .tooDeep: "nested more than \(TagExpression.depthMax) deep; drop needless parentheses and '!'"
        case .tooManyTags: "more than \(TagExpression.tagsMaxJoinedByOr) tags; send to one coarser tag"
        case .tooManyMixedTags:
            "more than \(TagExpression.tagsMax) tags, the most a hub takes with '&&' or '!'; send to coarser tags"
        case .expectedTag: "a tag, '!' or '(' is missing here"
        case .expectedOperator: "'&&' or '||' is missing between two tags"
        case .singleMark: "write '&&' or '||' with two characters"
        case .comma: "',' joins nothing; write '||' for either tag"
        case .unclosedParenthesis: "this '(' is never closed"
        case .unopenedParenthesis: "this ')' was never opened"
        case .tag(let kind): kind.message
        }
    }
}
