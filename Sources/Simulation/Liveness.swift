import NewsModel
import PublishEngine

/// Once faults end, everything settles and is committed, in bounded time.
struct Liveness: Checker {
    let promise = Promise.liveness
    private var last: [Address: Moment] = [:]

    mutating func see(_ fact: Fact, _ books: Books) -> String? {
        if case .acted(let address, let moment) = fact { last[address] = moment }
        guard case .over(isSettled: false) = fact else { return nil }
        let open = books.life.news.indices.flatMap(books.deliveries).filter { books.resultsOf[$0].isEmpty }
        let halts = last.values.compactMap(\.vitals.halt?.reason.rawValue).sorted()
        let state = halts.isEmpty ? "" : " (halted: \(halts.joined(separator: ", ")))"
        if let first = open.first {
            return "\(open.count) deliveries never settle\(state), among them \(books.name(first))"
        }
        for lane in books.committed.indices {
            for (partition, log) in books.sources.sorted(by: { $0.key < $1.key }) where !log.items.isEmpty {
                guard books.life.setting.lanes[lane].topics.contains(partition.topic) else { continue }
                let committed = books.committed[lane][partition]
                if committed != log.end {
                    return
                        "\(partition) ends at \(log.end) and stays committed at \(committed.map(String.init) ?? "nothing")"
                }
            }
        }
        return "the end never came"
    }
}
