import ControlIO
package import EditorialControl
import KafkaIO
import KafkaModel
import NewsModel
package import NewswireSettings
import PublishEngine
import PublisherService

/// Follows one run of `publish` to its last outcome, and verifies it. `publish --verify` calls it once everything is
/// published, `newswire runs ID --verify` at any time later:
///
///     let verdict = try RunFollower(settings, run: id).follow(patience: .seconds(300), stop: stop) { progress in … }
///     for line in verdict.lines(of: id) { … }
///     guard verdict.isSound else { throw ExitCode.failure }
///
/// The truth is what stands on the topics, and not what one `publish` knows: of a run that was killed and continued, no process
/// knows all records. So it reads the lanes' topics first, which costs no more than the events did, and then their results as they
/// come.
package struct RunFollower {
    /// Where the run is.
    package struct Progress {
        package var figures: RunFigures
        /// Orders for which it stands still. Empty as long as something moves.
        package var standing: [Order]
        /// It still reads what was published.
        package var isReading: Bool
    }

    private let run: String
    private let kafka: KafkaSettings
    private let control: ControlTopics
    /// By the lanes' topics.
    private let lanes: [String: String]
    private let results: String
    private let platforms: [Platform]
    private let inFlightMax: Int
    private let clock = ServiceClock()

    /// Without a result for so long, it asks which orders stand, and again each time.
    private static let quiet = Duration.seconds(2)
    /// For names so long is read; a place serves as well.
    private static let nameWait = Duration.seconds(10)

    package init(_ settings: Settings, run: String) {
        self.run = run
        kafka = settings.kafkaSettings
        control = settings.control.topics
        results = settings.engine.resultsTopic
        platforms = settings.engine.platforms
        inFlightMax = settings.engine.connections
        lanes = Dictionary(
            settings.engine.lanes.flatMap { lane in lane.topics.map { ($0, lane.name) } },
            uniquingKeysWith: { first, _ in first })
    }

    /// Blocks until every delivery has its last outcome, or nothing has moved for too long.
    ///
    /// - Parameters:
    ///   - patience: so long nothing may move. While an order of editors stops the run, this time does not pass.
    ///   - stop: ends it; the verdict then tells how far it got.
    ///   - progress: called at least twice a second with what is settled, on this thread.
    /// - Throws: `KafkaFailure` when the results topic does not exist, or a topic cannot be read; what `progress` throws.
    package func follow(
        patience: Duration, stop: StopFlag, progress: (Progress) throws -> Void
    ) throws -> RunVerdict {
        var ledger = RunLedger(platforms: platforms, inFlightMax: inFlightMax)
        let reading = try RunReading(kafka, lanes: lanes.keys.sorted(), results: results, follow: true)
        func tell(_ orders: [Order] = [], isReading: Bool = false) throws {
            let figures = ledger.tally.figures(platforms: platforms.count, at: clock.now.wall)
            try progress(Progress(figures: figures, standing: orders, isReading: isReading))
        }
        while !reading.sourcesAtEnd, !stop.isRaised {
            for read in try reading.nextSources(timeout: .milliseconds(200)) { take(read, &ledger) }
            try tell(isReading: true)
        }
        var movedAt = ContinuousClock.now
        var askedAt = movedAt
        var orders: [Order] = []
        while !stop.isRaised {
            let news = try step(reading, &ledger)
            let now = ContinuousClock.now
            if news > 0 { (movedAt, askedAt, orders) = (now, now, []) }
            if reading.resultsAtEnd, ledger.isComplete() { break }
            let isOver = reading.resultsAtEnd && movedAt.duration(to: now) >= patience
            // Before it gives up, it asks in any case: a stop is no failure.
            if isOver || askedAt.duration(to: now) > Self.quiet {
                orders = standing(ledger) ?? orders
                askedAt = .now
                if !orders.isEmpty { movedAt = askedAt }
            }
            try tell(orders)
            if isOver, orders.isEmpty { break }
        }
        try tell(orders)
        return try verdict(&ledger, stop)
    }

    private func take(_ read: TopicReader.ReadRecord, _ ledger: inout RunLedger) {
        guard RunSource.run(of: read.record) == run else { return }
        ledger.take(
            RunSource(read.record.headers), at: .init(partition: read.partition, offset: read.record.offset))
    }

    /// Some results, and the records that they are about: what comes back from the held topic is on a lane's topic before
    /// its result is.
    ///
    /// - Returns: how many of them moved the run on.
    private func step(_ reading: RunReading, _ ledger: inout RunLedger) throws(KafkaFailure) -> Int {
        let results = try reading.nextResults(timeout: .milliseconds(200)).compactMap {
            RunResult($0.record, group: kafka.group)
        }
        let before = ledger.tally.published
        for read in try reading.nextSources(timeout: .zero) { take(read, &ledger) }
        for result in results where !ledger.has(result.coordinates.source) {
            for read in try reading.nextSources(beyond: result.coordinates.source) { take(read, &ledger) }
        }
        var news = ledger.tally.published - before
        for result in results where ledger.take(result) { news += 1 }
        return news
    }

    /// The orders that may stop the run; `nil` if they cannot be read now, which is no reason to end.
    private func standing(_ ledger: RunLedger) -> [Order]? {
        guard let view = try? ControlReading(kafka, control).view() else { return nil }
        let names = Set(ledger.topics.compactMap { lanes[$0] })
        return view.standing(at: clock.now.wall).filter { order in
            switch order.scope {
            case .stop(.hub), .stop(.category): true
            case .stop(.run(let id)): id == run
            case .stop(.lane(let name)): names.contains(name)
            case .stop(.feed), .recall: false
            }
        }
    }

    // MARK: The verdict

    private func verdict(_ ledger: inout RunLedger, _ stop: StopFlag) throws -> RunVerdict {
        var verdict = RunVerdict(figures: ledger.tally.figures(platforms: platforms.count, at: clock.now.wall))
        verdict.isInterrupted = stop.isRaised
        verdict.ignored = ledger.ignored
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

    /// The events at these places, read once more.
    private func named(_ places: [SourceCoordinates]) throws(KafkaFailure) -> [String] {
        var ids: [ResultRecord.Source: String] = [:]
        let decoder = NewsDecoder()
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
                    ids[place] = try? decoder.decode(record).id
                }
            }
        }
        return places.map { place in ids[place.source].map { "\($0) at \(place)" } ?? "\(place)" }
    }

    /// The events of some deliveries, from a second reading of the results: memory has no room for all names.
    private func named(_ deliveries: [UInt64], _ ledger: RunLedger) throws(KafkaFailure) -> [UInt64: String] {
        if deliveries.isEmpty { return [:] }
        let wanted = Set(deliveries)
        var found: [UInt64: (event: String, places: [String])] = [:]
        let reader = try TopicReader(settings: kafka, topic: results)
        while !reader.isAtEnd {
            for read in try reader.next() {
                guard let result = RunResult(read.record, group: kafka.group), wanted.contains(result.delivery),
                    ledger.has(result.coordinates.source), found[result.delivery]?.places.count ?? 0 < Self.placesMax
                else { continue }
                found[result.delivery, default: (result.event, [])].places.append(
                    "\(result.outcome.rawValue) at \(result.coordinates)")
            }
        }
        return found.mapValues { "\($0.event): \($0.places.joined(separator: ", "))" }
    }

    /// Of one delivery so many results are named.
    private static let placesMax = 4
}
