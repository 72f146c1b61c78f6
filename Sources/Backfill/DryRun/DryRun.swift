import ByteText
import KafkaModel
package import NewsModel
package import PublishEngine

/// Counts what would happen to the events of a backfill. Uses the engine's own code, which decides each event at the time at
/// which it would be sent.
package struct DryRun {
    /// The rates at which events are written and sent.
    package struct Speed: Sendable {
        /// Maximum events per second that the command writes; `nil` if unlimited.
        package var written: Int?
        /// Requests per second that the hub accepts from this lane while other lanes have work too; `nil` if unlimited.
        package var sent: Double?
        /// The number of requests per event.
        package var platforms: Int
        package var schedule: PublishSchedule?

        /// - Parameter lane: the position of the lane in the settings.
        package init(_ settings: EngineSettings, lane: Int, written: Int?, schedule: PublishSchedule?) {
            self.written = written
            self.schedule = schedule
            platforms = max(settings.platforms.count, 1)
            let floor = lane > 0 ? settings.lanes[lane].floorPercent : 100
            // A lane without a floor has no guaranteed rate: assumes the hub's rate, as if higher lanes had nothing to send.
            sent = settings.rate.map { Double($0.perSecond) * Double(floor > 0 ? floor : 100) / 100 }
        }

        /// The time that a number of events takes from a start time.
        ///
        /// - Returns: `nil` if nothing bounds the speed.
        package func duration(of events: Int, from start: Instant) -> Duration? {
            let opening = schedule?.opening(at: start) ?? start
            let written = written.map { work(events, Double($0)) }
            let sent = sent.map { work(events, $0 / Double(platforms)) }
            let ends = [
                written.map { schedule?.end(of: $0, from: start) ?? start + $0 }, sent.map { opening + $0 },
            ].compactMap(\.self)
            return ends.max().map { $0 - start }
        }

        fileprivate func work(_ events: Int, _ perSecond: Double) -> Duration {
            .milliseconds(min(Double(events) * 1_000 / max(perSecond, 0.001), 1e14))
        }
    }

    /// Maximum number of requests kept as samples, from the first on.
    static let samplesMax = 10
    /// Maximum number of ids in memory. Each takes 8 bytes, and 16 in the hash table. Duplicates of later ids are found only
    /// near their original.
    package static let idsMax = 1 << 24
    /// The numbers of partitions that one process may have.
    package static let partitionsAllowed: ClosedRange<Int32> = 1...4_000

    private(set) package var tally = DryRunTally()
    private(set) package var samples: [(event: NewsEvent, decision: EngineRehearsal.Decision)] = []

    private var rehearsal: EngineRehearsal
    private var selection: EventSelection
    private let headers: [RecordHeader]
    /// True if translations of an event may share one id.
    private let hasEditions: Bool
    /// The time at which the first event is written.
    private let opening: Instant
    /// The writing work that is done, and the time at which it is done.
    private var writing: (work: Duration, at: Instant)
    private let speed: Speed
    /// Fingerprints of the events that would be sent.
    private var ids: Set<UInt64> = []
    private let partitions: Int32
    private var overtaking: OvertakingVersions

    /// - Parameters:
    ///   - lane: the position of the lane in the settings.
    ///   - headers: the headers that the events would be published with.
    ///   - partitions: the number of partitions of the lane's topic.
    package init(
        _ settings: EngineSettings, _ rules: ContentRules, lane: Int, selection: EventSelection,
        headers: [RecordHeader], speed: Speed, partitions: Int32, start: Instant
    ) {
        rehearsal = EngineRehearsal(settings, rules, lane: lane, at: start, partitions: partitions)
        self.partitions = partitions
        overtaking = OvertakingVersions(window: settings.lanes[lane].window.records)
        self.selection = selection
        self.headers = headers
        hasEditions = rules.builder.settings.localization.map { $0.mode != .properties } ?? false
        self.speed = speed
        opening = speed.schedule?.opening(at: start) ?? start
        writing = (.zero, opening)
    }

    /// - Returns: the problem of a bad item; `nil` for other items.
    package mutating func receive(_ item: EventFileItem) -> EventReview.Complaint? {
        switch selection.choose(item) {
        case .bad(let complaint):
            tally.bad += 1
            return complaint
        case .skipped: tally.skipped += 1
        case .event(let event, let bytes): rehearse(event, bytes, headers + selection.marks(of: item))
        }
        return nil
    }

    private mutating func rehearse(_ event: NewsEvent, _ bytes: [UInt8], _ headers: [RecordHeader]) {
        let (writtenAt, sentAt) = nextTurn()
        tally.note(event)
        let partition = Murmur2.partition(of: event.orderKey, among: partitions)
        let decision = rehearsal.decide(bytes, headers: headers, on: partition, at: sentAt, writtenAt: writtenAt)
        let outcome = decision.results.first?.outcome ?? .held
        let copy = copy(of: event)
        tally.note(outcome, decision.results.first, isRepeat: isRepeat(copy, outcome))
        let expires = outcome == .expired && event.expiresAt.map { $0 > writtenAt } ?? true
        if expires { tally.expiredWaiting += 1 }
        tally.overtaken += overtaking.note(
            event, copy: copy, outcome, expires: expires, on: partition, writtenAt: writtenAt, sentAt: sentAt)
        guard outcome == .accepted, samples.count < Self.samplesMax else { return }
        samples.append((event, decision))
    }

    /// The times at which the next event is written, after all earlier ones, and sent, after all that are sent before it.
    private mutating func nextTurn() -> (writtenAt: Instant, sentAt: Instant) {
        if let written = speed.written {
            // Computed from the last event, because `end(of:from:)` looks ahead at most a thousand nights.
            let work = speed.work(tally.events, Double(written))
            let more = work - writing.work
            writing = (work, speed.schedule?.end(of: more, from: writing.at) ?? writing.at + more)
        }
        let sent = tally[.accepted]
        let sentAt = speed.sent.map { opening + speed.work(sent, $0 / Double(speed.platforms)) } ?? writing.at
        return (writing.at, max(writing.at, sentAt))
    }

    /// True if the event would be sent a second time because a process no longer remembers its first copy.
    private mutating func isRepeat(_ copy: UInt64, _ outcome: Outcome) -> Bool {
        guard outcome == .accepted else { return false }
        if ids.count >= Self.idsMax { return ids.contains(copy) }
        return !ids.insert(copy).inserted
    }

    /// A fingerprint that is equal for every copy of the event.
    private func copy(of event: NewsEvent) -> UInt64 {
        var id = Fingerprint(of: event.id)
        if let version = event.ledgerVersion { id.mix(version) }
        if hasEditions, let language = event.language { id.mix(language) }
        return id.value
    }
}
