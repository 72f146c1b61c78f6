import NewsModel
import PublishEngine

/// The last results, in a ring. The bad ones have a ring of their own, so that a thousand good ones do not push them out.
struct RecentResults: Sendable {
    /// Results kept of each kind.
    static let capacity = 256

    /// As they came, since that costs nothing.
    private var good = Ring<StoreRequest>()
    /// Without their dead letters, which may be large.
    private var bad = Ring<ResultRecord>()

    private struct Ring<Element: Sendable>: Sendable {
        var elements: [Element] = []
        var next = 0

        mutating func add(_ element: Element) {
            if elements.count < RecentResults.capacity {
                elements.append(element)
            } else {
                elements[next] = element
                next = (next + 1) % RecentResults.capacity
            }
        }
    }

    mutating func add(_ request: StoreRequest) {
        if request.result.outcome == .accepted { good.add(request) } else { bad.add(request.result) }
    }

    /// All that are kept, in no order.
    var all: [ResultRecord] { good.elements.map(\.result) + bad.elements }
}
