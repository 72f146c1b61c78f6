import ByteText

/// A document's elements in a flat list, each with the ranges of its name, attributes and content in the bytes. Texts
/// are read on demand, so unused content costs only the scan.
///
/// Memory: the bytes, and 48 more for each element. There are at most `elementsMax` elements.
package final class MarkupDocument: Sendable {
    /// Maximum number of recorded elements. The text of later ones belongs to the element around them.
    static let elementsMax = 1 << 20
    /// Maximum number of namespace declarations in force at one place.
    static let declarationsMax = 256

    struct Node {
        /// The tag's name with its prefix.
        var name: Range<Int32>
        /// Length in bytes of the name's prefix and its colon.
        var prefix: Int32
        var namespace: MarkupNamespace
        /// End of the attributes. The tag ends at `contentStart`.
        var attributesEnd: Int32
        var contentStart: Int32
        var contentEnd: Int32
        /// The index after the last element inside this one.
        var next: Int32
        var parent: Int32
        /// The last namespace declaration in force; −1 without one.
        var scope: Int32
        /// True if the document ended inside the element.
        var isCutOff = false
    }

    struct Declaration {
        var prefix: Range<Int32>
        var namespace: MarkupNamespace
        var outer: Int32
        var depth: Int32
    }

    let bytes: [UInt8]
    let nodes: [Node]
    let declarations: [Declaration]
    /// The content of the document type declaration.
    package let documentType: String?
    /// Number of steps taken to read the document, for tests of linear time.
    package let work: Int

    /// - Parameter bytes: valid UTF-8.
    package init(_ bytes: [UInt8]) {
        let built = bytes.withUnsafeBufferPointer { buffer in
            var builder = Builder(bytes: buffer)
            builder.read()
            return (builder.nodes, builder.declarations, builder.documentType, builder.work)
        }
        self.bytes = bytes
        (nodes, declarations, documentType, work) = built
    }

    /// The first element, if the document has one.
    package var root: MarkupElement? { nodes.isEmpty ? nil : MarkupElement(document: self, index: 0) }
}

