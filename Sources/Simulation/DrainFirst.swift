import NewsModel
import PublishEngine

/// A partition that is given up before the deadline leaves nothing behind: no request without its reply, no result
/// without its acknowledgement. So a handover in good order repeats nothing.
struct DrainFirst: Checker {
    let promise = Promise.drainFirst
    private var unstored: [Int: Set<Int>] = [:]

    mutating func see(_ fact: Fact, _ books: Books) -> String? {
        switch fact {
        case .settled(let delivery, let tenure?, _): unstored[tenure, default: []].insert(delivery)
        case .acknowledged(let tenure?, let delivery): unstored[tenure]?.remove(delivery)
        case .ended(let tenure) where books.tenures[tenure].end == .released:
            if let delivery = unstored[tenure]?.min() {
                return
                    "\(books.tenures[tenure].partition) was given up; the result of \(books.name(delivery)) was not stored"
            }
            let open = books.attempts.last { $0.tenure == tenure && $0.reply == nil }
            return open.map {
                "\(books.tenures[tenure].partition) was given up while \(books.name($0.delivery)) was under way"
            }
        default: break
        }
        return nil
    }
}
