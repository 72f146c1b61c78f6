/// G1 and G3: at the end of a life every record has the results of all its deliveries.
struct NothingLost: Checker {
    let promise = Promise.nothingLost

    mutating func see(_ fact: Fact, _ books: Books) -> String? {
        guard case .over = fact else { return nil }
        for item in books.life.news.indices {
            for delivery in books.deliveries(of: item) where books.resultsOf[delivery].isEmpty {
                return "\(books.name(delivery)) never got a result"
            }
        }
        return nil
    }
}
