import ByteText

/// Splits XML into pieces, and stops where it is not well-formed.
struct XMLPieces {
    enum Piece {
        /// Element names without their prefix.
        case opening(String)
        case closing(String)
        case text(String)
    }

    private var rest: ArraySlice<UInt8>

    init(_ bytes: some Collection<UInt8>) { rest = Array(bytes)[...] }

    /// True if all bytes were consumed.
    var isAtEnd: Bool { rest.isEmpty }

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
            // Empty elements are skipped, because they have no meaning in these documents.
            if inside.last == UInt8(ascii: "/") { continue }
            return .opening(Self.name(inside))
        }
        return nil
    }

    /// Skips from `opening` through `closing` and returns the bytes between; `nil` if `opening` is not next.
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

    /// Reads the inside of a tag. A `>` within an attribute's quotes does not end the tag.
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
