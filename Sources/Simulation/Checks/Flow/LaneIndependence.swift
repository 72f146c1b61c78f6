import KafkaModel
import NewsModel
import PublishEngine

/// G7: if every fault of a life affects other lanes, the most urgent lane's news waits only for news of its lane.
struct LaneIndependence: Checker {
    let promise = Promise.laneIndependence
    /// Number of open deliveries when each item was published, including its own.
    private var ahead: [Int: Int] = [:]
    private var open: Set<Int> = []
    /// True after a flood of its own news has stopped the lane.
    private var isStopped = false
    private static let patience = Duration.seconds(12)

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        guard let lane = truth.scenario.sparedLane, !isStopped else { return nil }
        switch fact {
        case .published(let item) where truth.news[item].lane == lane:
            open.formUnion(truth.deliveries(of: item))
            ahead[item] = open.count
        case .acted(_, let snapshot) where snapshot.lanes[lane].flood: isStopped = true
        case .settled(let delivery, _, _, _) where truth.news(of: delivery).lane == lane:
            open.remove(delivery)
            return late(delivery, truth)
        case .inspected: return open.sorted().compactMap { late($0, truth) }.first
        default: break
        }
        return nil
    }

    private func late(_ delivery: Int, _ truth: GroundTruth) -> String? {
        let item = truth.item(of: delivery)
        guard let ahead = ahead[item], let place = truth.places[item] else { return nil }
        let news = truth.news[item]
        // The group's first assignment takes a while. Embargoed events occupy their lane's window, possibly before events that
        // were written earlier to another partition.
        let embargoes = zip(truth.news, truth.places).filter { $0.lane == news.lane && $1 != nil }
            .compactMap(\.0.embargoUntil)
        let since = max(place.publishedAt, Scenario.start + .seconds(5), embargoes.max() ?? .distantPast)
        let partitions = truth.counts.values.reduce(8, +)
        let perDelivery = 0.25 + 2 * Double(partitions) / Double(truth.scenario.setting.engine.rate?.perSecond ?? 1_000)
        let most = Self.patience + .milliseconds(Int(Double(ahead) * perDelivery * 1_000))
        let waited = truth.now - since
        return waited > most
            ? "\(truth.name(delivery)) waited \(waited.short), though every fault was another lane's" : nil
    }
}
