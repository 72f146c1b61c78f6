import NewsModel
import NotificationHub

@testable import Backfill

extension RunSource {
    init(_ way: Way, for platform: Platform? = nil) { self.init(way: way, platform: platform) }
}

extension RunResult {
    init(
        _ outcome: Outcome, of event: String, at coordinates: SourceCoordinates, version: String? = nil,
        owner: String? = nil, settled: Instant = Instant(milliseconds: 0)
    ) {
        self.init(
            coordinates: coordinates, outcome: outcome, event: event, version: version, owner: owner, at: settled)
    }
}
