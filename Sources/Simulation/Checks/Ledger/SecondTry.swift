import NewsModel

/// Only a delivery that was accepted or is still being tried makes another record a duplicate. An editor's second try after an
/// outcome without acceptance is sent. A redriven record is sent, unless another one that repeats the same delivery was
/// accepted or is still being tried.
struct SecondTry: Checker {
    let promise = Promise.secondTry
    /// Settled deliveries, by ownership.
    private var ended: [Int: Set<Int>] = [:]

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        switch fact {
        case .deadLettered(let delivery, let ownership?, _, _): ended[ownership, default: []].insert(delivery)
        case .settled(let delivery, let ownership?, let result, let address):
            ended[ownership, default: []].insert(delivery)
            guard result.outcome == .duplicate else { return nil }
            let name = truth.name(delivery)
            let news = truth.news(of: delivery)
            if news.isRedriven, news.redriveOf == nil { return "\(name) is a duplicate, although it was redriven" }
            guard !twins(of: delivery, truth).contains(where: { isReason($0, address, truth) }) else { return nil }
            return "\(name) is a duplicate, but nothing like it was accepted or is being tried"
        default: break
        }
        return nil
    }

    private func twins(of delivery: Int, _ truth: GroundTruth) -> [Int] {
        let news = truth.news(of: delivery)
        let platform = delivery % truth.platforms
        return truth.news.indices.filter {
            truth.news[$0].eventID == news.eventID && truth.news[$0].version == news.version
                && (!news.isRedriven || truth.news[$0].redriveOf == news.redriveOf)
        }.map { truth.delivery(item: $0, platform: platform) }
    }

    private func isReason(_ twin: Int, _ address: Address, _ truth: GroundTruth) -> Bool {
        if truth.resultsOf[twin].contains(where: { $0.outcome == .accepted }) { return true }
        if truth.attemptsOf[twin].contains(where: { truth.attempts[$0].isAccepted }) { return true }
        return truth.takenBy[truth.item(of: twin)].contains { number in
            let owner = truth.ownerships[number]
            return owner.address == address && owner.end == nil && ended[number]?.contains(twin) != true
        }
    }
}
