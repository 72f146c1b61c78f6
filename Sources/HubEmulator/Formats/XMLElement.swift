import ByteText

/// One element of an XML text.
struct XMLElement: Sendable, Hashable {
    enum Node: Sendable, Hashable {
        case element(XMLElement)
        case text(String)
    }

    struct Attribute: Sendable, Hashable {
        var name: String
        var value: String
    }

    /// The name as written, with its prefix if it has one.
    var name: String
    var attributes: [Attribute] = []
    var children: [Node] = []

    /// The name without its prefix.
    var localName: Substring { Self.localPart(name) }

    static func localPart(_ name: String) -> Substring {
        name.utf8.lastIndex(of: UInt8(ascii: ":")).map { name[name.utf8.index(after: $0)...] } ?? name[...]
    }

    /// The first child element with that local name.
    func child(_ localName: String) -> XMLElement? {
        for case .element(let element) in children where element.localName == localName { return element }
        return nil
    }

    var elements: [XMLElement] {
        children.compactMap { if case .element(let element) = $0 { element } else { nil } }
    }

    /// All text directly inside this element, joined.
    var text: String {
        children.reduce(into: "") { if case .text(let text) = $1 { $0 += text } }
    }

    /// The value of the first attribute with that local name.
    func attribute(_ localName: String) -> String? {
        attributes.first { Self.localPart($0.name) == localName }?.value
    }

    // MARK: Writing

    func write(into out: inout String) {
        out += "<" + name
        for attribute in attributes {
            out += " " + attribute.name + "=\"" + XMLText.escaped(attribute.value) + "\""
        }
        if children.isEmpty {
            out += "/>"
            return
        }
        out += ">"
        for child in children {
            switch child {
            case .element(let element): element.write(into: &out)
            case .text(let text): out += XMLText.escaped(text, in: .content)
            }
        }
        out += "</" + name + ">"
    }
}
