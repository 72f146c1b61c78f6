import ByteText
import NewsModel

/// The members of a state record. A member that is missing or of another type reads as absent. A record written by
/// another version or by hand therefore never stops a feed.
struct StateMembers {
    private let members: [JSONObject.Member]

    init(_ object: JSONObject) {
        members = Array(object.prefix(64))
    }

    private subscript(_ name: StaticString) -> JSONValue? {
        members.first { $0.name == name }?.value
    }

    func text(_ name: StaticString) -> String? { string(name).map { String(decoding: $0, as: UTF8.self) } }

    func bytes(_ name: StaticString) -> [UInt8]? { string(name).map(Array.init) }

    private func string(_ name: StaticString) -> JSONText? {
        if case .string(let text)? = self[name] { text } else { nil }
    }

    func number(_ name: StaticString) -> Int64? {
        if case .integer(let number)? = self[name] { number } else { nil }
    }

    func minute(_ name: StaticString) -> UInt32 { number(name).map { UInt32(clamping: $0) } ?? 0 }

    /// 64 bits in hexadecimal, because JSON numbers are exact only up to 53 bits.
    func hash(_ name: StaticString) -> UInt64 {
        guard let digits = string(name), digits.count <= 16 else { return 0 }
        var hash: UInt64 = 0
        for digit in digits {
            guard let value = digit.hexDigitValue else { return 0 }
            hash = hash << 4 | UInt64(value)
        }
        return hash
    }

    func instant(_ name: StaticString) -> Instant? { text(name).flatMap { Instant(rfc3339: $0) } }

    func seconds(_ name: StaticString) -> Duration? {
        number(name).flatMap { (0...Int64(366 * 86_400)).contains($0) ? .seconds($0) : nil }
    }

    func flag(_ name: StaticString) -> Bool {
        if case .boolean(true)? = self[name] { true } else { false }
    }

    func object(_ name: StaticString) -> JSONObject? {
        if case .object(let object)? = self[name] { object } else { nil }
    }

    func members(_ name: StaticString) -> StateMembers? { object(name).map(StateMembers.init) }

    func numbers(_ name: StaticString) -> [Int64] {
        guard case .array(let array)? = self[name] else { return [] }
        return array.prefix(16).compactMap { value in
            if case .integer(let number) = value { number } else { nil }
        }
    }
}
