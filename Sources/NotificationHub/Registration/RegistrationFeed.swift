import ByteText

/// A hub's registrations for one channel, with the members that a client needs to take one over.
public struct RegistrationFeed: Sendable, Hashable {
    /// The longest part of a feed that is read, in bytes.
    public static let scannedMax = 1024 * 1024
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
    public init(scanning body: some Collection<UInt8>) {
        var scanner = XMLPieces(body.prefix(Self.scannedMax))
        var item: Item?
        var name = ""
        while items.count < Self.countMax, let piece = scanner.next() {
            switch piece {
            case .opening(let element) where element.hasSuffix("RegistrationDescription"):
                item = Item(id: "", isTemplate: element.hasSuffix("TemplateRegistrationDescription"))
            case .opening(let element): name = element
            case .text(let text) where name == "RegistrationId": item?.id = text
            case .text(let text) where name == "TemplateName": item?.templateName = text
            case .text(let text) where name == "Tags": item?.installation = Self.installation(inTags: text)
            case .text: break
            case .closing(let element):
                name = ""
                guard element.hasSuffix("RegistrationDescription"), let whole = item else { continue }
                item = nil
                if RegistrationPath.accepts(id: whole.id) { items.append(whole) }
            }
        }
    }

    private static func installation(inTags tags: String) -> String? {
        for tag in tags.split(separator: ",") {
            let tag = tag.trimmed
            guard tag.hasPrefix(Tag.installationOpening), tag.hasSuffix("}") else { continue }
            let id = tag.dropFirst(Tag.installationOpening.count).dropLast()
            return RegistrationPath.accepts(id: String(id)) ? String(id) : nil
        }
        return nil
    }
}
