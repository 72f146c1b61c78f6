public import NewsModel

/// Reads one lane's ledger, partition by partition, as a plain value. Decides each results partition's first offset and
/// end, and when a failed one is retried while others continue.
///
/// Its owner asks for `next`, does it, and reports the result. Times are by the monotonic clock.
public struct LedgerState: Sendable {
    public let lane: LaneID
    private var jobs: [Job] = []
    private var generation = Generation.none
    /// The reader must add a partition, or read one from another offset.
    private var hasChanged = false

    /// One results partition to read back for one shard.
    private struct Job: Sendable {
        let shard: ShardID
        let generation: Generation
        let results: TopicPartition
        let sources: [TopicPartition]
        let start: RestoreStart
        var phase = Phase.waiting(until: .distantPast)
        /// Set once known, so that a retry continues where the last try stopped.
        var progress: Progress?
        /// The number of failed tries in a row.
        var failures = 0

        enum Phase {
            /// Not being read: new, or delayed after a failure. Followed by `locating`.
            case waiting(until: Instant)
            /// The reader looks up its first and last offset. Followed by `reading` or, after a failure, `waiting`.
            case locating
            /// Being read. Followed by the job's end or, after a failure, `waiting`.
            case reading(movedAt: Instant, began: Instant)
        }
    }

    fileprivate struct Progress: Sendable {
        var next: Int64
        var start: Int64
        var end: Int64
        var basis: RestoreEnd.Basis
        /// The committed offset of each source partition that has one (W in the documentation of `PublishEngine`).
        var watermarks: [TopicPartition: Int64]
        /// The group's committed offset is no longer kept.
        var isCut: Bool
        /// Entries from this offset on help to recognise duplicates.
        var recentFrom: Int64
        /// The notes beside the watermarks.
        var notes: [TopicPartition: String]
    }

    /// The reader's next step.
    public enum Step: Sendable, Hashable {
        /// Find out about these results partitions, then report `located` or `failed` for each.
        case locate([Request])
        /// Read from these offsets on, and nothing else.
        case assign([PartitionOffset])
        /// Read the records that come within a moment.
        case read
        /// Wait until then or until a request; `nil` without a time limit.
        case wait(until: Instant?)
    }

    public struct Request: Sendable, Hashable {
        public var results: TopicPartition
        /// The source partitions whose results it has.
        public var sources: [TopicPartition]
        /// The time whose offset is needed if the group has committed none for the results partition.
        public var since: Instant?
    }

    /// The broker's answer about one results partition.
    public struct Location: Sendable, Hashable {
        /// The group's committed offset of the results partition (L in the documentation of `PublishEngine`).
        public var committed: Int64?
        /// The committed offset of each source partition that has one.
        public var watermarks: [TopicPartition: Int64]
        /// Source partitions that certainly have no committed offset.
        public var uncommitted: Set<TopicPartition>
        /// The note beside W: the anchor of its incarnation, and the progress of deliveries.
        public var notes: [TopicPartition: String]
        /// The first offset kept, and the end.
        public var kept: Range<Int64>
        /// The first offset at or after the request's time; `nil` if no record is that recent.
        public var since: Int64?

        /// - Parameter wall: the time; `nil` numbers no incarnation.
        public init(
            committed: Int64?, watermarks: [TopicPartition: Int64], uncommitted: Set<TopicPartition> = [],
            notes: [TopicPartition: String] = [:], kept: Range<Int64>, since: Int64? = nil, at wall: Instant? = nil
        ) {
            self.committed = committed
            self.watermarks = watermarks
            self.uncommitted = uncommitted
            self.notes = notes
            if let wall { for partition in uncommitted { self.notes[partition] = CommitNote.begun(at: wall) } }
            self.kept = kept
            self.since = since
        }
    }

    /// A partition without a record or an end for this long counts as unreadable.
    public static let standstillMax = Duration.seconds(15)
    /// Reading ends this long after it began, once it has passed the first end seen. Other processes keep moving the end.
    static let overtime = Duration.seconds(5)
    static let shortestRest = Duration.milliseconds(200)
    static let longestRest = Duration.seconds(5)

    public init(lane: LaneID) { self.lane = lane }

