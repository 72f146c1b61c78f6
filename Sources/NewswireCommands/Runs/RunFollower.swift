package import Backfill
import ControlIO
package import EditorialControl
import KafkaIO
import KafkaModel
import NewsModel
package import NewswireSettings
import NotificationHub
import PublishEngine

/// Follows one run of `publish` to its last outcome, and verifies it. `publish --verify` calls it once everything is published,
/// and `newswire runs ID --verify` at any later time:
///
///     let verdict = try RunFollower(settings, run: id).follow(patience: .seconds(300), stop: stop) { progress in … }
///     for line in verdict.lines(of: id) { … }
///     guard verdict.isSound else { throw ExitCode.failure }
///
/// The topics decide, not the knowledge of one `publish`: no process knows all records of a run that was killed and continued.
/// The follower first reads the lanes' topics, which costs no more than the events did. It then reads their results as they
/// arrive.
package struct RunFollower {
    package struct Progress {
        package var figures: RunFigures
        /// The orders that stop the run. Empty as long as results arrive.
        package var standing: [Order]
        /// True while the published records are still being read.
        package var isReading: Bool
    }

    private let run: String
    private let kafka: KafkaSettings
    private let control: ControlTopics
    /// The names of the lanes, by the lanes' topics.
    private let lanes: [String: String]
    private let results: String
    private let decoders: DecoderFactory
    private let platforms: [Platform]
    private let inFlightMax: Int
    private let clock = ServiceClock()

    /// Time without a result after which the orders in force are read. While no result arrives, they are read again.
    private static let quiet = Duration.seconds(2)
    /// Maximum wait for an open transaction that hides records of the run.
    private static let transactionWait = Duration.seconds(300)
    /// Maximum time for reading names. A place is shown instead of a missing name.
    private static let nameWait = Duration.seconds(10)

    package init(_ settings: Settings, run: String) {
        self.run = run
        kafka = settings.kafkaSettings
        control = settings.control.topics
        results = settings.engine.resultsTopic
        decoders = settings.decoders
        platforms = settings.engine.platforms
        inFlightMax = settings.engine.connections
        lanes = Dictionary(
            settings.engine.lanes.flatMap { lane in lane.topics.map { ($0, lane.name) } },
            uniquingKeysWith: { first, _ in first })
    }

    /// Blocks until every delivery has its last outcome, or until no result has arrived for too long.
    ///
    /// - Parameters:
    ///   - patience: the maximum time without a result. Time during which an editor's order stops the run does not count.
    ///   - published: the number of events that are known to be published.
    ///   - stop: ends it. The verdict then covers what was read until then.
    ///   - progress: receives what is settled, at least twice a second, on this thread.
    /// - Throws: `KafkaFailure` if the results topic does not exist, if a topic cannot be read, or if an open transaction hides
    ///   records of a lane's topic for too long; the errors of `progress`.
    package func follow(
        patience: Duration, published: Int = 0, stop: StopFlag, progress: (Progress) throws -> Void
    ) throws -> RunVerdict {
        var ledger = RunLedger(platforms: platforms, inFlightMax: inFlightMax)
        let reading = try RunReading(
            kafka, lanes: lanes.keys.sorted(), results: results, follow: true, end: .highWatermark,
            transactionWait: min(patience, Self.transactionWait))
        func tell(_ orders: [Order] = [], isReading: Bool = false) throws {
            let figures = ledger.tally.figures(platforms: platforms.count, at: clock.now.wall)
            try progress(Progress(figures: figures, standing: orders, isReading: isReading))
        }
        while !reading.sourcesAtEnd, !stop.isRaised {
            for read in try reading.nextSources(timeout: .milliseconds(200)) { append(read, &ledger) }
            try tell(isReading: true)
        }
        var movedAt = ContinuousClock.now
        var askedAt = movedAt
        var orders: [Order] = []
        while !stop.isRaised {
            let news = try step(reading, &ledger)
            let now = ContinuousClock.now
            if news > 0 { (movedAt, askedAt, orders) = (now, now, []) }
            if reading.resultsAtEnd, ledger.unread(of: published) == 0, ledger.isComplete() { break }
            let isOver = reading.resultsAtEnd && movedAt.duration(to: now) >= patience
            // Always reads the orders before it stops waiting, because a stop is no failure.
            if isOver || askedAt.duration(to: now) > Self.quiet {
                orders = standing(ledger) ?? orders
                askedAt = .now
                if !orders.isEmpty { movedAt = askedAt }
            }
            try tell(orders)
            if isOver, orders.isEmpty { break }
        }
        try tell(orders)
        var verdict = try verdict(&ledger, published: published, stop)
        // If the number of published events is known, `unread` reports a loss instead.
        if published == 0 { verdict.firstOffsets = reading.firstOffsets(of: ledger.topics) }
        verdict.areResultsHidden = !stop.isRaised && reading.areResultsHidden()
        return verdict
    }

    private func append(_ read: TopicReader.ReadRecord, _ ledger: inout RunLedger) {
        guard RunSource.run(of: read.record, for: kafka.group) == run else { return }
        ledger.append(
            RunSource(read.record.headers), RecordIdentity(of: read.record),
            at: .init(partition: read.partition, offset: read.record.offset))
    }

    /// Reads some results, and the records that they are about. A record that returns from the held topic is on a lane's topic
    /// before its result exists.
    ///
    /// - Returns: the number of new records and results of the run.
    private func step(_ reading: RunReading, _ ledger: inout RunLedger) throws(KafkaFailure) -> Int {
        let results = try reading.nextResults(timeout: .milliseconds(200)).compactMap {
            RunResult($0.record, group: kafka.group)
        }
        let before = ledger.tally.published
        for read in try reading.nextSources(timeout: .zero) { append(read, &ledger) }
        for result in results where !ledger.has(result) {
            for read in try reading.nextSources(beyond: result.coordinates.source) { append(read, &ledger) }
        }
        var news = ledger.tally.published - before
        for result in results where ledger.apply(result) { news += 1 }
        return news
    }

    /// The orders that may stop the run; `nil` if they cannot be read now, which does not end the follower.
    private func standing(_ ledger: RunLedger) -> [Order]? {
        guard let view = try? ControlReading(kafka, control).view() else { return nil }
        let names = Set(ledger.topics.compactMap { lanes[$0] })
        return view.standing(at: clock.now.wall).filter { order in
            switch order.scope {
            case .stop(.hub), .stop(.category), .stop(.interest): true
            case .stop(.run(let id)): id == run
            case .stop(.lane(let name)): names.contains(name)
            case .stop(.feed), .recall: false
            }
        }
    }

    // MARK: The verdict

    private func verdict(_ ledger: inout RunLedger, published: Int, _ stop: StopFlag) throws -> RunVerdict {
        var verdict = RunVerdict(figures: ledger.tally.figures(platforms: platforms.count, at: clock.now.wall))
        verdict.isInterrupted = stop.isRaised
        verdict.ignored = ledger.ignored
        // An interrupted verification has not read everything.
        if !stop.isRaised { verdict.unread = ledger.unread(of: published) }
        verdict.missing = .init(count: ledger.missing, names: try named(ledger.missingPlaces))
        func repeats(_ count: Int, _ first: [RunResult]) -> RunVerdict.Finding {
            .init(count: count, names: first.map { "\($0.event) at \($0.coordinates)" })
        }
        verdict.repeated = repeats(ledger.repeated, ledger.repeats)
        verdict.unexplained = repeats(ledger.unexplained, ledger.unexplainedRepeats)
        let (doubled, held) = (ledger.doubled(), ledger.stillHeld())
        let names = try named(Array(doubled.prefix(RunLedger.namesMax)) + held.prefix(RunLedger.namesMax), ledger)
        func some(_ deliveries: [UInt64]) -> RunVerdict.Finding {
            .init(
                count: deliveries.count,
                names: deliveries.prefix(RunLedger.namesMax).map { names[$0] ?? "an event whose results are gone" })
        }
        verdict.doubled = some(doubled)
        verdict.held = some(held)
        return verdict
    }

    /// The events at these places, which are read a second time.
    private func named(_ places: [SourceCoordinates]) throws(KafkaFailure) -> [String] {
        var ids: [ResultRecord.Source: String] = [:]
        let decoder = decoders.make()
        for (topic, places) in Dictionary(grouping: places, by: \.source.partition.topic).sorted(by: { $0.key < $1.key }
        ) {
            var wanted: [Int32: Set<Int64>] = [:]
            for place in places { wanted[place.source.partition.partition, default: []].insert(place.source.offset) }
            let reader = try PlaceReader(settings: kafka, topic: topic, partitions: wanted.count)
            try reader.begin(wanted.mapValues { $0.sorted() })
            let deadline = ContinuousClock.now + Self.nameWait
            while !reader.isDone, deadline > .now {
                for case .found(let partition, let record) in try reader.next(timeout: .milliseconds(200)) {
                    let place = ResultRecord.Source(
                        partition: TopicPartition(topic: topic, partition: partition), offset: record.offset)
                    ids[place] = try? decoder.decode(record, topic: topic).id
                }
            }
        }
        return places.map { place in ids[place.source].map { "\($0) at \(place)" } ?? "\(place)" }
    }

    /// The events of some deliveries. Reads the results a second time, because memory has no room for all names.
    private func named(_ deliveries: [UInt64], _ ledger: RunLedger) throws(KafkaFailure) -> [UInt64: String] {
        if deliveries.isEmpty { return [:] }
        let wanted = Set(deliveries)
        var found: [UInt64: (event: String, places: [String])] = [:]
        let reader = try TopicReader(settings: kafka, topic: results)
        while !reader.isAtEnd {
            for read in try reader.next() {
                guard let result = RunResult(read.record, group: kafka.group), wanted.contains(result.delivery),
                    ledger.has(result), found[result.delivery]?.places.count ?? 0 < Self.placesMax
                else { continue }
                found[result.delivery, default: (result.event, [])].places.append(
                    "\(result.outcome.rawValue) at \(result.coordinates)")
            }
        }
        return found.mapValues { "\($0.event): \($0.places.joined(separator: ", "))" }
    }

    /// Maximum number of results that are named for one delivery.
    private static let placesMax = 4
}
