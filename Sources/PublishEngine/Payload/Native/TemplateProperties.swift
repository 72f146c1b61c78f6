import ByteText
import NewsModel
import NotificationHub

extension PayloadSettings {
    /// The properties by which a template replaces notifications and ends them. They are never replaced.
    static let ownProperties = ["tag", "shortTag", "ttl", "priority", "quiet"]

    /// Returns true for one of these names, in any case, because hubs ignore it.
    static func isOwnProperty(_ name: String) -> Bool { ownProperties.contains { $0.equalsIgnoringASCIICase(name) } }

    /// The errors and warnings about the properties of `payload.properties`.
    var propertyProblems: [PayloadProblem] {
        let languages = localization?.mode == .properties ? localization : nil
        let names = Set(languages?.languages.compactMap { languages?.propertyName(of: $0).lowercased() } ?? [])
        var known: Set<String> = []
        return properties.flatMap { property -> [PayloadProblem] in
            let path = ["payload", "properties", property.name]
            func problem(_ message: String, _ remedy: String) -> [PayloadProblem] {
                [PayloadProblem(path: path, message: message, remedy: remedy)]
            }
            if property.name.contains("{{") {
                return problem("a variable cannot be the name of a property", "write the name itself")
            }
            if names.contains(property.name.lowercased()) {
                return problem("is the property of a language", "use another name, or set localization.message")
            }
            if !known.insert(property.name.lowercased()).inserted {
                return problem("differs from another name only in case, which hubs ignore", "keep one of the two")
            }
            do throws(PayloadProblems) {
                _ = try TemplateProperties([property])
                return []
            } catch {
                return error.all
            }
        }
    }
}

/// The operator's properties of a template payload, compiled.
struct TemplateProperties: Sendable {
    private let all: [(name: String, template: MessageTemplate)]
    /// In lower case, as hubs compare them.
    private let names: Set<String>

    init(_ properties: [PayloadSettings.Property]) throws(PayloadProblems) {
        var all: [(name: String, template: MessageTemplate)] = []
        for property in properties where !PayloadSettings.isOwnProperty(property.name) {
            let path = ["payload", "properties", property.name]
            all.append((property.name, try MessageTemplate(property.template, path: path, isInPayload: true)))
        }
        self.all = all
        names = Set(all.map { $0.name.lowercased() })
    }

    /// Replaces the parts that have the properties' names, and adds the other properties before the event's own values. A
    /// property whose text is empty is left out.
    func apply(
        to content: inout PayloadContent, _ values: NativeContent, _ event: NewsEvent, _ routing: Routing.Tagged
    ) {
        var added: [NewsEvent.DataField] = []
        for property in all {
            let text = values.text(property.template, event, routing)
            let value = text.isEmpty ? nil : text
            switch property.name.lowercased() {
            // A notification is never blank.
            case "messageparam": content.message = value ?? content.message
            case "category": content.category = text
            case "title": content.title = value
            case "summary": content.summary = value
            case "link": content.link = value
            case "image": content.image = value
            case "id": content.id = value
            case "story": content.story = value
            default: if let value { added.append(.init(name: property.name, value: value)) }
            }
        }
        content.templateFields.remove(names)
        content.propertyCount = added.count
        content.data = (added + content.data.filter { !names.contains($0.name.lowercased()) })[...]
    }
}
