/// A field that limits an event's audience or time. A misspelt one would be ignored as unknown: a single reader's news
/// would reach a category, a test everybody. So events with such a name are refused.
enum NarrowingField: CaseIterable {
    case users, test, environment, status, embargoUntil

    var name: StaticString {
        switch self {
        case .users: "users"
        case .test: "test"
        case .environment: "environment"
        case .status: "status"
        case .embargoUntil: "embargoUntil"
        }
    }

    var field: Field {
        switch self {
        case .users: .users
        case .test: .test
        case .environment: .environment
        case .status: .status
        case .embargoUntil: .embargoUntil
        }
    }

    /// True for fields that limit where or to whom a recall counts. Other fields do not affect a recall.
    var limitsRecalls: Bool { self == .test || self == .environment }

    /// The names in lower case, letters only.
    private var spellings: [StaticString] {
        switch self {
        case .users: ["users", "userid", "userids"]
        case .test: ["test", "tests", "istest", "testing", "testonly", "testmode"]
        case .environment: ["environment", "environments", "environnement", "env"]
        case .status: ["status", "pubstatus"]
        case .embargoUntil: ["embargountil", "embargo", "embargoed", "embargoend", "embargoeduntil"]
        }
    }

    /// Permits one letter too many, missing or wrong. Shorter names would match other words: `text`, `stats`. Two swapped letters
    /// are permitted for every field.
    private var allowsTypingError: Bool { self == .users || self == .environment || self == .embargoUntil }

    /// Words that are one letter from a field's name and mean something else.
    private static let ordinaryWords: [StaticString] = ["ushers"]

    /// The field that an unknown name resembles; `nil` without a match.
    ///
    /// Ignores case, width, everything but ASCII letters, and one of the prefixes `x`, `nw` and `ce` before a separator. A status
    /// with a leading `_`, `@` or `$` is private to the sender: content management systems write `_status` into documents.
    static func meant(by name: JSONText) -> NarrowingField? {
        let name = name[prefixEnd(of: name)...]
        // Nearly all unknown names return here. The byte 0xEF begins letters of full width.
        guard let first = name.firstIndex(where: { isLetter($0) || $0 == 0xEF }) else { return nil }
        switch name[first] | 0x20 {
        case UInt8(ascii: "u"), UInt8(ascii: "t"), UInt8(ascii: "i"), UInt8(ascii: "e"), UInt8(ascii: "s"),
            UInt8(ascii: "p"), 0xEF:
            break
        default: return nil
        }
        guard name.count <= 64 else { return nil }
        let letters = letters(of: name)
        guard let field = allCases.first(where: { $0.isMeant(by: letters) }) else { return nil }
        let isPrivate = name[..<first].contains { "_@$".utf8.contains($0) }
        return field == .status && isPrivate ? nil : field
    }

    /// The field that a header resembles; `nil` without a match. In a header, such a field would have no effect.
    ///
    /// Only headers with our prefix or that of CloudEvents count, because other programs on the same bus write headers such as
    /// `environment` of their own.
    static func meant(byHeader name: JSONText) -> NarrowingField? {
        prefixEnd(of: name) > 2 ? meant(by: name) : nil
    }

    /// The number of bytes of a prefix with its separator; 0 without one.
    private static func prefixEnd(of name: JSONText) -> Int {
        guard name.count > 2 else { return 0 }
        let end: Int
        switch (name[0] | 0x20, name[1] | 0x20) {
        case (UInt8(ascii: "x"), _): end = 1
        case (UInt8(ascii: "n"), UInt8(ascii: "w")), (UInt8(ascii: "c"), UInt8(ascii: "e")): end = 2
        default: return 0
        }
        return isLetter(name[end]) || name[end] >= 0x80 ? 0 : end + 1
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

    /// The ASCII letters of a name in lower case. Letters of full width (U+FF21 to U+FF5A) count as ASCII letters.
    private static func letters(of name: Slice<JSONText>) -> [UInt8] {
        var letters: [UInt8] = []
        var rest = name
        while let byte = rest.popFirst() {
            if isLetter(byte) { letters.append(byte | 0x20) }
            guard byte == 0xEF, rest.count >= 2 else { continue }
            switch (rest[rest.startIndex], rest[rest.startIndex + 1]) {
            case (0xBC, let last) where (0xA1...0xBA).contains(last): letters.append(last - 0xA1 + UInt8(ascii: "a"))
            case (0xBD, let last) where (0x81...0x9A).contains(last): letters.append(last - 0x81 + UInt8(ascii: "a"))
            default: break
            }
        }
        return letters
    }

    private func isMeant(by letters: [UInt8]) -> Bool {
        func isAny(of words: [StaticString]) -> Bool {
            words.contains { $0.withUTF8Buffer { letters.elementsEqual($0) } }
        }
        if isAny(of: spellings) { return true }
        guard let spelling = spellings.first, !isAny(of: Self.ordinaryWords) else { return false }
        return spelling.withUTF8Buffer { Self.isOneEdit(from: letters, to: $0, onlySwap: !allowsTypingError) }
    }

    private static func isOneEdit(from one: [UInt8], to other: JSONText, onlySwap: Bool) -> Bool {
        guard abs(one.count - other.count) <= 1 else { return false }
        let start = zip(one, other).prefix { $0 == $1 }.count
        let rest = zip(one.dropFirst(start).reversed(), other.dropFirst(start).reversed()).prefix { $0 == $1 }.count
        let left = one[start..<(one.count - rest)]
        let right = other[start..<(other.count - rest)]
        if left.count == 2, left.elementsEqual(right.reversed()) { return true }
        return !onlySwap && max(left.count, right.count) <= 1
    }
}

/// A name that resembles a `NarrowingField`.
struct NearName {
    var meant: NarrowingField
    /// The name as in the document or header.
    var name: JSONText
}

extension Undecodable {
    static func nearName(_ name: String, meant: StaticString) -> Undecodable {
        Undecodable(
            .nearName,
            "\(name) is no field; \(meant) was probably meant, and without it the event would reach other readers")
    }

    static func besideData(_ name: String) -> Undecodable {
        Undecodable(
            .nearName, "\(name) stands outside the data of the CloudEvent, where it has no effect; write it inside")
    }

    /// - Parameter header: the name of a header that has no effect.
    static func misplaced(_ header: String, meant: NarrowingField) -> Undecodable {
        if header.hasPrefix(HeaderName.cloudEventPrefix) { return besideData("the header \(header)") }
        let remedy =
            meant == .environment
            ? "write it into the event, or as \(HeaderName.environment)" : "write it into the event"
        return Undecodable(
            .nearName, "the header \(header) has no effect; \(meant.name) was probably meant: \(remedy)")
    }
}
