import ByteText
import NewsModel

/// Arithmetic on versions, whether counted here or given by a publisher.
enum EntryVersion {
    /// The age of a publisher's version compared with that of another one.
    enum Age { case older, same, newer }

    /// Compares two versions of one entry number by number: `1.10` is newer than `1.9`, and `draft-10` than `draft-9`. Dates and
    /// times are compared as the versions of events are, because they may have different zones.
    ///
    /// - Returns: `nil` if the texts around the numbers differ, as in random ids, because their order says nothing.
    static func age(of version: String, comparedWith other: String) -> Age? {
        if version == other { return .same }
        if let time = NewsEvent.Version(version).time, let otherTime = NewsEvent.Version(other).time {
            return time == otherTime ? .same : time < otherTime ? .older : .newer
        }
        let (own, others) = (pieces(of: version), pieces(of: other))
        var age: Age?
        for (piece, other) in zip(own, others) where piece != other {
            guard isNumber(piece), isNumber(other) else { return nil }
            if age == nil { age = (piece.count, piece) < (other.count, other) ? .older : .newer }
        }
        if own.count == others.count { return age ?? .same }
        guard age != nil else { return own.count < others.count ? .older : .newer }
        return (own + others).allSatisfy { isNumber($0) || $0 == "." } ? age : nil
    }

    /// Splits a version into numbers, without leading zeros, and the texts around them.
    private static func pieces(of version: String) -> [Substring] {
        var pieces: [Substring] = []
        var rest = version.utf8[...]
        while let first = rest.first {
            let piece = rest.prefix { $0.isASCIIDigit == first.isASCIIDigit }
            rest = rest[piece.endIndex...]
            let digits = first.isASCIIDigit ? piece.drop { $0 == UInt8(ascii: "0") } : piece
            pieces.append(Substring(digits.isEmpty ? piece.suffix(1) : digits))
        }
        return pieces
    }

    private static func isNumber(_ piece: Substring) -> Bool { piece.utf8.first?.isASCIIDigit ?? false }

    /// Returns a version for an event that is greater than `text`: for a number, the next number. For any other text, a
    /// count before the publisher's own version, because `1.10` as text is less than `1.9`.
    static func next(after text: String, publishers own: String) -> String {
        if let number = Int64(text), number < .max { return String(number + 1) }
        let next = counted((counted(text)?.count ?? 0) &+ 1, publishers: own)
        return text < next ? next : text.cut(toBytes: EventLimits.version - 1) + "+"
    }

    /// Returns the publisher's own version after a count.
    static func counted(_ count: Int, publishers own: String) -> String {
        let count = String(count)
        // Versions other than numbers compare as text, and "~" follows all other ASCII.
        return "~\(String(repeating: "0", count: max(6 - count.utf8.count, 0)))\(count).\(own)"
            .cut(toBytes: EventLimits.version)
    }

    /// The publisher's own version in the version of an event.
    static func publishers(in version: String) -> String { counted(version)?.own ?? version }

    private static func counted(_ version: String) -> (count: Int, own: String)? {
        guard version.hasPrefix("~"), let dot = version.firstIndex(of: "."),
            let count = Int(version[..<dot].dropFirst())
        else { return nil }
        return (count, String(version[dot...].dropFirst()))
    }
}
