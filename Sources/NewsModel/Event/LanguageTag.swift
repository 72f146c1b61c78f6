import ByteText

/// A language in the form of BCP 47, e.g. `fr` or `zh-Hant-TW`; compared without case. `fr_CA` equals `fr-CA`, because
/// many systems write it with an underscore.
public struct LanguageTag: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Subtags in lower case, joined by hyphens.
    private let text: String

    /// - Returns: `nil` for an invalid language tag. Subtags have one to eight letters or digits, the first only
    ///   letters; the whole has at most `EventLimits.language` bytes.
    public init?(_ text: String) {
        guard text.utf8.count <= EventLimits.language else { return nil }
        let lower = text.asciiLowercased
        let normal = lower.utf8.contains(UInt8(ascii: "_")) ? String(lower.map { $0 == "_" ? "-" : $0 }) : lower
        for (index, subtag) in normal.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
            .enumerated()
        {
            guard (1...8).contains(subtag.count) else { return nil }
            let isSound = subtag.allSatisfy { 0x61...0x7A ~= $0 || index > 0 && 0x30...0x39 ~= $0 }
            guard isSound else { return nil }
        }
        self.text = normal
    }

    /// True if both texts name the same language. Allocates no memory.
    public static func areEqual(_ a: String, _ b: String) -> Bool {
        func plain(_ byte: UInt8) -> UInt8 { byte == UInt8(ascii: "_") ? UInt8(ascii: "-") : byte.asciiLowercased }
        return a.utf8.elementsEqual(b.utf8) { plain($0) == plain($1) }
    }

    private init(known text: String) { self.text = text }

    /// The next more general tag by the lookup of RFC 4647, `fr` for `fr-CA`; `nil` without one.
    public var parent: LanguageTag? {
        var subtags = text.split(separator: "-").dropLast()
        // A single letter only announces what follows it.
        while subtags.last?.utf8.count == 1 { subtags.removeLast() }
        return subtags.isEmpty ? nil : LanguageTag(known: subtags.joined(separator: "-"))
    }

    /// True if the tag is equal or more general: `fr` covers `fr-CA` and `fr`.
    public func covers(_ other: LanguageTag) -> Bool {
        guard other.text.utf8.starts(with: text.utf8) else { return false }
        let next = other.text.utf8.dropFirst(text.utf8.count).first
        return next == nil || next == UInt8(ascii: "-")
    }

    public static func < (lhs: LanguageTag, rhs: LanguageTag) -> Bool { lhs.text < rhs.text }

    public var description: String { text }
}
