import ByteText
import NotificationHub

/// Compiles a JSON tree or an XML element into tokens.
struct NativeCompiler {
    /// One part of a text.
    private enum Piece {
        case text(String)
        case value(Int)
    }

    private static let depthMax = 32

    private var literals: [UInt8] = []
    private var tokens: [NativeTemplate.Token] = []
    private var values: [NativeTemplate.Value] = []
    private var known: [MessageVariable: Int] = [:]
    private var problems: [PayloadProblem] = []
    /// The last token is a literal that may grow. False where a skip may end.
    private var canGrow = false
    /// The setting in which a member of the body stands.
    private let setting: ([String]) -> [String]

    init(setting: @escaping ([String]) -> [String]) { self.setting = setting }

    mutating func template(_ tree: JSONTree) throws(PayloadProblems) -> NativeTemplate {
        write(node(tree, at: []))
        return try finish(.json)
    }

    mutating func template(_ root: XMLElement) throws(PayloadProblems) -> NativeTemplate {
        write(element(root))
        return try finish(.xml)
    }

    private mutating func finish(_ syntax: PlatformFacts.Syntax) throws(PayloadProblems) -> NativeTemplate {
        if values.count > NativeTemplate.valuesMax {
            report([], "names more than \(NativeTemplate.valuesMax) variables", "leave some out")
        }
        guard problems.isEmpty else { throw PayloadProblems(problems) }
        return NativeTemplate(literals: literals, tokens: tokens, values: values, syntax: syntax)
    }

    private mutating func report(_ member: [String], _ message: String, _ remedy: String) {
        problems.append(PayloadProblem(path: setting(member), message: message, remedy: remedy))
    }

    // MARK: Texts

    private mutating func pieces(_ text: String, at member: [String]) -> [Piece] {
        guard text.contains("{{") else { return [.text(text)] }
        do throws(PayloadProblems) {
            let template = try MessageTemplate(text, path: setting(member), isInPayload: true)
            guard let segments = template.segments else {
                values.append(.rendered(template))
                return [.value(values.count - 1)]
            }
            return segments.map { segment in
                switch segment {
                case .text(let text): .text(text)
                case .variable(let variable): .value(index(of: variable))
                }
            }
        } catch {
            problems += error.all
            return []
        }
    }

    private mutating func index(of variable: MessageVariable) -> Int {
        if let index = known[variable] { return index }
        values.append(.variable(variable))
        known[variable] = values.count - 1
        return values.count - 1
    }

    /// The value without which the text is left out: that of a text that is exactly one variable.
    private func need(of pieces: [Piece]) -> UInt64 {
        guard pieces.count == 1, case .value(let index) = pieces[0], case .variable = values[index] else { return 0 }
        // Too many values are a problem of their own.
        return 1 << UInt64(min(index, NativeTemplate.valuesMax - 1))
    }

    // MARK: Tokens

    private mutating func write(_ bytes: some Collection<UInt8>, isMember: Bool = false) {
        let start = literals.count
        literals += bytes
        if isMember {
            tokens.append(.member(start..<literals.count))
            canGrow = false
        } else if canGrow, case .literal(let range)? = tokens.last {
            tokens[tokens.count - 1] = .literal(range.lowerBound..<literals.count)
        } else {
            tokens.append(.literal(start..<literals.count))
            canGrow = true
        }
    }

    private mutating func write(_ pieces: [Piece], in place: NativeTemplate.Place) {
        for piece in pieces {
            switch piece {
            case .value(let index):
                tokens.append(.value(index, place))
                canGrow = false
            case .text(let text):
                var bytes: [UInt8] = []
                switch place {
                case .json: text.withBytes { JSONEscaping.escape($0) { bytes.append(contentsOf: $0) } }
                case .xmlText: XMLText.append(text, in: .content, unwritable: .leftOut, to: &bytes)
                case .xmlAttribute: XMLText.append(text, in: .attribute, unwritable: .leftOut, to: &bytes)
                case .bare: bytes = Array(text.utf8)
                }
                write(bytes)
            }
        }
    }

    /// Writes tokens that are skipped unless the event has one of the needed values; always for 0.
    private mutating func write(ifAny needed: UInt64, _ body: (inout Self) -> Void) {
        guard needed != 0 else { return body(&self) }
        let skip = tokens.count
        tokens.append(.skip(unless: needed, 0))
        canGrow = false
        body(&self)
        tokens[skip] = .skip(unless: needed, tokens.count - skip - 1)
        canGrow = false
    }
}

// MARK: - JSON

extension NativeCompiler {
    private indirect enum Node {
        case fixed([UInt8])
        case text([Piece], need: UInt64, isNumber: Bool)
        case object([(name: String, node: Node)])
        case array([Node])

        /// The values of which the node needs one; 0 if it is always written.
        var need: UInt64 {
            switch self {
            case .fixed: 0
            case .text(_, let need, _): need
            case .object(let members): Self.need(of: members.map(\.node))
            case .array(let nodes): Self.need(of: nodes)
            }
        }

        private static func need(of nodes: [Node]) -> UInt64 {
            let needs = nodes.map(\.need)
            return needs.contains(0) ? 0 : needs.reduce(0, |)
        }
    }

