import ByteText
import NotificationHub

/// A template as a client wrote it.
struct TemplateSource: Hashable, Sendable {
    var body: String
    var name: String?
    var headers: [HeaderField] = []
    /// Only for Apple, like the priority.
    var expiry: String?
    var priority: String?
    var platform: Platform
}

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

    let source: TemplateSource
    /// True if the body has an `aps` dictionary, which properties cannot add. Only for Apple.
    let hasAps: Bool
    private let segments: [Segment]
    private let headers: [(name: String, value: TemplateExpression?)]
    private let expiry: TemplateExpression?

    init(_ source: TemplateSource) throws(TemplateProblem) {
        self.source = source
        if let name = source.name, name.utf16.count > 200 {
            throw TemplateProblem("a template name has at most 200 characters")
        }
        segments = try Self.compile(source.body)
        hasAps =
            source.platform == .apple && JSONTree(parsing: Array(source.body.utf8)).map(PayloadRules.hasAps) ?? false
        var compiled: [(name: String, value: TemplateExpression?)] = []
        for header in source.headers { compiled.append((header.name, try TemplateExpression.parse(header.value))) }
        headers = compiled
        expiry = try source.expiry.map(TemplateExpression.parse) ?? nil
        try Self.checkHeaders(of: source)
    }

    /// The body and headers for one device; `nil` if the body, or all header values together, would be longer than a
    /// body of the platform may be.
    ///
    /// Expansion stops at that length, because a template of 64 KB can name a long property thousands of times.
    func expanded(_ properties: TemplateProperties) -> (body: [UInt8], headers: [HeaderField])? {
        let lengthMax = source.platform.facts.bodyLengthMax
        var body: [UInt8] = []
        body.reserveCapacity(min(source.body.utf8.count + 128, lengthMax))
        for segment in segments {
            switch segment {
            case .fixed(let bytes): body.append(contentsOf: bytes)
            case .jsonString(let expression):
                guard let text = expression.text(properties, lengthMax: lengthMax) else { return nil }
                JSONTree.string(text).write(into: &body)
            case .jsonNumber(let expression):
                guard let text = expression.text(properties, lengthMax: lengthMax) else { return nil }
                let value = TemplateExpression.isNumber(text) ? JSONTree.number(text) : .string(text)
                value.write(into: &body)
            case .xmlText(let expression):
                guard let text = expression.text(properties, lengthMax: lengthMax) else { return nil }
                body.append(contentsOf: XMLText.escaped(text).utf8)
            }
            guard body.count <= lengthMax else { return nil }
        }
        var fields: [HeaderField] = []
        var left = lengthMax
        func add(_ name: String, _ value: TemplateExpression?, _ written: String) -> Bool {
            let text: String? = if let value { value.text(properties, lengthMax: left) } else { written }
            guard let text, text.utf8.count <= left else { return false }
            left -= text.utf8.count
            fields.append(HeaderField(name, Self.oneLine(text)))
            return true
        }
        for (header, compiled) in zip(source.headers, headers) {
            guard add(header.name, compiled.value, header.value) else { return nil }
        }
        if let written = source.expiry {
            guard add("ServiceBusNotification-Apns-Expiry", expiry, written) else { return nil }
        }
        return (body, fields)
    }

    /// Removes line breaks, so that a property cannot start another header.
    private static func oneLine(_ text: String) -> String {
        text.utf8.contains { $0 == 13 || $0 == 10 }
            ? String(text.unicodeScalars.filter { $0 != "\r" && $0 != "\n" }) : text
    }

    private static func checkHeaders(of source: TemplateSource) throws(TemplateProblem) {
        let isExpression = { (text: String) in ((try? TemplateExpression.parse(text)) ?? nil) != nil }
        if let expiry = source.expiry, !isExpression(expiry), expiry != "0", HubTime(clientText: expiry) == nil {
            throw TemplateProblem("Expiry must be a time, 0 or an expression")
        }
        if let priority = source.priority, !isExpression(priority), UInt8(priority) == nil {
            throw TemplateProblem("Priority must be a whole number from 0 to 255 or an expression")
        }
        switch source.platform {
        case .apple:
            for header in source.headers {
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
            guard source.headers.contains(where: { $0.name.equalsIgnoringASCIICase("X-WNS-Type") }) else {
                throw TemplateProblem("a Windows template needs the header X-WNS-Type")
            }
        default: break
        }
    }

    /// Splits a body into fixed text and expressions.
    private static func compile(_ body: String) throws(TemplateProblem) -> [Segment] {
        var segments: [Segment] = []
        var fixed: [UInt8] = []
        func add(_ segment: Segment, after fixed: inout [UInt8]) {
            if !fixed.isEmpty { segments.append(.fixed(fixed)) }
            segments.append(segment)
            fixed = []
        }
        switch body.trimmed.utf8.first {
        case UInt8(ascii: "{"):
            let json: JSONTree
            do { json = try JSONReader.read(Array(body.utf8)) } catch { throw .format(error.rawValue) }
            try json.write(into: &fixed) { (text, out) throws(TemplateProblem) in
                guard let expression = try TemplateExpression.parse(text) else {
                    return JSONEscaping.append(text, to: &out)
                }
                add(expression.isNumber ? .jsonNumber(expression) : .jsonString(expression), after: &out)
            }
        case UInt8(ascii: "<"):
            let xml: XMLElement
            do { xml = try XMLReader.read(Array(body.trimmed.utf8)) } catch { throw .format(error.rawValue) }
            try xml.write(into: &fixed) { (text, place, out) throws(TemplateProblem) in
                guard let expression = try TemplateExpression.parse(text) else {
                    return XMLText.append(text, in: place, to: &out)
                }
                add(.xmlText(expression), after: &out)
            }
        default: throw .format("a template is JSON or XML")
        }
        if !fixed.isEmpty { segments.append(.fixed(fixed)) }
        return segments
    }
}

extension TemplateProblem {
    fileprivate static func format(_ reason: String) -> TemplateProblem {
        TemplateProblem("the payload format is invalid: \(reason)")
    }
}

/// Compiled templates. An app registers the same few templates from all its devices.
struct TemplateCache: Sendable {
    /// The most templates kept; when full, the cache is emptied.
    private static let countMax = 1000

    private var templates: [TemplateSource: Template] = [:]

    mutating func template(_ source: TemplateSource) throws(TemplateProblem) -> Template {
        if let known = templates[source] { return known }
        let template = try Template(source)
        if templates.count >= Self.countMax { templates = [:] }
        templates[source] = template
        return template
    }
}