    // MARK: Requests

    /// Reads a results partition back for a shard. A second request for the same partition replaces the first.
    public mutating func restore(
        _ results: TopicPartition, for sources: [TopicPartition], from start: RestoreStart, shard: ShardID,
        generation: Generation
    ) {
        guard generation >= self.generation else { return }
        jobs.removeAll { $0.results == results }
        jobs.append(
            Job(shard: shard, generation: generation, results: results, sources: sources.sorted(), start: start))
        jobs.sort { $0.results < $1.results }
    }

    /// Drops what belongs to older generations.
    public mutating func begin(_ generation: Generation) {
        self.generation = max(self.generation, generation)
        jobs.removeAll { $0.generation < self.generation }
    }

    public var isIdle: Bool { jobs.isEmpty }

    // MARK: Next step

    public mutating func next(at now: Instant) -> Step {
        let due = jobs.indices.filter { index in
            if case .waiting(let until) = jobs[index].phase { until <= now } else { false }
        }
        if !due.isEmpty {
            for index in due { jobs[index].phase = .locating }
            return .locate(
                due.map {
                    Request(results: jobs[$0].results, sources: jobs[$0].sources, since: jobs[$0].start.since)
                })
        }
        let reading = jobs.filter { if case .reading = $0.phase { true } else { false } }
        if hasChanged {
            hasChanged = false
            let offsets = reading.compactMap { job in job.progress.map { PartitionOffset(job.results, $0.next) } }
            if !offsets.isEmpty { return .assign(offsets) }
        }
        if !reading.isEmpty { return .read }
        let rests = jobs.compactMap { job -> Instant? in
            if case .waiting(let until) = job.phase { until } else { nil }
        }
        return .wait(until: rests.min())
    }

    // MARK: Answers

    /// - Returns: notes for the lane's consumer, needed before records of these partitions are read or committed; `nil`
    ///   without notes.
    @discardableResult
    public mutating func located(
        _ results: TopicPartition, _ location: Location, at now: Instant
    ) -> IncarnationNotes? {
        guard let index = locating(results) else { return nil }
        let job = jobs[index]
        var progress = Self.progress(of: job, in: location)
        if let before = job.progress, location.kept.contains(before.next) || before.next == location.kept.upperBound {
            progress.next = max(progress.next, before.next)
            progress.start = min(progress.start, before.start)
        }
        jobs[index].progress = progress
        jobs[index].phase = .reading(movedAt: now, began: now)
        hasChanged = true
        guard !job.sources.isEmpty, job.start.offset == nil else { return nil }
        return IncarnationNotes(
            generation: job.generation, notes: job.sources.map { ($0, location.notes[$0]) },
            uncommitted: location.uncommitted, committed: location.watermarks)
    }

    private static func progress(of job: Job, in location: Location) -> Progress {
        let window = max(job.start.window, 0)
        let (low, end) = (location.kept.lowerBound, location.kept.upperBound)
        func back(_ offset: Int64) -> Int64 {
            let (earlier, overflow) = offset.subtractingReportingOverflow(window)
            return overflow ? low : earlier
        }
        let (first, basis): (Int64, RestoreEnd.Basis) =
            if let offset = job.start.offset {
                (offset <= end ? offset : low, .committed)
            } else if let committed = location.committed, committed <= end {
                (back(committed), .committed)
            } else if location.committed != nil {
                // Past the end: the results topic was recreated or truncated. All of it is new to us.
                (low, .committed)
            } else if job.start.since != nil {
                // The newest results still show the last settled deliveries.
                (min(location.since ?? end, back(end)), .time)
            } else {
                (back(end), .newest)
            }
        let start = min(max(first, low), end)
        return Progress(
            next: start, start: start, end: end, basis: basis,
            watermarks: job.start.offset == nil ? location.watermarks : [:],
            isCut: (job.start.offset ?? location.committed).map { $0 < low } ?? false, recentFrom: back(end),
            notes: job.start.offset == nil ? location.notes : [:])
    }

