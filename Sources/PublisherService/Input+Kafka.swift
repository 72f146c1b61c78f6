import KafkaIO
import NewsModel
import PublishEngine

extension RestoredResult {
    /// `nil` for a record that is no result of ours: its headers say nothing to the ledger.
    init?(_ entry: LedgerEntry) {
        guard let coordinates = SourceCoordinates(headerValue: entry.source) else { return nil }
        let outcome = entry.outcome.flatMap { Outcome(rawValue: String(decoding: $0, as: UTF8.self)) }
        self.init(
            source: coordinates.source, platform: coordinates.platform,
            // A result without the header settles its delivery all the same; as a duplicate it just is not remembered.
            outcome: outcome ?? .rejected, eventID: String(decoding: entry.key ?? [], as: UTF8.self),
            version: entry.version.map { String(decoding: $0, as: UTF8.self) }, offset: entry.offset)
    }
}
