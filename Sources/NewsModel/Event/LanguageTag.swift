import ByteText

/// A language as BCP 47 writes it, e.g. `fr` or `zh-Hant-TW`; compared without case. `fr_CA` counts as `fr-CA`, because many
/// systems write it so.
public struct LanguageTag: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Subtags in lower case, joined by hyphens.
    private let text: String

    /// - Returns: `nil` for what cannot be a language tag: subtags have one to eight letters or digits, the first one only
    ///   letters, and the whole at most `EventLimits.language` bytes.
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

    /// What two senders wrote names the same language. Takes no memory.
    public static func areEqual(_ a: String, _ b: String) -> Bool {
        func plain(_ byte: UInt8) -> UInt8 { byte == UInt8(ascii: "_") ? UInt8(ascii: "-") : byte.asciiLowercased }
        return a.utf8.elementsEqual(b.utf8) { plain($0) == plain($1) }
    }

    private init(known text: String) { self.text = text }

    /// The next more general tag, `fr` of `fr-CA`, as RFC 4647 looks languages up; `nil` if there is none.
    public var parent: LanguageTag? {
        var subtags = text.split(separator: "-").dropLast()
        // A single letter only announces what follows it.
        while subtags.last?.utf8.count == 1 { subtags.removeLast() }
        return subtags.isEmpty ? nil : LanguageTag(known: subtags.joined(separator: "-"))
    }

    /// `fr` covers `fr-CA`, and itself.
    public func covers(_ other: LanguageTag) -> Bool {
        guard other.text.utf8.starts(with: text.utf8) else { return false }
        let next = other.text.utf8.dropFirst(text.utf8.count).first
        return next == nil || next == UInt8(ascii: "-")
    }

    public static func < (lhs: LanguageTag, rhs: LanguageTag) -> Bool { lhs.text < rhs.text }

    public var description: String { text }
}