    /// The partition cannot be read for now. Others continue.
    public mutating func failed(
        _ results: TopicPartition, _ failure: KafkaFailure, at now: Instant, _ events: inout ShardEvents
    ) {
        guard let index = jobs.firstIndex(where: { $0.results == results }) else { return }
        if case .waiting = jobs[index].phase { return }
        var rest = Self.shortestRest
        for _ in 0..<min(jobs[index].failures, 8) { rest = min(rest * 2, Self.longestRest) }
        jobs[index].failures += 1
        jobs[index].phase = .waiting(until: now + rest)
        events.add(
            .restoreFailed(lane, jobs[index].generation, results: results, failure), for: jobs[index].shard)
    }

    /// Entries read of one results partition, in the order of offsets.
    ///
    /// - Parameters:
    ///   - entries: those that are results of our group.
    ///   - next: one past the last record read, of any kind, or the end that the broker showed.
    ///   - isAtEnd: no record existed there. A new leader may show an earlier end than the one that was located, and then the
    ///     partition is read on.
    public mutating func read(
        _ results: TopicPartition, _ entries: [LedgerEntry], next: Int64?, isAtEnd: Bool, at now: Instant,
        _ events: inout ShardEvents
    ) {
        guard let index = jobs.firstIndex(where: { $0.results == results }),
            case .reading(_, let began) = jobs[index].phase,
            var progress = jobs[index].progress
        else { return }
        if let next {
            // If the broker has deleted the start offset, the reader begins at the first offset that is kept.
            progress.start = min(progress.start, entries.first?.offset ?? progress.start)
            progress.next = next
            jobs[index].failures = 0
        }
        jobs[index].progress = progress
        jobs[index].phase = .reading(movedAt: next != nil ? now : movedAt(jobs[index]), began: began)
        let useful = entries.compactMap { entry in progress.useful(entry) }
        let isOverdue = progress.next >= progress.end && now >= began + Self.overtime
        if isAtEnd && progress.next >= progress.end || isOverdue {
            // The reader keeps fetching it, because restarting the others would cost more.
            let job = jobs.remove(at: index)
            var end = RestoreEnd(offset: max(progress.end, progress.next), start: progress.start, basis: progress.basis)
            end.isCut = progress.isCut
            end.progress = progress.notes.mapValues(CommitNote.progress).filter { !$0.value.isEmpty }
            end.incarnations = progress.notes.mapValues(CommitNote.incarnation)
            events.add(
                .restored(lane, job.generation, results: results, entries: useful, end: end), for: job.shard)
        } else if !useful.isEmpty {
            events.add(
                .restored(lane, jobs[index].generation, results: results, entries: useful, end: nil),
                for: jobs[index].shard)
        }
    }

    private func movedAt(_ job: Job) -> Instant {
        if case .reading(let movedAt, _) = job.phase { movedAt } else { .distantPast }
    }

    /// Ends partitions that are stuck, and those that are read far enough. Call it after every turn of reading.
    public mutating func tick(
        at now: Instant, standstill: KafkaFailure = .standstill, _ events: inout ShardEvents
    ) {
        // Partitions may not have begun to move. Only those that were read for some time show that the brokers deliver.
        let areOthersRead = jobs.contains { job in
            guard case .reading(let movedAt, let began) = job.phase else { return false }
            return movedAt > began && now < movedAt + Self.standstillMax
        }
        for job in jobs {
            guard case .reading(let movedAt, _) = job.phase else { continue }
            if now >= movedAt + Self.standstillMax {
                failed(job.results, areOthersRead ? .awaitsTurn : standstill, at: now, &events)
            } else {
                read(job.results, [], next: nil, isAtEnd: false, at: now, &events)
            }
        }
    }

    private func locating(_ results: TopicPartition) -> Int? {
        jobs.firstIndex { job in
            if case .locating = job.phase { job.results == results } else { false }
        }
    }
}

extension LedgerState.Progress {
    /// The entry with the known state of its record; `nil` if the partitions no longer need it.
    fileprivate func useful(_ entry: LedgerEntry) -> LedgerEntry? {
        var entry = entry
        if let watermark = watermarks[entry.source.partition] { entry.isOpen = entry.source.offset >= watermark }
        return entry.isOpen || entry.offset >= recentFrom ? entry : nil
    }
}
