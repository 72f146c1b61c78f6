import KafkaModel
import NewsModel
import PublishEngine

/// The ledger: L is at most the offset of a result of every settled delivery at or above W, so that a restore finds it.
///
/// The present owner does not know results that a former owner stored after the ledger was read. It sends those deliveries again
/// in any case. Results removed by retention cannot be found.
struct LedgerReach: Checker {
    let promise = Promise.ledgerReach

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        guard case .committed(let address, let lane, let offsets) = fact else { return nil }
        for ledger in offsets where ledger.partition.topic == truth.scenario.setting.results {
            let kept = truth.ledger[ledger.partition.partition]?.start ?? 0
            for source in truth.scenario.setting.lanes[lane].topics {
                let id = ledger.partition.with(topic: source)
                guard let log = truth.sources[id] else { continue }
                let owner = truth.ownerships.lastIndex {
                    $0.address == address && $0.lane == lane && $0.partition == id
                }
                guard let owner, truth.ownerships[owner].beganAt > log.startedAt else { continue }
                let watermark = truth.committed[lane][id]?.offset ?? 0
                for (stands, item) in log.items where stands >= watermark {
                    for delivery in truth.deliveries(of: item) {
                        let known = truth.resultsOf[delivery].filter {
                            $0.offset >= kept && truth.ownerships[owner].knows($0, as: owner)
                        }
                        guard let first = known.first, known.allSatisfy({ $0.offset < ledger.offset }) else { continue }
                        return
                            "L of \(ledger.partition) is \(ledger.offset); the result of \(truth.name(delivery)) stands at \(first.offset)"
                    }
                }
            }
        }
        return nil
    }
}
