import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A collector's reply to a batch (OTLP 1.x, "OTLP/HTTP Response").
enum CollectorReply {
    /// The collector accepted the batch, except for the given number of spans.
    case taken(rejected: UInt64)
    /// The collector asks to retry. The number is the seconds to wait, if it named a time.
    case later(Double?, reason: String)
    case refused(reason: String)

    private static let waitMax = 5.0

    init(_ response: HTTPURLResponse?, _ data: Data?, _ error: (any Error)?) {
        guard let response else {
            // The description may contain the address, which is not secret.
            self = .later(nil, reason: error.map { ($0 as NSError).localizedDescription } ?? "no reply")
            return
        }
        switch response.statusCode {
        case 200..<300: self = .taken(rejected: Self.rejected(data ?? Data()))
        case 429, 502, 503, 504:
            let wait = response.value(forHTTPHeaderField: "Retry-After").flatMap(Double.init)
            // "nan" is a number to Swift, and a trap as a duration.
            self = .later(
                wait.flatMap { $0.isNaN ? nil : min(max($0, 0), Self.waitMax) },
                reason: "status \(response.statusCode)")
        default: self = .refused(reason: "status \(response.statusCode)")
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
        guard data.count <= 65_536, let json = try? JSONSerialization.jsonObject(with: data) as? [String: Any],
            let partial = json["partialSuccess"] as? [String: Any]
        else { return 0 }
        if let text = partial["rejectedSpans"] as? String { return UInt64(text) ?? 0 }
        return (partial["rejectedSpans"] as? Int).map { UInt64(clamping: $0) } ?? 0
    }
}
