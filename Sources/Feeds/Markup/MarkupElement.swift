/// A reference to one element of a document, cheap to copy. Names are compared without the case of ASCII letters.
package struct MarkupElement: Sendable {
    let document: MarkupDocument
    let index: Int

    private var node: MarkupDocument.Node { document.nodes[index] }

    // MARK: - Names

    /// The name as written, without prefix.
    package var name: String {
        document.bytes.withUnsafeBufferPointer { $0.text(localName) }
    }

    package var namespace: MarkupNamespace { node.namespace }

    package func isNamed(_ name: StaticString, in namespaces: MarkupNamespace) -> Bool {
        let node = node
        guard !node.namespace.isDisjoint(with: namespaces) else { return false }
        return document.bytes.withUnsafeBufferPointer { $0.spells(name, in: localName) }
    }

    private var localName: Range<Int> {
        let node = node
        return Int(node.name.lowerBound + node.prefix)..<Int(node.name.upperBound)
    }

    /// True if the document ended before the element did.
    package var isCutOff: Bool { node.isCutOff }

    // MARK: - Attributes

    /// An attribute's value with references replaced and without blanks around it; `nil` if the attribute is absent.
    package subscript(name: StaticString, in namespaces: MarkupNamespace = .none) -> String? {
        let node = node
        return document.bytes.withUnsafeBufferPointer { bytes in
            var attributes = MarkupAttributes(bytes, in: Int(node.name.upperBound)..<Int(node.attributesEnd))
            var count = 0
            while let attribute = attributes.next(), count < FeedLimits.attributes {
                count += 1
                guard self.attribute(attribute.name, isNamed: name, in: namespaces, bytes) else { continue }
                var value: [UInt8] = []
                CharacterReferences.decode(bytes, bytes.trimmed(attribute.value), to: &value)
                return String(decoding: value, as: UTF8.self)
            }
            return nil
        }
    }

    private func attribute(
        _ written: Range<Int>, isNamed name: StaticString, in namespaces: MarkupNamespace,
        _ bytes: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        let length = name.utf8CodeUnitCount
        guard written.count >= length,
            bytes.spells(name, in: written.upperBound - length..<written.upperBound)
        else { return false }
        // An attribute without prefix has no namespace, even under a default one.
        if written.count == length { return namespaces.contains(.none) }
        let colon = written.upperBound - length - 1
        guard bytes[colon] == UInt8(ascii: ":") else { return false }
        let (namespace, _) = MarkupDocument.namespace(
            ofPrefix: written.lowerBound..<colon, node.scope, bytes, document.declarations)
        return !namespace.isDisjoint(with: namespaces)
    }

    // MARK: - Content

    /// All characters inside, including those of inner elements, with references replaced. Comments are left out.
    package var text: String {
        var text: [UInt8] = []
        read { token, bytes in
            switch token.kind {
            case .text: CharacterReferences.decode(bytes, token.inside, to: &text)
            case .data: CharacterReferences.copyAllowed(bytes, token.inside, to: &text)
            default: break
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The content as HTML: escaped markup is unescaped once, and elements stay as they are.
    package var markup: [UInt8] {
        var markup: [UInt8] = []
        var depth = 0
        read { token, bytes in
            switch token.kind {
            // Inside elements that are not escaped, references belong to those elements.
            case .text where depth == 0: CharacterReferences.decode(bytes, token.inside, to: &markup)
            case .data: CharacterReferences.copyAllowed(bytes, token.inside, to: &markup)
            case .startTag:
                if !token.closesItself { depth += 1 }
                markup.append(contentsOf: bytes[token.start..<token.end])
            case .endTag:
                depth = max(depth - 1, 0)
                markup.append(contentsOf: bytes[token.start..<token.end])
            case .text: CharacterReferences.copyAllowed(bytes, token.inside, to: &markup)
            case .documentType, .skipped: break
            }
        }
        return markup
    }

    /// The content exactly as written.
    package var source: ArraySlice<UInt8> { document.bytes[Int(node.contentStart)..<Int(node.contentEnd)] }

    /// True if the content is blank and has no element.
    package var isEmpty: Bool { source.allSatisfy(\.isMarkupBlank) }

    private func read(_ body: (MarkupTokens.Token, UnsafeBufferPointer<UInt8>) -> Void) {
        let content = Int(node.contentStart)..<Int(node.contentEnd)
        document.bytes.withUnsafeBufferPointer { bytes in
            var tokens = MarkupTokens(bytes, in: content)
            while let token = tokens.next() { body(token, bytes) }
        }
    }

    // MARK: - Relatives

    package var parent: MarkupElement? {
        node.parent < 0 ? nil : MarkupElement(document: document, index: Int(node.parent))
    }

    /// The direct child elements, in order.
    package var children: Children {
        Children(document: document, index: index + 1, end: Int(node.next))
    }

    /// Returns the first child with this name that has content, or else the first with this name.
    package func first(_ name: StaticString, in namespaces: MarkupNamespace) -> MarkupElement? {
        var empty: MarkupElement?
        for child in children where child.isNamed(name, in: namespaces) {
            guard child.isEmpty else { return child }
            empty = empty ?? child
        }
        return empty
    }

    package func all(_ name: StaticString, in namespaces: MarkupNamespace) -> [MarkupElement] {
        children.filter { $0.isNamed(name, in: namespaces) }
    }

    package struct Children: Sequence, IteratorProtocol {
        let document: MarkupDocument
        fileprivate var index: Int
        fileprivate let end: Int

        init(document: MarkupDocument, index: Int, end: Int) {
            self.document = document
            self.index = index
            self.end = end
        }

        package mutating func next() -> MarkupElement? {
            guard index < end else { return nil }
            defer { index = Int(document.nodes[index].next) }
            return MarkupElement(document: document, index: index)
        }
    }
}