    private mutating func node(_ tree: JSONTree, at path: [String]) -> Node {
        guard path.count <= Self.depthMax else {
            report(path, "is nested deeper than \(Self.depthMax)", "write a flatter payload")
            return .fixed([])
        }
        switch tree {
        case .null, .bool: return .fixed(tree.bytes)
        case .number(let text):
            // Only Newswire's own members have variables as numbers.
            let pieces = pieces(text, at: path)
            return .text(pieces, need: 0, isNumber: true)
        case .string(let text):
            let pieces = pieces(text, at: path)
            return .text(pieces, need: need(of: pieces), isNumber: false)
        case .array(let values):
            return .array(values.enumerated().map { node($0.element, at: path + ["\($0.offset + 1)"]) })
        case .object(let members):
            var names: Set<String> = []
            return .object(
                members.map { member in
                    let path = path + [member.name]
                    if member.name.contains("{{") {
                        report(path, "a variable cannot be the name of a member", "write the name itself")
                    }
                    if !names.insert(member.name).inserted {
                        report(path, "is written twice", "keep one of the two")
                    }
                    return (member.name, node(member.value, at: path))
                })
        }
    }

    private mutating func write(_ node: Node) {
        switch node {
        case .fixed(let bytes): write(bytes)
        case .text(let pieces, _, let isNumber):
            if !isNumber { write(CollectionOfOne(UInt8(ascii: "\""))) }
            write(pieces, in: isNumber ? .bare : .json)
            if !isNumber { write(CollectionOfOne(UInt8(ascii: "\""))) }
        case .array(let nodes): write(nodes.map { (nil, $0) }, in: "[", "]")
        case .object(let members): write(members.map { ($0.name, $0.node) }, in: "{", "}")
        }
    }

    private mutating func write(_ members: [(name: String?, node: Node)], in open: String, _ close: String) {
        write(open.utf8)
        // True once a member is written for every event, so that the next one needs its comma.
        var isCertain = false
        for (index, member) in members.enumerated() {
            var prefix: [UInt8] = index == 0 ? [] : [UInt8(ascii: ",")]
            if let name = member.name {
                JSONEscaping.append(name, to: &prefix)
                prefix.append(UInt8(ascii: ":"))
            }
            write(ifAny: member.node.need) { compiler in
                if !prefix.isEmpty { compiler.write(prefix, isMember: index > 0 && !isCertain) }
                compiler.write(member.node)
            }
            if member.node.need == 0 { isCertain = true }
        }
        write(close.utf8)
    }
}

// MARK: - XML

extension NativeCompiler {
    private struct Element {
        var name: String
        var attributes: [(name: String, pieces: [Piece], need: UInt64)]
        var children: [Child]

        /// The values of which the element needs one; 0 if it is always written. An element without content needs all its
        /// attributes.
        var need: UInt64 {
            guard !children.isEmpty else { return attributes.reduce(0) { $0 | $1.need } }
            var all: UInt64 = 0
            for child in children {
                switch child {
                case .text(_, _, isBlank: true): continue
                case .element(let inner) where inner.need != 0: all |= inner.need
                case .text(_, let need, _) where need != 0: all |= need
                default: return 0
                }
            }
            return all
        }
    }

    private indirect enum Child {
        case element(Element)
        case text([Piece], need: UInt64, isBlank: Bool)
    }

    private mutating func element(_ element: XMLElement) -> Element {
        Element(
            name: element.name,
            attributes: element.attributes.map { attribute in
                let pieces = pieces(attribute.value, at: [])
                return (attribute.name, pieces, need(of: pieces))
            },
            children: element.children.map { child in
                switch child {
                case .element(let inner): return .element(self.element(inner))
                case .text(let text):
                    let pieces = pieces(text, at: [])
                    return .text(pieces, need: need(of: pieces), isBlank: text.allSatisfy(\.isWhitespace))
                }
            })
    }

    /// Writes tokens that are skipped unless the event has all needed values.
    private mutating func write(ifAll needed: ArraySlice<UInt64>, _ body: (inout Self) -> Void) {
        guard let first = needed.first else { return body(&self) }
        write(ifAny: first) { $0.write(ifAll: needed.dropFirst(), body) }
    }

    private mutating func write(_ element: Element) {
        write("<\(element.name)".utf8)
        for attribute in element.attributes {
            write(ifAny: attribute.need) { compiler in
                compiler.write(" \(attribute.name)=\"".utf8)
                compiler.write(attribute.pieces, in: .xmlAttribute)
                compiler.write("\"".utf8)
            }
        }
        guard !element.children.isEmpty else { return write("/>".utf8) }
        write(">".utf8)
        for child in element.children {
            switch child {
            case .element(let inner) where inner.children.isEmpty:
                write(ifAll: inner.attributes.map(\.need).filter { $0 != 0 }[...]) { $0.write(inner) }
            case .element(let inner): write(ifAny: inner.need) { $0.write(inner) }
            case .text(let pieces, let need, _): write(ifAny: need) { $0.write(pieces, in: .xmlText) }
            }
        }
        write("</\(element.name)>".utf8)
    }
}
