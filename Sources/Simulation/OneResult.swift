import NewsModel
import PublishEngine

/// G1: a delivery has one result, and one owner gives it one outcome.
///
/// A second result is legal only where an owner crashed, lost its partition or ran out of time before the first one was
/// stored and read back.
struct OneResult: Checker {
    let promise = Promise.oneResult
    private var settled: Set<[Int]> = []

    mutating func see(_ fact: Fact, _ books: Books) -> String? {
        switch fact {
        case .settled(let delivery, let tenure, let result):
            guard let tenure else { return "\(books.name(delivery)) ended in a partition that was given up" }
            guard settled.insert([delivery, tenure]).inserted else {
                return "\(books.name(delivery)) ended a second time, as \(result.outcome.rawValue)"
            }
            guard books.tenures[tenure].restored != nil else {
                return "\(books.name(delivery)) ended before the ledger was read"
            }
            if let known = books.resultsOf[delivery].first(where: { books.tenures[tenure].knows($0, as: tenure) }) {
                return
                    "\(books.name(delivery)) ended as \(result.outcome.rawValue); the ledger already had \(known.outcome.rawValue)"
            }
        case .stored(let delivery, let result, _):
            let twins = books.resultsOf[delivery].filter { $0.tenure == result.tenure }
            if twins.count > 1 { return "\(books.name(delivery)) has \(twins.count) results of one owner" }
        default:
            break
        }
        return nil
    }
}