extension MarkupDocument {
    /// Matches end tags with start tags. An end tag closes the nearest open element of its name and all elements inside
    /// it. An end tag without a match is ignored. An element below `FeedLimits.depth` is not recorded. Its name
    /// distinguishes its end tag from those of recorded elements.
    fileprivate struct Builder {
        let bytes: UnsafeBufferPointer<UInt8>
        var nodes: [Node] = []
        var declarations: [Declaration] = []
        var documentType: String?
        var work = 0

        private var open: [(node: Int, hash: UInt32)] = []
        /// Number of open start tags beyond `FeedLimits.depth`, by the hash of their name. There are at most
        /// `FeedLimits.depth` names.
        private var tooDeep: [UInt32: Int] = [:]
        private var scope: Int32 = -1

        init(bytes: UnsafeBufferPointer<UInt8>) {
            self.bytes = bytes
            nodes.reserveCapacity(min(bytes.count / 64, MarkupDocument.elementsMax))
        }

        mutating func read() {
            var tokens = MarkupTokens(bytes)
            while let token = tokens.next() {
                switch token.kind {
                case .startTag: start(token)
                case .endTag: end(token)
                case .documentType where nodes.isEmpty && documentType == nil: documentType = bytes.text(token.inside)
                case .documentType, .text, .data, .skipped: break
                }
            }
            work &+= tokens.work
            while !open.isEmpty { close(at: bytes.count, cutOff: true) }
        }

        private mutating func start(_ token: MarkupTokens.Token) {
            guard open.count < FeedLimits.depth else {
                guard !token.closesItself else { return }
                let name = hash(token.name)
                if tooDeep[name] != nil || tooDeep.count < FeedLimits.depth { tooDeep[name, default: 0] += 1 }
                return
            }
            guard nodes.count < MarkupDocument.elementsMax else { return }
            let outer = scope
            if token.declaresNamespace { declare(token.inside, isRSS: bytes.spells("rss", in: token.name)) }
            let prefix = prefixLength(token.name)
            let namespace = namespace(
                ofPrefix: token.name.lowerBound..<token.name.lowerBound + max(prefix - 1, 0), scope)
            let index = nodes.count
            nodes.append(
                Node(
                    name: Int32(token.name.lowerBound)..<Int32(token.name.upperBound), prefix: Int32(prefix),
                    namespace: namespace, attributesEnd: Int32(token.inside.upperBound),
                    contentStart: Int32(token.end), contentEnd: Int32(token.end), next: Int32(index + 1),
                    parent: Int32(open.last?.node ?? -1), scope: scope))
            if token.closesItself {
                scope = outer
            } else {
                open.append((index, hash(token.name)))
            }
        }

        private mutating func end(_ token: MarkupTokens.Token) {
            let wanted = hash(token.name)
            if let count = tooDeep[wanted] {
                tooDeep[wanted] = count > 1 ? count - 1 : nil
                return
            }
            guard
                let match = open.lastIndex(where: {
                    work &+= 1
                    return $0.hash == wanted && spellsSame(nodes[$0.node].name, token.name)
                })
            else { return }
            tooDeep = [:]
            while open.count > match { close(at: token.start, cutOff: !token.isComplete) }
        }

        private mutating func close(at end: Int, cutOff: Bool) {
            guard let (index, _) = open.popLast() else { return }
            nodes[index].contentEnd = Int32(end)
            nodes[index].next = Int32(nodes.count)
            nodes[index].isCutOff = cutOff
            let parent = Int(nodes[index].parent)
            scope = parent < 0 ? -1 : nodes[parent].scope
        }

        // MARK: - Names

        private func prefixLength(_ name: Range<Int>) -> Int {
            for at in name where bytes[at] == UInt8(ascii: ":") { return at + 1 - name.lowerBound }
            return 0
        }

        /// FNV-1a of the name in lower case.
        private func hash(_ name: Range<Int>) -> UInt32 {
            var hash: UInt32 = 2_166_136_261
            for at in name { hash = (hash ^ UInt32(bytes[at].asciiLowercased)) &* 16_777_619 }
            return hash
        }

        private func spellsSame(_ one: Range<Int32>, _ other: Range<Int>) -> Bool {
            guard one.count == other.count else { return false }
            return zip(one, other).allSatisfy { bytes[Int($0)].asciiLowercased == bytes[$1].asciiLowercased }
        }

        // MARK: - Namespaces

        private mutating func declare(_ attributes: Range<Int>, isRSS: Bool) {
            var rest = MarkupAttributes(bytes, in: attributes)
            var count = 0
            while let attribute = rest.next(), count < FeedLimits.attributes {
                count += 1
                let name = attribute.name
                guard bytes.holds("xmlns", at: name.lowerBound, name.upperBound) else { continue }
                let prefix: Range<Int>
                if name.count == 5 {
                    prefix = name.upperBound..<name.upperBound
                } else {
                    guard bytes[name.lowerBound + 5] == UInt8(ascii: ":") else { continue }
                    prefix = name.lowerBound + 6..<name.upperBound
                }
                let depth = scope < 0 ? 0 : declarations[Int(scope)].depth
                guard depth < MarkupDocument.declarationsMax else { return }
                // A longer address is not one that we know, so it is not copied.
                let address = attribute.value.count > 256 ? "…" : bytes.text(attribute.value)
                var namespace = MarkupNamespace(address: address)
                // The root's default namespace contains the format's elements, whatever its name. In RSS this also
                // holds for names of other vocabularies, because many feeds copy that of Atom.
                if prefix.isEmpty,
                    namespace == .other && nodes.isEmpty || isRSS && namespace.isDisjoint(with: .rss)
                {
                    namespace = .none
                }
                declarations.append(
                    Declaration(
                        prefix: Int32(prefix.lowerBound)..<Int32(prefix.upperBound), namespace: namespace, outer: scope,
                        depth: depth + 1))
                scope = Int32(declarations.count - 1)
            }
            work &+= attributes.count
        }

        private mutating func namespace(ofPrefix prefix: Range<Int>, _ scope: Int32) -> MarkupNamespace {
            let (namespace, steps) = MarkupDocument.namespace(ofPrefix: prefix, scope, bytes, declarations)
            work &+= steps
            return namespace
        }
    }

    static func namespace(
        ofPrefix prefix: Range<Int>, _ scope: Int32, _ bytes: UnsafeBufferPointer<UInt8>,
        _ declarations: [Declaration]
    ) -> (MarkupNamespace, steps: Int) {
        var at = scope
        var steps = 0
        while at >= 0 {
            let declaration = declarations[Int(at)]
            steps += 1
            if declaration.prefix.count == prefix.count,
                zip(declaration.prefix, prefix).allSatisfy({ bytes[Int($0)] == bytes[$1] })
            {
                return (declaration.namespace, steps)
            }
            at = declaration.outer
        }
        if prefix.isEmpty { return (.none, steps) }
        return (prefix.count > 16 ? .other : MarkupNamespace(usualPrefix: bytes.text(prefix)), steps)
    }
}
