import NewsModel

/// The members of a state record. A member that is missing or of another type reads as absent. A record written by
/// another version or by hand therefore never stops a feed.
struct StateMembers {
    private let members: [String: JSONValue]

    init(_ object: JSONObject) {
        members = Dictionary(
            object.prefix(64).map { (String(decoding: $0.name, as: UTF8.self), $0.value) },
            uniquingKeysWith: { first, _ in first })
    }

    func text(_ name: String) -> String? {
        if case .string(let text)? = members[name] { String(decoding: text, as: UTF8.self) } else { nil }
    }

    func bytes(_ name: String) -> [UInt8]? {
        if case .string(let text)? = members[name] { Array(text) } else { nil }
    }

    func number(_ name: String) -> Int64? {
        if case .integer(let number)? = members[name] { number } else { nil }
    }

    func minute(_ name: String) -> UInt32 { number(name).map { UInt32(clamping: $0) } ?? 0 }

    /// 64 bits in hexadecimal, because JSON numbers are exact only up to 53 bits.
    func hash(_ name: String) -> UInt64 { text(name).flatMap { UInt64($0, radix: 16) } ?? 0 }

    func instant(_ name: String) -> Instant? { text(name).flatMap { Instant(rfc3339: $0) } }

    func seconds(_ name: String) -> Duration? {
        number(name).flatMap { (0...Int64(366 * 86_400)).contains($0) ? .seconds($0) : nil }
    }

    func flag(_ name: String) -> Bool {
        if case .boolean(true)? = members[name] { true } else { false }
    }

    func object(_ name: String) -> JSONObject? {
        if case .object(let object)? = members[name] { object } else { nil }
    }

    func members(_ name: String) -> StateMembers? { object(name).map(StateMembers.init) }

    func numbers(_ name: String) -> [Int64] {
        guard case .array(let array)? = members[name] else { return [] }
        return array.prefix(16).compactMap { value in
            if case .integer(let number) = value { number } else { nil }
        }
    }
}
