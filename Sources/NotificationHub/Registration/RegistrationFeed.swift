import ByteText

/// A hub's registrations for one channel, as far as a client needs them to take one over.
public struct RegistrationFeed: Sendable, Hashable {
    /// Bytes of a feed that are read.
    public static let scannedMax = 1024 * 1024
    /// Entries that are kept; a hub sends at most 100 at once.
    public static let countMax = 100

    public struct Item: Sendable, Hashable {
        public var id: String
        public var isTemplate: Bool
        /// A template registration made without a name has none.
        public var templateName: String?
        /// The installation from which the hub made it, and with which it is removed.
        public var installation: String?
    }

    /// In the order of the feed.
    public private(set) var items: [Item] = []

    /// Reads a feed or a single entry. Anything else gives an empty feed: a client that finds nothing to take over
    /// registers anew.
    public init(scanning body: some Collection<UInt8>) {
        var scanner = Scanner(rest: Array(body.prefix(Self.scannedMax))[...])
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

    private enum Piece {
        /// Element names without their prefix.
        case opening(String)
        case closing(String)
        case text(String)
    }

    /// Cuts well-formed XML into pieces, and stops where it is not.
    private struct Scanner {
        var rest: ArraySlice<UInt8>

        mutating func next() -> Piece? {
            while let first = rest.first {
                guard first == UInt8(ascii: "<") else {
                    let text = rest.prefix { $0 != UInt8(ascii: "<") }
                    rest = rest[text.endIndex...]
                    return .text(XMLText.replacingReferences(String(decoding: text, as: UTF8.self)))
                }
                if let data = skip("<![CDATA[", to: "]]>") { return .text(String(decoding: data, as: UTF8.self)) }
                if skip("<!--", to: "-->") != nil || skip("<?", to: "?>") != nil { continue }
                if let inside = skip("</", to: ">") { return .closing(Self.name(inside)) }
                guard let inside = element() else { return nil }
                // An empty element has no meaning here.
                if inside.last == UInt8(ascii: "/") { continue }
                return .opening(Self.name(inside))
            }
            return nil
        }

        /// The bytes between the two marks, when the rest begins with the first.
        private mutating func skip(_ opening: StaticString, to closing: StaticString) -> ArraySlice<UInt8>? {
            guard rest.starts(with: "\(opening)".utf8) else { return nil }
            let inside = rest.dropFirst(opening.utf8CodeUnitCount)
            guard let end = inside.firstRange(of: Array("\(closing)".utf8)) else {
                rest = []
                return nil
            }
            rest = rest[end.upperBound...]
            return inside[..<end.lowerBound]
        }

        /// The inside of a tag; a `>` in an attribute's quotes does not end it.
        private mutating func element() -> ArraySlice<UInt8>? {
            var quote: UInt8?
            for index in rest.indices {
                switch rest[index] {
                case let byte where byte == quote: quote = nil
                case UInt8(ascii: "\""), UInt8(ascii: "'"): quote = quote ?? rest[index]
                case UInt8(ascii: ">") where quote == nil:
                    defer { rest = rest[index...].dropFirst() }
                    return rest[..<index].dropFirst()
                default: break
                }
            }
            rest = []
            return nil
        }

        private static func name(_ inside: ArraySlice<UInt8>) -> String {
            let whole = inside.prefix { $0 > 0x20 && $0 != UInt8(ascii: "/") }
            return String(decoding: whole.split(separator: UInt8(ascii: ":")).last ?? [], as: UTF8.self)
        }
    }
}
