import ByteText
package import KafkaModel
package import NewsModel
package import NotificationHub
import PublishEngine

// Facts about a run's records that need no decoding of their values.

/// A record of a run on a lane's topic.
package struct RunSource: Sendable, Hashable {
    package enum Way: Sendable, Hashable {
        case published, redriven, returned
        /// A redriven record that was held, and returned from the held topic.
        case returnedRedriven

        /// True if an operator has put the record back, so that its deliveries may ring again.
        var isRedriven: Bool { self == .redriven || self == .returnedRedriven }

        /// True if the record comes from the held topic.
        var isReturned: Bool { self == .returned || self == .returnedRedriven }
    }

    package var way: Way
    /// The platforms of the record; `nil` for all.
    package var platforms: Set<Platform>?
}

extension RunSource {
    package init(_ headers: [RecordHeader]) {
        let named = headers.last { $0.name == HeaderName.platform }?.text.map(Platform.list) ?? []
        platforms = named.isEmpty ? nil : Set(named)
        // A record may be held and redriven in either order. The header of the last step follows the other.
        let held = headers.lastIndex { $0.name == HeaderName.held }
        let redrive = headers.lastIndex { $0.name == HeaderName.redrive }
        way =
            switch (held, redrive) {
            case (nil, nil): .published
            case (nil, _?): .redriven
            case (_?, nil): .returned
            case (let held?, let redrive?): held < redrive ? .redriven : .returnedRedriven
            }
    }

    /// The run of a record; `nil` if it belongs to no run.
    ///
    /// - Parameter group: the consumer group. It skips another group's dead letters that return to their lane.
    package static func run(of record: SourceRecord, for group: String) -> String? {
        guard !record.headers.isEmpty, !record.isReturned(forOtherThan: group) else { return nil }
        return record.headers.last { $0.name == HeaderName.run }?.text
    }
}

/// A record on the results topic.
package struct RunResult: Sendable, Hashable {
    package var coordinates: SourceCoordinates
    package var outcome: Outcome
    /// The event's id, or the place of a record without one.
    package var event: String
    /// The version as in the ledger. Two versions of an event are two deliveries.
    package var version: String?
    /// The process and assignment that wrote it; `nil` if the result does not say.
    package var owner: String?
    /// The identity of the record that it is about; `nil` if the result does not say.
    package var identity: RecordIdentity?
    /// The time at which the delivery was settled, according to the record's own time.
    package var at: Instant
}

extension RunResult {
    /// - Parameter group: the consumer group. Results that another group has written belong to other deliveries.
    /// - Returns: `nil` if the record is not a result of the group.
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
        identity = header(HeaderName.identity)?.value.flatMap(RecordIdentity.init(headerValue:))
        at = record.timestamp ?? Instant(milliseconds: 0)
    }

    /// True if the hub has taken the delivery, or may have taken it.
    package var mayHaveRung: Bool { outcome == .accepted || outcome == .unknown }

    /// A fingerprint that is equal for the results of one version of an event on one platform. Among 5,000,000 different
    /// deliveries, two agree by chance once in a million runs.
    package var delivery: UInt64 {
        var fingerprint = Fingerprint()
        fingerprint.mix(event)
        fingerprint.mix(version ?? "")
        fingerprint.mix(coordinates.platform.rawValue)
        return fingerprint.value
    }
}

/// The name of a run of `publish`. Events carry it in the header `nw-run`, and their results repeat it.
package struct RunID: Sendable, Hashable, CustomStringConvertible {
    package let text: String

    package var description: String { text }

    /// Maximum length in bytes. Results do not carry longer names.
    static let lengthMax = 64
    package static let rule = "1 to \(lengthMax) letters, digits, '.', '_' or '-'"

    /// - Returns: `nil` for a text that would need quotes on a command line or in a file name.
    package init?(_ text: String) {
        guard (1...Self.lengthMax).contains(text.utf8.count),
            text.utf8.allSatisfy({ $0.isASCIILetter || $0.isASCIIDigit || "._-".utf8.contains($0) })
        else { return nil }
        self.text = text
    }

    /// Creates a unique name from the second in which the run began and a random number.
    package init(begunAt wall: Instant, chance: UInt32) {
        let second = Instant(milliseconds: wall.milliseconds / 1_000 * 1_000).description
        let digits = second.filter { $0.isASCII && $0.isNumber }.prefix(14)
        let tail = String(chance, radix: 16)
        text = "\(digits.prefix(8))-\(digits.dropFirst(8))-\(String(repeating: "0", count: 8 - tail.count))\(tail)"
    }
}
