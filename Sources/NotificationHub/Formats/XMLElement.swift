package import ByteText

/// One element of an XML text.
package struct XMLElement: Sendable, Hashable {
    package enum Node: Sendable, Hashable {
        case element(XMLElement)
        case text(String)
    }

    package struct Attribute: Sendable, Hashable {
        package var name: String
        package var value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The name as written, with its prefix if it has one.
    package var name: String
    package var attributes: [Attribute] = []
    package var children: [Node] = []

    package init(name: String) { self.name = name }

    /// An element that contains only text.
    init(name: String, text: String) {
        self.name = name
        children = [.text(text)]
    }

    /// The name without its prefix.
    package var localName: Substring { Self.localPart(name) }

    package static func localPart(_ name: String) -> Substring {
        name.utf8.lastIndex(of: UInt8(ascii: ":")).map { name[name.utf8.index(after: $0)...] } ?? name[...]
    }

    /// The first child element with that local name.
    package func child(_ localName: String) -> XMLElement? {
        for case .element(let element) in children where element.localName == localName { return element }
        return nil
    }

    package var elements: [XMLElement] {
        children.compactMap { if case .element(let element) = $0 { element } else { nil } }
    }

    /// All text directly inside this element, joined.
    package var text: String {
        children.reduce(into: "") { if case .text(let text) = $1 { $0 += text } }
    }

    /// The value of the first attribute with that local name.
    package func attribute(_ localName: String) -> String? {
        attributes.first { Self.localPart($0.name) == localName }?.value
    }

    // MARK: Writing

    /// The element as XML.
    package var markup: String {
        var out: [UInt8] = []
        write(into: &out) { XMLText.append($0, in: $1, to: &$2) }
        return String(decoding: out, as: UTF8.self)
    }

    /// Appends the element as XML. `text` writes each text and each attribute's value.
    package func write<Failure>(
        into out: inout [UInt8], text: (String, XMLText.Place, inout [UInt8]) throws(Failure) -> Void
    ) throws(Failure) {
        out += "<\(name)".utf8
        for attribute in attributes {
            out += " \(attribute.name)=\"".utf8
            try text(attribute.value, .attribute, &out)
            out.append(UInt8(ascii: "\""))
        }
        guard !children.isEmpty else {
            out += "/>".utf8
            return
        }
        out.append(UInt8(ascii: ">"))
        for child in children {
            switch child {
            case .element(let element): try element.write(into: &out, text: text)
            case .text(let content): try text(content, .content, &out)
            }
        }
        out += "</\(name)>".utf8
    }
}
