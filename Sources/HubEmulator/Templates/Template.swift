import ByteText
import NotificationHub

/// The template of a registration, compiled once: body, headers and expiry with their expressions.
///
/// Expressions are expanded within the body's own syntax, so no property can break out of the surrounding JSON or XML.
final class Template: Sendable {
    private enum Segment: Sendable {
        case fixed([UInt8])
        /// A JSON string, quotes included.
        case jsonString(TemplateExpression)
        /// A JSON number if the text is a number, otherwise a string.
        case jsonNumber(TemplateExpression)
        /// XML text or attribute value.
        case xmlText(TemplateExpression)
    }

    /// The body as the client wrote it.
    let source: String
    let name: String?
    let headers: [HeaderField]
    /// The expiry as written; only for Apple.
    let expiry: String?
    /// The priority as written; only for Apple.
    let priority: String?
    /// True if the body has an `aps` dictionary, which properties cannot add. Only for Apple.
    let hasAps: Bool
    private let segments: [Segment]
    private let compiledHeaders: [(name: String, value: TemplateExpression?)]
    private let compiledExpiry: TemplateExpression?

    init(
        _ source: String, name: String?, headers: [HeaderField], expiry: String? = nil, priority: String? = nil,
        platform: NotificationFormat
    ) throws(TemplateProblem) {
        (self.source, self.name, self.headers) = (source, name, headers)
        (self.expiry, self.priority) = (expiry, priority)
        if let name, name.utf16.count > 200 { throw TemplateProblem("a template name has at most 200 characters") }
        segments = try Compiler.compile(source, platform: platform, headers: headers)
        hasAps = platform == .apple && JSONTree(parsing: Array(source.utf8)).map(PayloadRules.hasAps) ?? false
        var compiled: [(name: String, value: TemplateExpression?)] = []
        for header in headers { compiled.append((header.name, try TemplateExpression.parse(header.value))) }
        compiledHeaders = compiled
        compiledExpiry = try expiry.map(TemplateExpression.parse) ?? nil
        try Self.checkHeaders(headers, expiry: expiry, priority: priority, platform: platform)
    }

    /// The body and headers for one device.
    func expanded(_ properties: TemplateProperties) -> (body: [UInt8], headers: [HeaderField]) {
        var body: [UInt8] = []
        body.reserveCapacity(source.utf8.count + 128)
        for segment in segments {
            switch segment {
            case .fixed(let bytes): body.append(contentsOf: bytes)
            case .jsonString(let expression): JSONTree.string(expression.text(properties)).write(into: &body)
            case .jsonNumber(let expression):
                let text = expression.text(properties)
                let value = TemplateExpression.isNumber(text) ? JSONTree.number(text) : .string(text)
                value.write(into: &body)
            case .xmlText(let expression):
                body.append(contentsOf: XMLText.escaped(expression.text(properties)).utf8)
            }
        }
        var fields = zip(headers, compiledHeaders).map { header, compiled in
            HeaderField(header.name, Self.oneLine(compiled.value?.text(properties) ?? header.value))
        }
        if let expiry {
            let text = Self.oneLine(compiledExpiry?.text(properties) ?? expiry)
            fields.append(HeaderField("ServiceBusNotification-Apns-Expiry", text))
        }
        return (body, fields)
    }

    /// Removes line breaks, so that a property cannot start another header.
    private static func oneLine(_ text: String) -> String {
        text.utf8.contains { $0 == 13 || $0 == 10 }
            ? String(text.unicodeScalars.filter { $0 != "\r" && $0 != "\n" }) : text
    }

    private static func checkHeaders(
        _ headers: [HeaderField], expiry: String?, priority: String?, platform: NotificationFormat
    ) throws(TemplateProblem) {
        let isExpression = { (text: String) in ((try? TemplateExpression.parse(text)) ?? nil) != nil }
        if let expiry, !isExpression(expiry), expiry != "0", HubTime(clientText: expiry) == nil {
            throw TemplateProblem("Expiry must be a time, 0 or an expression")
        }
        if let priority, !isExpression(priority), UInt8(priority) == nil {
            throw TemplateProblem("Priority must be a whole number from 0 to 255 or an expression")
        }
        switch platform {
        case .apple:
            for header in headers {
                let name = header.name.lowercased()
                guard name.hasPrefix("apns-") else { throw TemplateProblem("an APNs header starts with apns-") }
                guard !isExpression(header.value) else { continue }
                if name == "apns-priority", UInt8(header.value) == nil {
                    throw TemplateProblem("apns-priority must be a whole number from 0 to 255")
                }
                if name == "apns-expiration", Int32(header.value) == nil {
                    throw TemplateProblem("apns-expiration must be a 32-bit whole number")
                }
            }
        case .windows:
            guard headers.contains(where: { $0.name.equalsIgnoringASCIICase("X-WNS-Type") }) else {
                throw TemplateProblem("a Windows template needs the header X-WNS-Type")
            }
        default: break
        }
    }

