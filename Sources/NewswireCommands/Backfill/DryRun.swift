import ByteText
import KafkaModel
package import NewsModel
package import NewswireSettings
import NotificationHub
package import PublishEngine

/// Counts what would become of the events of a backfill, by the engine's own code: each is decided at the time at which it would
/// be sent.
package struct DryRun {
    /// How fast events are written and sent.
    package struct Speed: Sendable {
        /// The most events a second that the command writes; `nil` for no limit.
        package var written: Int?
        /// Requests a second that the hub takes of this lane while others have work too; `nil` for no limit.
        package var sent: Double?
        /// Requests for each event.
        package var platforms: Int
        package var schedule: PublishSchedule?

        /// - Parameter lane: the position of the lane in the settings.
        package init(_ settings: EngineSettings, lane: Int, written: Int?, schedule: PublishSchedule?) {
            self.written = written
            self.schedule = schedule
            platforms = max(settings.platforms.count, 1)
            let floor = lane > 0 ? settings.lanes[lane].floorPercent : 100
            // Without a floor nothing is promised: the hub's rate, while higher lanes have nothing to send.
            sent = settings.rate.map { Double($0.perSecond) * Double(floor > 0 ? floor : 100) / 100 }
        }

        /// The time for so many events that begin at a time.
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

    /// The first requests, as an example.
    static let samplesMax = 10
    /// The most ids that are remembered, eight bytes each, twice that in a hash table. A duplicate beyond is found only if it is
    /// near its first.
    package static let idsMax = 1 << 24
    /// As many as one process may have.
    package static let partitionsAllowed: ClosedRange<Int32> = 1...4_000

    private(set) package var tally = DryRunTally()
    private(set) package var samples: [EventExplanation] = []

    private var rehearsal: EngineRehearsal
    private var selection: EventSelection
    private let headers: [RecordHeader]
    private let lane: String
    private let users: UserTags
    /// Translations may have one id.
    private let hasEditions: Bool
    /// When the first event is written.
    private let opening: Instant
    /// The work of writing that is done, and when.
    private var writing: (work: Duration, at: Instant)
    private let speed: Speed
    /// Of the events that would be sent.
    private var ids: Set<UInt64> = []
    private let partitions: Int32
    private var overtaking: OvertakingVersions

    /// - Parameters:
    ///   - lane: the position of one of the settings' lanes.
    ///   - headers: those that the events would be published with.
    ///   - partitions: those of the lane's topic.
    /// - Throws: nothing for checked settings.
    package init(
        _ settings: Settings, lane: Int, selection: EventSelection, headers: [RecordHeader], speed: Speed,
        partitions: Int32, start: Instant
    ) throws {
        rehearsal = try EngineRehearsal(settings, lane: lane, at: start, partitions: partitions)
        self.partitions = partitions
        overtaking = OvertakingVersions(window: settings.engine.lanes[lane].window.records)
        self.selection = selection
        self.headers = headers
        self.lane = settings.engine.lanes[lane].name
        users = settings.policy.users
        hasEditions = settings.payload.localization.map { $0.mode != .properties } ?? false
        self.speed = speed
        opening = speed.schedule?.opening(at: start) ?? start
        writing = (.zero, opening)
    }

    /// - Returns: what is wrong with a bad item.
    package mutating func take(_ item: EventFileItem) -> EventReview.Complaint? {
        switch selection.choose(item) {
        case .bad(let complaint):
            tally.bad += 1
            return complaint
        case .skipped: tally.skipped += 1
        case .event(let event, let bytes): take(event, bytes)
        }
        return nil
    }

    private mutating func take(_ event: NewsEvent, _ bytes: [UInt8]) {
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
        samples.append(EventExplanation(decision, event, lane: lane, isBackfill: true, hiding: users))
    }

    /// When the next event is written, behind all others, and when it is sent, behind those that are.
    private mutating func nextTurn() -> (writtenAt: Instant, sentAt: Instant) {
        if let written = speed.written {
            // From the last event on: from the start there may be a thousand nights between.
            let work = speed.work(tally.events, Double(written))
            let more = work - writing.work
            writing = (work, speed.schedule?.end(of: more, from: writing.at) ?? writing.at + more)
        }
        let sent = tally[.accepted]
        let sentAt = speed.sent.map { opening + speed.work(sent, $0 / Double(speed.platforms)) } ?? writing.at
        return (writing.at, max(writing.at, sentAt))
    }

    /// It would be sent a second time, too far behind the first for a process to know.
    private mutating func isRepeat(_ copy: UInt64, _ outcome: Outcome) -> Bool {
        guard outcome == .accepted else { return false }
        if ids.count >= Self.idsMax { return ids.contains(copy) }
        return !ids.insert(copy).inserted
    }

    /// The same for every copy of the event.
    private func copy(of event: NewsEvent) -> UInt64 {
        var id = Fingerprint(of: event.id)
        if let version = event.ledgerVersion { id.mix(version) }
        if hasEditions, let language = event.language { id.mix(language) }
        return id.value
    }
}

/// The counts of a dry run.
package struct DryRunTally: Sendable, Hashable {
    /// Those that would be published.
    package var events = 0
    package var bad = 0
    /// Beyond a bound of the command.
    package var skipped = 0
    /// By how they would end.
    package var outcomes: [Outcome: Int] = [:]
    /// Of the accepted ones, those that stand in the files a second time, too far apart to be noticed when they are sent.
    package var repeats = 0
    /// Of the expired ones, those that are not too old yet when they are written: they are sent if the lane gets more than its
    /// floor.
    package var expiredWaiting = 0
    /// Of the accepted, the expired and the duplicates, those that a newer version or a recall of their story may settle while they
    /// wait, as it is so close: a matter of milliseconds.
    package var overtaken = 0
    /// Those for the testers alone, of the accepted and held ones.
    package var tests = 0
    /// Those for single readers alone, of the accepted and held ones.
    package var personal = 0
    /// The readers of these, each for every event.
    package var readers = 0
    /// The other accepted and held ones, by the names of their categories.
    package var categories: [[String]: Int] = [:]
    package var oldest: Instant?
    package var newest: Instant?

    package init() {}

    package subscript(outcome: Outcome) -> Int { outcomes[outcome, default: 0] }

    /// Sent now or when their time comes.
    package var sent: Int { self[.accepted] + self[.held] }

    fileprivate mutating func note(_ event: borrowing NewsEvent) {
        events += 1
        guard let time = event.publishedAt else { return }
        oldest = min(oldest ?? time, time)
        newest = max(newest ?? time, time)
    }

    fileprivate mutating func note(_ outcome: Outcome, _ result: ResultRecord?, isRepeat: Bool) {
        outcomes[outcome, default: 0] += 1
        guard outcome == .accepted || outcome == .held else { return }
        if isRepeat { repeats += 1 }
        if result?.isTest == true {
            tests += 1
        } else if let users = result?.users, !users.isEmpty {
            personal += 1
            readers += users.count
        } else {
            categories[result?.categories ?? [], default: 0] += 1
        }
    }

    /// So many events are for readers of the category; one of several categories counts for each.
    package func count(of category: String) -> Int {
        categories.reduce(0) { $1.key.contains(category) ? $0 + $1.value : $0 }
    }
}
