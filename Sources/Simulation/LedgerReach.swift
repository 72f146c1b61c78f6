import NewsModel
import PublishEngine

/// The ledger: L stands at or below a result of every settled delivery at or above W, so that a restore finds it.
///
/// Results that a former owner stored after the present one had read the ledger are unknown to the latter: it sends
/// those deliveries again in any case.
struct LedgerReach: Checker {
    let promise = Promise.ledgerReach

    mutating func see(_ fact: Fact, _ books: Books) -> String? {
        guard case .committed(let address, let lane, let offsets) = fact else { return nil }
        let topic = books.life.setting.engine.resultsTopic
        for ledger in offsets where ledger.partition.topic == topic {
            for source in books.life.setting.lanes[lane].topics {
                let id = ledger.partition.with(topic: source)
                guard let log = books.sources[id] else { continue }
                let tenure = books.tenures.lastIndex { $0.address == address && $0.lane == lane && $0.partition == id }
                guard let tenure else { continue }
                let watermark = books.committed[lane][id] ?? 0
                for (stands, item) in log.items where stands >= watermark {
                    for delivery in books.deliveries(of: item) {
                        let known = books.resultsOf[delivery].filter { books.tenures[tenure].knows($0, as: tenure) }
                        guard let first = known.first, known.allSatisfy({ $0.offset < ledger.offset }) else { continue }
                        return
                            "L of \(ledger.partition) is \(ledger.offset); the result of \(books.name(delivery)) stands at \(first.offset)"
                    }
                }
            }
        }
        let moved = offsets.filter { books.sources[$0.partition] != nil }.map(\.partition.partition)
        let ledgers = offsets.filter { $0.partition.topic == topic }.map(\.partition.partition)
        return moved.first { !ledgers.contains($0) }.map { "W of partition \($0) was committed without its L" }
    }
}
