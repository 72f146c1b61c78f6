import ByteText

extension HubLinks {
    /// The links in the head of a web page. A feed has its own in `FeedDocument`.
    /// - Parameters:
    ///   - page: UTF-8; the first 256 KiB are looked at.
    ///   - base: the page's address.
    public init(page: [UInt8], base: String) {
        self.init()
        var reader = TagReader(page.prefix(262_144))
        while let tag = reader.next() {
            switch tag.name {
            case "link":
                guard let target = tag.attributes["href"], let relations = tag.attributes["rel"] else { continue }
                add(XMLText.replacingReferences(target), relations: relations, base: base)
            case "script", "style", "title", "noscript", "template": reader.skip(toEndOf: tag.name)
            case "/head", "body": return
            default: break
            }
        }
    }
}

/// Reads the tags of a page, one after another, as far as its head needs it.
private struct TagReader {
    private var rest: ArraySlice<UInt8>

    init(_ page: ArraySlice<UInt8>) { rest = page }

    struct Tag {
        /// In lower case, with the slash of an end tag.
        var name: String
        /// By name in lower case; the first of a name counts.
        var attributes: [String: String] = [:]
    }

    /// - Returns: `nil` at the end of the page, also in the middle of a tag.
    mutating func next() -> Tag? {
        while let open = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[open...].dropFirst()
            if rest.starts(with: "!--".utf8) {
                skip(past: "-->")
            } else if let first = rest.first, first.isASCIILetter || first == UInt8(ascii: "/") {
                return tag()
            }
        }
        return nil
    }

    mutating func skip(toEndOf name: String) {
        while let tag = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[tag...].dropFirst()
            if Self.lower(rest.prefix(name.utf8.count + 1)) == "/" + name { return }
        }
    }

    private mutating func skip(past end: String) {
        while let first = end.utf8.first, let found = rest.firstIndex(of: first) {
            rest = rest[found...]
            if rest.starts(with: end.utf8) { return rest = rest.dropFirst(end.utf8.count) }
            rest = rest.dropFirst()
        }
        rest = []
    }

    private mutating func tag() -> Tag? {
        var tag = Tag(name: Self.lower(take { !Self.isBlank($0) && $0 != UInt8(ascii: ">") }))
        while true {
            _ = take { Self.isBlank($0) || $0 == UInt8(ascii: "/") }
            guard let byte = rest.first else { return nil }
            if byte == UInt8(ascii: ">") {
                rest = rest.dropFirst()
                return tag
            }
            let name = Self.lower(take { !Self.isBlank($0) && !"=>/".utf8.contains($0) })
            _ = take(Self.isBlank)
            var value = ""
            if rest.first == UInt8(ascii: "=") {
                rest = rest.dropFirst()
                _ = take(Self.isBlank)
                value = self.value()
            }
            if tag.attributes.count < FeedLimits.attributes, tag.attributes[name] == nil {
                tag.attributes[name] = value
            }
        }
    }

    private mutating func value() -> String {
        guard let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            return String(decoding: take { !Self.isBlank($0) && $0 != UInt8(ascii: ">") }, as: UTF8.self)
        }
        rest = rest.dropFirst()
        defer { rest = rest.dropFirst() }
        return String(decoding: take { $0 != quote }, as: UTF8.self)
    }

    private mutating func take(_ isTaken: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let taken = rest.prefix(while: isTaken)
        rest = rest[taken.endIndex...]
        return taken
    }

    private static func lower(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes.map(\.asciiLowercased), as: UTF8.self)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
