import KafkaModel
import NewsModel
import NotificationHub

@testable import Backfill

extension RunSource {
    init(_ way: Way, for platforms: Platform...) {
        self.init(way: way, platforms: platforms.isEmpty ? nil : Set(platforms))
    }
}

extension RunResult {
    init(
        _ outcome: Outcome, of event: String, at coordinates: SourceCoordinates, version: String? = nil,
        owner: String? = nil, identity: RecordIdentity? = nil, settled: Instant = Instant(milliseconds: 0)
    ) {
        self.init(
            coordinates: coordinates, outcome: outcome, event: event, version: version, owner: owner,
            identity: identity, at: settled)
    }
}
