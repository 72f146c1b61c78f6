import DequeModule
import NewsModel
import PublishEngine

/// The latest results. Bad ones have a separate queue, so that a thousand good ones do not displace them.
struct RecentResults: Sendable {
    /// The most results kept of each kind.
    static let capacity = 256
    /// The approximate memory for the results of each kind.
    static let bytesMax = 256 << 10

    /// Good results, kept unchanged because that costs nothing.
    private var good = Recent<StoreRequest>()
    /// Bad results, without their carried headers.
    private var bad = Recent<ResultRecord>()

    private struct Recent<Element: Sendable>: Sendable {
        var elements: Deque<(element: Element, bytes: Int)> = []
        var bytes = 0

        mutating func add(_ element: Element, bytes count: Int) {
            elements.append((element, count))
            bytes += count
            while elements.count > RecentResults.capacity || bytes > RecentResults.bytesMax {
                guard let oldest = elements.popFirst() else { break }
                bytes -= oldest.bytes
            }
        }
    }

    mutating func add(_ request: StoreRequest) {
        let bytes = request.resultByteCount
        if request.result.outcome == .accepted {
            good.add(request, bytes: request.carried.reduce(bytes) { $0 + $1.byteCount })
        } else {
            bad.add(request.result, bytes: bytes)
        }
    }

    /// All results that are kept, unordered.
    var all: [ResultRecord] { good.elements.map(\.element.result) + bad.elements.map(\.element) }
}

extension StoreRequest {
    /// The approximate memory of the result: its own size and its texts.
    fileprivate var resultByteCount: Int {
        func count(_ text: String?) -> Int { text?.utf8.count ?? 0 }
        var bytes = 512 + count(result.eventID) + count(result.notificationID) + count(result.trackingID)
        for name in result.categories { bytes += 16 + name.utf8.count }
        for name in result.tags { bytes += 16 + name.utf8.count }
        return bytes + count(result.error?.code) + count(result.error?.detail)
    }
}
