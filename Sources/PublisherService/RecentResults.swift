import NewsModel

/// The last results, in a ring. The bad ones have a ring of their own, so that a thousand good ones do not push them out.
struct RecentResults: Sendable {
    /// Results kept of each kind.
    static let capacity = 256

    private var good = Ring()
    private var bad = Ring()

    private struct Ring: Sendable {
        var results: [ResultRecord] = []
        var next = 0

        mutating func add(_ result: ResultRecord) {
            if results.count < RecentResults.capacity {
                results.append(result)
            } else {
                results[next] = result
                next = (next + 1) % RecentResults.capacity
            }
        }
    }

    mutating func add(_ result: ResultRecord) {
        if result.outcome == .accepted { good.add(result) } else { bad.add(result) }
    }

    /// All that are kept, in no order.
    var all: [ResultRecord] { good.results + bad.results }
}
