import KafkaModel
package import NewsModel
import PublishEngine

// What a run's records say without their values.

/// A record of a run on a lane's topic.
package struct RunSource: Sendable, Hashable {
    /// How it came there.
    package enum Way: Sendable, Hashable { case published, redriven, returned }

    package var way: Way
    /// The only one that it is for; `nil` for all.
    package var platform: Platform?

    package init(_ way: Way, for platform: Platform? = nil) {
        self.way = way
        self.platform = platform
    }

    package init(_ headers: [RecordHeader]) {
        func text(_ name: String) -> String? { headers.last { $0.name == name }?.text }
        platform = text(RedriveHeader.platform).flatMap(Platform.init(rawValue:))
        way =
            if text(HeaderName.held) != nil { .returned } else if platform != nil { .redriven } else { .published }
    }

    /// The run of a record; `nil` if it belongs to none.
    package static func run(of record: SourceRecord) -> String? {
        record.headers.isEmpty ? nil : record.headers.last { $0.name == HeaderName.run }?.text
    }
}

/// A record on the results topic.
package struct RunResult: Sendable, Hashable {
    package var coordinates: SourceCoordinates
    package var outcome: Outcome
    /// The event's id, or the place of a record without one.
    package var event: String
    /// As the ledger has it: two versions of an event are two deliveries.
    package var version: String?
    /// The process and assignment that wrote it; `nil` if the result does not say.
    package var owner: String?
    /// When it was settled, as far as the record's own time says.
    package var at: Instant

    package init(
        _ outcome: Outcome, of event: String, at coordinates: SourceCoordinates, version: String? = nil,
        owner: String? = nil, settled: Instant = Instant(milliseconds: 0)
    ) {
        self.coordinates = coordinates
        self.outcome = outcome
        self.event = event
        self.version = version
        self.owner = owner
        at = settled
    }

    /// - Parameter group: results that another group has written belong to other deliveries.
    /// - Returns: `nil` if it is none of ours.
    package init?(_ record: SourceRecord, group: String) {
        func header(_ name: String) -> RecordHeader? { record.headers.last { $0.name == name } }
        guard let coordinates = header(HeaderName.source)?.value.flatMap(SourceCoordinates.init(headerValue:)),
            let outcome = header(HeaderName.outcome)?.text.flatMap(Outcome.init(rawValue:)),
            header(HeaderName.group)?.text == group
        else { return nil }
        self.coordinates = coordinates
        self.outcome = outcome
        event = record.key.map { String(decoding: $0, as: UTF8.self) } ?? coordinates.source.description
        version = header(HeaderName.version)?.text
        owner = header(HeaderName.owner)?.text
        at = record.timestamp ?? Instant(milliseconds: 0)
    }

    /// The hub has taken it, or may have.
    package var mayHaveRung: Bool { outcome == .accepted || outcome == .unknown }

    /// Equal for the results of one version of an event on one platform. Of 5,000,000 different ones, two agree by chance once
    /// in a million runs.
    package var delivery: UInt64 {
        var fingerprint = Fingerprint()
        fingerprint.mix(event)
        fingerprint.mix(version ?? "")
        fingerprint.mix(coordinates.platform.rawValue)
        return fingerprint.value
    }
}
