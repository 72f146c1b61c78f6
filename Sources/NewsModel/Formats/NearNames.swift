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

    /// The names in lower case, without separators.
    private var spellings: [StaticString] {
        switch self {
        case .users: ["users", "userid", "userids"]
        case .test: ["test", "tests", "istest"]
        case .environment: ["environment", "env"]
        case .status: ["status", "stauts", "pubstatus"]
        case .embargoUntil: ["embargountil", "embargo", "embargoed", "embargoend", "embargoeduntil"]
        }
    }

    /// Permits one letter too many, missing, wrong or swapped. Shorter names would match other words: `text`, `stats`.
    private var allowsTypingError: Bool { self == .users || self == .environment || self == .embargoUntil }

    /// The field that an unknown name resembles; `nil` without a match.
    ///
    /// Ignores case, blanks, `-`, `_` and letters beyond ASCII. Names that begin with `_`, `@` or `$` are private to
    /// the sender.
    static func meant(by name: JSONText) -> NarrowingField? {
        guard let first = name.first(where: { $0 > 0x20 && $0 < 0x80 }) else { return nil }
        // Nearly all unknown names return here.
        switch first | 0x20 {
        case UInt8(ascii: "u"), UInt8(ascii: "t"), UInt8(ascii: "i"), UInt8(ascii: "e"), UInt8(ascii: "s"),
            UInt8(ascii: "p"):
            break
        default: return nil
        }
        guard name.count <= 64 else { return nil }
        var letters: [UInt8] = []
        for byte in name where byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "-") && byte != UInt8(ascii: "_") {
            letters.append((0x41...0x5A).contains(byte) ? byte | 0x20 : byte)
        }
        return allCases.first { $0.isMeant(by: letters) }
    }

    private func isMeant(by letters: [UInt8]) -> Bool {
        if spellings.contains(where: { $0.withUTF8Buffer { letters.elementsEqual($0) } }) { return true }
        guard allowsTypingError, let spelling = spellings.first else { return false }
        return spelling.withUTF8Buffer { Self.isOneEdit(from: letters, to: Array($0)) }
    }

    private static func isOneEdit(from one: [UInt8], to other: [UInt8]) -> Bool {
        guard abs(one.count - other.count) <= 1 else { return false }
        let start = zip(one, other).prefix { $0 == $1 }.count
        let rest = zip(one.dropFirst(start).reversed(), other.dropFirst(start).reversed()).prefix { $0 == $1 }.count
        let left = one[start..<(one.count - rest)]
        let right = other[start..<(other.count - rest)]
        return max(left.count, right.count) <= 1 || left.count == 2 && left.elementsEqual(right.reversed())
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
}
