/// G1 and G3: at the end of a life, every record has the results of all its deliveries. A record deleted with its topic before
/// any engine read it needs none. An engine that has read it finishes it.
struct NothingLost: Checker {
    let promise = Promise.nothingLost

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        switch fact {
        case .ended(let ownership) where truth.ownerships[ownership].end == .rewound:
            for item in truth.ownerships[ownership].taken.values.sorted() where truth.places[item]?.isHidden != true {
                for delivery in truth.deliveries(of: item) where truth.resultsOf[delivery].isEmpty {
                    return "\(truth.name(delivery)) was read of the former incarnation and has no result"
                }
            }
        case .over:
            for item in truth.news.indices where truth.isDue(item) {
                for delivery in truth.deliveries(of: item) where truth.resultsOf[delivery].isEmpty {
                    return "\(truth.name(delivery)) never got a result"
                }
            }
        default: break
        }
        return nil
    }
}
