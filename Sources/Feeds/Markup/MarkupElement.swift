/// One element of a document: a place in it, cheap to copy. Names compare in any case of ASCII letters.
package struct MarkupElement: Sendable {
    let document: MarkupDocument
    let index: Int

    private var node: MarkupDocument.Node { document.nodes[index] }

    // MARK: - Names

    /// Without prefix, as written.
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

    /// The document ended before the element did.
    package var isCutOff: Bool { node.isCutOff }

    // MARK: - Attributes

    /// An attribute's value, references replaced and blanks around it removed; `nil` when absent, empty when empty.
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
        // An attribute without prefix is in no namespace, whatever the default one is.
        if written.count == length { return namespaces.contains(.none) }
        let colon = written.upperBound - length - 1
        guard bytes[colon] == UInt8(ascii: ":") else { return false }
        let (namespace, _) = MarkupDocument.namespace(
            ofPrefix: written.lowerBound..<colon, node.scope, bytes, document.declarations)
        return !namespace.isDisjoint(with: namespaces)
    }

    // MARK: - Content

    /// All characters inside, those of elements inside too, with references replaced. Comments are left out.
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

    /// The content as HTML: escaped markup unescaped once, and elements as they stand.
    package var markup: [UInt8] {
        var markup: [UInt8] = []
        var depth = 0
        read { token, bytes in
            switch token.kind {
            // Inside of elements that stand here unescaped, references belong to their own level.
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

    /// The content just as it is written.
    package var source: ArraySlice<UInt8> { document.bytes[Int(node.contentStart)..<Int(node.contentEnd)] }

    /// True when the content is blank and has no element.
    package var isEmpty: Bool { source.allSatisfy(\.isMarkupBlank) }

    private func read(_ body: (MarkupTokens.Token, UnsafeBufferPointer<UInt8>) -> Void) {
        let content = Int(node.contentStart)..<Int(node.contentEnd)
        document.bytes.withUnsafeBufferPointer { bytes in
            var tokens = MarkupTokens(bytes, in: content)
            while let token = tokens.next() { body(token, bytes) }
        }
    }

    // MARK: - Around

    package var parent: MarkupElement? {
        node.parent < 0 ? nil : MarkupElement(document: document, index: Int(node.parent))
    }

    /// The attribute of this element or of the nearest one around it that has it.
    package func inherited(_ name: StaticString, in namespaces: MarkupNamespace) -> String? {
        var element: MarkupElement? = self
        while let here = element {
            if let value = here[name, in: namespaces] { return value }
            element = here.parent
        }
        return nil
    }

    /// Elements directly inside, in order.
    package var children: Children {
        Children(document: document, index: index + 1, end: Int(node.next))
    }

    /// The first that has content; the first of all when none has any.
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
