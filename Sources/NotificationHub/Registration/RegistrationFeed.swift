import ByteText

/// A hub's registrations for one channel, with the members that a client needs to take one over.
public struct RegistrationFeed: Sendable, Hashable {
    /// The longest feed that is read, in bytes.
    public static let readMax = 1024 * 1024
    /// The most entries kept. A hub sends at most 100 at once.
    public static let countMax = 100

    public struct Item: Sendable, Hashable {
        public var id: String
        public var isTemplate: Bool
        /// The template's name; `nil` if the template was registered without one.
        public var templateName: String?
        /// The installation from which the hub derived the registration, and with which the hub removes it.
        public var installation: String?
    }

    /// The entries, in the order of the feed.
    public private(set) var items: [Item] = []

    /// Reads a feed or a single entry. Other input gives an empty feed, so that the client makes a new registration
    /// instead of taking one over.
    public init(parsing body: [UInt8]) {
        guard body.count <= Self.readMax, let root = try? XMLReader.read(body) else { return }
        let entries = root.localName == "entry" ? [root] : root.elements.filter { $0.localName == "entry" }
        items = entries.prefix(Self.countMax).compactMap { entry in
            guard let description = entry.child("content")?.elements.first,
                description.localName.hasSuffix("RegistrationDescription"),
                let id = description.child("RegistrationId")?.text, HubPath.accepts(id: id)
            else { return nil }
            return Item(
                id: id, isTemplate: description.localName.hasSuffix("TemplateRegistrationDescription"),
                templateName: description.child("TemplateName").flatMap { $0.text.isEmpty ? nil : $0.text },
                installation: description.child("Tags").flatMap { Self.installation(inTags: $0.text) })
        }
    }

    private static func installation(inTags tags: String) -> String? {
        let reserved = tags.split(separator: ",").map(\.trimmed).first {
            $0.hasPrefix(Tag.installationOpening) && $0.hasSuffix("}")
        }
        let id = reserved.map { String($0.dropFirst(Tag.installationOpening.count).dropLast()) }
        return id.flatMap { HubPath.accepts(id: $0) ? $0 : nil }
    }
}
