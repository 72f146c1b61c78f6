import Foundation
import HTTPCalls

/// A collector's reply to a batch (OTLP 1.x, "OTLP/HTTP Response").
enum CollectorReply {
    /// The collector accepted the batch, except for the given number of spans.
    case taken(rejected: UInt64)
    /// The collector asks to retry. The number is the seconds to wait, if it named a time.
    case later(Double?, reason: String)
    case refused(reason: String)

    private static let waitMax = 5.0
    /// The most bytes of a reply.
    static let bytesMax = 65_536

    init(_ answer: () throws(HTTPCall.Failure) -> HTTPCall.Answer) {
        do throws(HTTPCall.Failure) {
            self.init(try answer())
        } catch {
            self = error.isTooLarge ? .refused(reason: error.detail) : .later(nil, reason: error.detail)
        }
    }

    private init(_ answer: HTTPCall.Answer) {
        switch answer.status {
        case 200..<300: self = .taken(rejected: Self.rejected(Data(answer.body)))
        case 429, 502, 503, 504:
            let wait = answer.retryAfter.flatMap(Double.init)
            // "nan" is a number to Swift, and a trap as a duration.
            self = .later(
                wait.flatMap { $0.isNaN ? nil : min(max($0, 0), Self.waitMax) },
                reason: "status \(answer.status)")
        default: self = .refused(reason: "status \(answer.status)")
        }
    }

    /// - Returns: the error, if any, and the number of spans that are lost.
    func outcome(ofSpans count: UInt64) -> (reason: String?, dropped: UInt64) {
        switch self {
        case .taken(let rejected): (rejected > 0 ? "some spans were rejected" : nil, min(rejected, count))
        case .later(_, let reason), .refused(let reason): (reason, count)
        }
    }

    /// The number in `{"partialSuccess": {"rejectedSpans": "3"}}`, which some collectors write unquoted; otherwise 0.
    private static func rejected(_ data: Data) -> UInt64 {
        guard let json = try? JSONSerialization.jsonObject(with: data) as? [String: Any],
            let partial = json["partialSuccess"] as? [String: Any]
        else { return 0 }
        if let text = partial["rejectedSpans"] as? String { return UInt64(text) ?? 0 }
        return (partial["rejectedSpans"] as? Int).map { UInt64(clamping: $0) } ?? 0
    }
}
