import KafkaModel
import NewsModel

/// After the faults end, everything is settled and committed in bounded time.
struct Liveness: Checker {
    let promise = Promise.liveness
    private var last: [Address: EngineSnapshot] = [:]

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        if case .acted(let address, let moment) = fact { last[address] = moment }
        guard case .over(isSettled: false, let held) = fact else { return nil }
        let open = truth.news.indices.filter(truth.isDue).flatMap(truth.deliveries)
            .filter { truth.resultsOf[$0].isEmpty }
        let halts = last.values.compactMap(\.halt).sorted()
        let state = halts.isEmpty ? "" : " (halted: \(halts.joined(separator: ", ")))"
        if let first = open.first {
            return "\(open.count) deliveries never settle\(state), among them \(truth.name(first))"
        }
        for (partition, log) in truth.sources.sorted(by: { $0.key < $1.key })
        where !truth.isCommitted(partition, to: log) {
            let lane = truth.scenario.setting.lane(of: partition.topic) ?? .mostUrgent
            let committed = truth.committed[lane][partition]?.offset
            return
                "\(partition) ends at \(log.end) and stays committed at \(committed.map(String.init) ?? "nothing")"
        }
        return held > 0 ? "\(held) held events never come back" : "the end never came"
    }
}
