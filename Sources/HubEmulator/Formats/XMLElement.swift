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

    /// All text directly inside, joined.
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
            out += " " + attribute.name + "=\"" + Self.escaped(attribute.value) + "\""
        }
        if children.isEmpty {
            out += "/>"
            return
        }
        out += ">"
        for child in children {
            switch child {
            case .element(let element): element.write(into: &out)
            case .text(let text): out += Self.escaped(text)
            }
        }
        out += "</" + name + ">"
    }

    /// Whether a byte is escaped, or begins a character that may have to be.
    private static func needsLook(_ byte: UInt8) -> Bool {
        switch byte {
        case 0..<0x20, UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""), 0xEF: true
        default: false
        }
    }

    /// Text that may stand in element content and, unless `keepsQuotes`, between quotes. Characters that XML 1.0 cannot
    /// carry at all become the replacement character.
    static func escaped(_ text: String, keepsQuotes: Bool = false) -> String {
        guard
            text.utf8.contains(where: {
                $0 < 0x20 || $0 == 0x26 || $0 == 0x3C || $0 == 0x3E || $0 == 0x22 || $0 == 0xEF
            })
        else { return text }
        var out = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": out += "&amp;"
            case "<": out += "&lt;"
            case ">": out += "&gt;"
            case "\"": out += keepsQuotes ? "\"" : "&quot;"
            case "\r": out += "&#xD;"
            case "\t", "\n": out.unicodeScalars.append(scalar)
            case "\u{0}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": out += "\u{FFFD}"
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out
    }
}
