/// The result of reading a message template: its segments if it has only text and variables, and its problems.
struct MessageScan {
    private(set) var problems: [PayloadProblem] = []
    /// `nil` when it holds more than text and variables.
    private(set) var segments: [MessageTemplate.Segment]? = []

    /// The setting with the template.
    private let path: [String]
    /// The template is a part of a payload, which has more variables.
    private let isInPayload: Bool
    static let example = "write text with variables, e.g. \(PayloadSettings.standardMessage)"
    /// The transforms the library has for text.
    private static let transforms = ["capitalized", "lowercased", "uppercased", "reversed", "empty"]
    /// The library reads and renders sections within sections by recursion.
    private static let depthMax = 16
    private var depth = 0

    init(_ source: String, path: [String], isInPayload: Bool) {
        self.path = path
        self.isInPayload = isInPayload
        guard !source.allSatisfy(\.isWhitespace) else {
            report("the message is empty", Self.example)
            return
        }
        guard source.utf8.count <= MessageTemplate.lengthMax else {
            report("the message has \(source.utf8.count) bytes", "write at most \(MessageTemplate.lengthMax)")
            return
        }
        var rest = source.unicodeScalars[...]
        while let opening = Self.find("{{", in: rest) {
            add(.text(String(rest[..<opening.lowerBound])))
            rest = rest[opening.upperBound...]
            let isTriple = rest.first == "{"
            guard let closing = Self.find(isTriple ? "}}}" : "}}", in: rest) else {
                report("a tag is opened and not closed", "close every {{ with }}")
                return
            }
            examine(tag: String(rest[..<closing.lowerBound].dropFirst(isTriple ? 1 : 0)), isTriple: isTriple)
            rest = rest[closing.upperBound...]
        }
        add(.text(String(rest)))
    }

    private mutating func report(_ message: String, _ remedy: String) {
        problems.append(PayloadProblem(path: path, message: message, remedy: remedy))
    }

    private mutating func add(_ segment: MessageTemplate.Segment) {
        if segment != .text("") { segments?.append(segment) }
    }

    /// - Parameter tag: the text between the braces.
    private mutating func examine(tag: String, isTriple: Bool) {
        let isSigil: Bool
        switch tag.unicodeScalars.first {
        case "!":
            segments = nil
            return
        case let sign? where "#^/".unicodeScalars.contains(sign):
            segments = nil
            isSigil = true
            depth += sign == "/" ? -1 : 1
            if depth == Self.depthMax + 1 { report("sections are nested too deep", "nest at most \(Self.depthMax)") }
        case "&":
            isSigil = true
        case let sign? where "><$=%*".unicodeScalars.contains(sign) && !isTriple:
            return report("{{\(TextCut.excerpt(tag))}} is not for messages", Self.example)
        default:
            isSigil = false
        }
        let inner = tag.unicodeScalars.dropFirst(isSigil ? 1 : 0)
        var name = Self.trimmed(inner)
        while let bracket = name.firstIndex(of: "("), name.last == ")" {
            segments = nil
            let transform = String(name[..<bracket])
            if !Self.transforms.contains(transform) {
                let known = Self.transforms.joined(separator: ", ")
                return report("'\(TextCut.excerpt(transform))' is not a transform", "use one of \(known)")
            }
            name = name[name.index(after: bracket)...].dropLast()
        }
        if let variable = MessageVariable(name, inPayload: isInPayload) {
            add(.variable(variable))
        } else {
            let all = isInPayload ? MessageVariable.inPayloads : MessageVariable.fixed
            let known = all.map(\.name).joined(separator: ", ")
            report("'\(TextCut.excerpt(String(name)))' is not a variable", "use \(known) or data.NAME")
        }
    }

    private static func trimmed(_ scalars: Substring.UnicodeScalarView) -> Substring {
        let head = scalars.drop(while: \.properties.isWhitespace)
        guard let last = head.lastIndex(where: { !$0.properties.isWhitespace }) else { return "" }
        return Substring(head[...last])
    }

    private static func find(
        _ mark: String, in text: Substring.UnicodeScalarView
    ) -> Range<Substring.UnicodeScalarView.Index>? {
        var start = text.startIndex
        while start < text.endIndex {
            if text[start...].starts(with: mark.unicodeScalars) {
                return start..<text.index(start, offsetBy: mark.unicodeScalars.count)
            }
            start = text.index(after: start)
        }
        return nil
    }
}
