import ByteText
import Mustache
public import NewsModel

/// The text a phone shows, with Mustache variables, e.g. `Breaking {{category}} News : {{headline}}`.
///
/// Text is never escaped here: "AT&T" stays "AT&T", because the payload's writer escapes as its format needs. Variables
/// are those of `MessageVariable`; a missing one is empty. Sections, transforms and comments work as in Mustache.
/// Partials, inheritance and changed delimiters do not, because one line of text does not need them.
public struct MessageTemplate: Sendable {
    /// Maximum bytes of a template.
    public static let lengthMax = 4_096

    public let source: String
    private let library: MustacheTemplate
    /// The template as text and variables; `nil` if only the library can render it. The library needs about thirty
    /// times as long for the same text.
    let segments: [Segment]?

    enum Segment: Sendable, Hashable {
        case text(String)
        case variable(MessageVariable)
    }

    /// - Throws: every problem of `problems(in:)`.
    public init(_ source: String) throws(PayloadProblems) {
        try self.init(source, path: ["payload", "message"], isInPayload: false)
    }

    /// - Parameters:
    ///   - path: the setting that holds the template.
    ///   - isInPayload: true for a part of a payload, which has more variables.
    init(_ source: String, path: [String], isInPayload: Bool) throws(PayloadProblems) {
        let scan = MessageScan(source, path: path, isInPayload: isInPayload)
        guard scan.problems.isEmpty else { throw PayloadProblems(scan.problems) }
        do {
            library = try MustacheTemplate(string: Self.textOnly + source)
        } catch {
            throw PayloadProblems([Self.problem(of: error, path: path)])
        }
        self.source = source
        // The library reads characters, the scan reads scalars, and they differ in white space at line ends. If they
        // disagree on samples, the library is right.
        let library = library
        let agrees = scan.segments.map { segments in
            Self.samples.allSatisfy { event in
                Self.render(segments, event, "World") == Self.render(library, event, "World")
            }
        }
        segments = agrees == true ? scan.segments : nil
    }

    /// Problems of a template: unknown variables, features that a message cannot use, and Mustache's own errors.
    public static func problems(in source: String) -> [PayloadProblem] {
        do throws(PayloadProblems) {
            _ = try MessageTemplate(source)
            return []
        } catch {
            return error.all
        }
    }

    /// The message of an event; never blank: if the template yields only white space, it is the headline.
    ///
    /// - Parameter category: the names of all its categories, because readers of each of them get this one text.
    public func render(_ event: NewsEvent, category: String) -> String {
        let text =
            if let segments { Self.render(segments, event, category) } else { Self.render(library, event, category) }
        // Nearly every message begins with a visible character, so the rest is rarely examined.
        if let first = text.utf8.first, (0x21...0x7E).contains(first) { return text }
        return text.allSatisfy(\.isWhitespace) ? event.headline : text
    }

    /// The message with another headline.
    func render(_ event: NewsEvent, headline: String, language: String? = nil, category: String) -> String {
        var event = event
        event.headline = headline
        if let language { event.language = language }
        return render(event, category: category)
    }

    /// The message can be rendered without the library.
    var isPlain: Bool { segments != nil }

    /// The message as the library renders it; may be blank.
    func renderByLibrary(_ event: NewsEvent, category: String) -> String {
        Self.render(library, event, category)
    }

    private static func render(_ segments: [Segment], _ event: NewsEvent, _ category: String) -> String {
        func text(of segment: Segment) -> String {
            switch segment {
            case .text(let literal): literal
            case .variable(let variable): variable.value(event, category) ?? ""
            }
        }
        // Into memory of the right size at once: a text that grows piece by piece costs three times as much.
        let length = segments.reduce(0) { $0 + text(of: $1).utf8.count }
        return String(unsafeUninitializedCapacity: length) { memory in
            var written = 0
            for segment in segments {
                text(of: segment).withBytes { bytes in
                    precondition(bytes.count <= memory.count - written, "the length was counted from the same texts")
                    written = memory[written...].initialize(fromContentsOf: bytes)
                }
            }
            return written
        }
    }

    private static func render(_ library: MustacheTemplate, _ event: NewsEvent, _ category: String) -> String {
        render(library, MessageVariable.fixed, event.data) { $0.value(event, category) }
    }

    /// Renders a part of a payload with the library.
    func render(_ data: [NewsEvent.DataField], _ value: (MessageVariable) -> String?) -> String {
        Self.render(library, MessageVariable.inPayloads, data, value)
    }

    private static func render(
        _ library: MustacheTemplate, _ variables: [MessageVariable], _ data: [NewsEvent.DataField],
        _ value: (MessageVariable) -> String?
    ) -> String {
        var values: [String: Any] = [:]
        for variable in variables {
            if let value = value(variable), !value.isEmpty { values[variable.name] = value }
        }
        values["data"] = Dictionary(
            data.filter { !$0.value.isEmpty }.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        return library.render(values)
    }

    /// Declares the template as plain text instead of HTML.
    private static let textOnly = "{{% CONTENT_TYPE:TEXT }}"

    private static let samples: [NewsEvent] = {
        var full = NewsEvent(id: "1", headline: " {{headline}} \u{301}A\nB ")
        full.summary = "summary"
        full.language = "en"
        full.urgency = 3
        full.story = "story"
        full.version = .init("2")
        full.publishedAt = Instant(nanoseconds: 0)
        full.link = "https://example.com/"
        return [full, NewsEvent(id: "", headline: "")]
    }()

    private static func problem(of error: any Error, path: [String]) -> PayloadProblem {
        var message = "the text is no Mustache template"
        if let error = error as? MustacheTemplate.ParserError {
            let (line, column) = (error.context.lineNumber, error.context.columnNumber)
            message += " at line \(line), column \(line == 1 ? column - textOnly.count : column): \(error.error)"
        }
        return PayloadProblem(path: path, message: message, remedy: MessageScan.example)
    }
}
