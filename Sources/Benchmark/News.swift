import NIOCore
import NewsModel

/// Events of the usual size for the benchmarks: about 400 bytes, like wire copy.
struct News {
    static let summary =
        "Investors took heart from figures that were less bad than feared, and the index closed at its highest since "
        + "spring; analysts said that the calm may not last beyond the vote on Tuesday, when turnout will tell."

    static func record(_ number: Int) -> SourceRecord {
        let id = "urn:newswire:bench:\(number + 10_000_000)"
        let value = """
            {"id":"\(id)","headline":"Markets steady as the count begins","summary":"\(summary)","category":"Business",\
            "urgency":3,"language":"en","publishedAt":"2026-11-21T01:02:03Z","link":"https://news.example/\(number)"}
            """
        return SourceRecord(
            offset: Int64(number), timestamp: Instant(nanoseconds: 1_790_000_000_000_000_000), key: Array(id.utf8),
            value: Array(value.utf8))
    }

    /// The number of the event that a request is about.
    static func number(in request: ByteBuffer) -> Int? {
        guard let start = request.position(after: "urn:newswire:bench:") else { return nil }
        let digits = request.readableBytesView.dropFirst(start).prefix { (0x30...0x39).contains($0) }
        return digits.count == 8 ? digits.reduce(0) { $0 * 10 + Int($1) - 0x30 } - 10_000_000 : nil
    }

    static func event(_ number: Int) -> NewsEvent? { try? NewsDecoder().decode(record(number)) }
}
