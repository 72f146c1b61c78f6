import NewsModel
import PublishEngine

/// G2: every record below a committed offset has all its results on the results topic.
struct CommitsBehindResults: Checker {
    let promise = Promise.commitsBehindResults

    mutating func see(_ fact: Fact, _ books: Books) -> String? {
        guard case .committed(_, _, let offsets) = fact else { return nil }
        for offset in offsets {
            guard let log = books.sources[offset.partition] else { continue }
            guard offset.offset <= log.end else {
                return "\(offset.partition) was committed to \(offset.offset), past its end \(log.end)"
            }
            for (stands, item) in log.items.reversed() where stands < offset.offset {
                for delivery in books.deliveries(of: item) where books.resultsOf[delivery].isEmpty {
                    return
                        "\(offset.partition) was committed to \(offset.offset); \(books.name(delivery)) has no result"
                }
            }
        }
        return nil
    }
}