    /// Splits a body into fixed text and expressions.
    private struct Compiler {
        private var segments: [Segment] = []
        private var pending: [UInt8] = []

        static func compile(
            _ source: String, platform: NotificationFormat, headers: [HeaderField]
        ) throws(TemplateProblem) -> [Segment] {
            var compiler = Compiler()
            switch source.trimmed.utf8.first {
            case UInt8(ascii: "{"):
                let json: JSONTree
                do { json = try JSONReader.read(Array(source.utf8)) } catch {
                    throw TemplateProblem("the payload format is invalid: \(error.rawValue)")
                }
                try compiler.add(json)
            case UInt8(ascii: "<"):
                let xml: XMLElement
                do { xml = try XMLReader.read(Array(source.trimmed.utf8)) } catch {
                    throw TemplateProblem("the payload format is invalid: \(error.rawValue)")
                }
                try compiler.add(xml)
            default: throw TemplateProblem("the payload format is invalid: a template is JSON or XML")
            }
            compiler.flush()
            return compiler.segments
        }

        private mutating func flush() {
            if !pending.isEmpty { segments.append(.fixed(pending)) }
            pending = []
        }

        private mutating func add(_ segment: Segment) {
            flush()
            segments.append(segment)
        }

        private mutating func add(_ json: JSONTree) throws(TemplateProblem) {
            switch json {
            case .string(let text):
                if let expression = try TemplateExpression.parse(text) {
                    add(expression.isNumber ? .jsonNumber(expression) : .jsonString(expression))
                } else {
                    json.write(into: &pending)
                }
            case .array(let values):
                pending.append(UInt8(ascii: "["))
                for (index, value) in values.enumerated() {
                    if index > 0 { pending.append(UInt8(ascii: ",")) }
                    try add(value)
                }
                pending.append(UInt8(ascii: "]"))
            case .object(let members):
                pending.append(UInt8(ascii: "{"))
                for (index, member) in members.enumerated() {
                    if index > 0 { pending.append(UInt8(ascii: ",")) }
                    JSONTree.string(member.name).write(into: &pending)
                    pending.append(UInt8(ascii: ":"))
                    try add(member.value)
                }
                pending.append(UInt8(ascii: "}"))
            case .null, .bool, .number: json.write(into: &pending)
            }
        }

        private mutating func add(_ element: XMLElement) throws(TemplateProblem) {
            pending.append(contentsOf: ("<" + element.name).utf8)
            for attribute in element.attributes {
                pending.append(contentsOf: (" " + attribute.name + "=\"").utf8)
                try add(text: attribute.value, in: .attribute)
                pending.append(UInt8(ascii: "\""))
            }
            guard !element.children.isEmpty else {
                pending.append(contentsOf: "/>".utf8)
                return
            }
            pending.append(UInt8(ascii: ">"))
            for child in element.children {
                switch child {
                case .element(let element): try add(element)
                case .text(let text): try add(text: text, in: .content)
                }
            }
            pending.append(contentsOf: ("</" + element.name + ">").utf8)
        }

        private mutating func add(text: String, in place: XMLText.Place) throws(TemplateProblem) {
            if let expression = try TemplateExpression.parse(text) {
                add(.xmlText(expression))
            } else {
                pending.append(contentsOf: XMLText.escaped(text, in: place).utf8)
            }
        }
    }
}

/// Compiled templates. An app registers the same few templates from all its devices.
struct TemplateCache: Sendable {
    /// The most templates kept; when full, the cache is emptied.
    private static let countMax = 1000

    private struct Key: Hashable, Sendable {
        var source: String
        var name: String?
        var headers: [HeaderField]
        var expiry: String?
        var priority: String?
        var platform: NotificationFormat
    }

    private var templates: [Key: Template] = [:]

    mutating func template(
        _ source: String, name: String?, headers: [HeaderField], expiry: String?, priority: String? = nil,
        platform: NotificationFormat
    ) throws(TemplateProblem) -> Template {
        let key = Key(
            source: source, name: name, headers: headers, expiry: expiry, priority: priority, platform: platform)
        if let known = templates[key] { return known }
        let template = try Template(
            source, name: name, headers: headers, expiry: expiry, priority: priority, platform: platform)
        if templates.count >= Self.countMax { templates = [:] }
        templates[key] = template
        return template
    }
}
