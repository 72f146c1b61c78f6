public import NewsModel
import NotificationHub

/// Decides which accepted sends the hub is asked about, which records are written, and which offsets are committed. A
/// plain value: its owner reads, asks, stores and commits.
///
/// An offset is committed after every earlier send has its last record on the broker. A restart therefore repeats open
/// polls from at most `PollSchedule.end` ago. The repeated records contain at least what the first ones contained.
public struct TelemetryState: Sendable {
    public let settings: TelemetrySettings
    public internal(set) var figures = TelemetryFigures()
    /// The reason why the hub cannot be asked now.
    public internal(set) var problem: TelemetryProblem?
    /// True while records or offsets cannot be written to Kafka. They are tried again.
    public private(set) var cannotStore = false
    /// True once the group has assigned partitions to this process, possibly none.
    public private(set) var isAssigned = false

    var partitions: [Int32: PartitionProgress] = [:]
    var sends: [FollowedSendID: FollowedSend] = [:]
    var polls = PollQueue()
    var pace: AskingPace
    var inFlight = 0
    /// Consecutive failures, over all sends.
    var failures = 0
    /// Records that the broker has not acknowledged, and the send if the record is its last.
    var writes: [UInt64: FollowedSendID?] = [:]
    private var lastSend: UInt64 = 0
    var lastWrite: UInt64 = 0
    /// Records read but not yet credited, because too many sends are open.
    private var held = (records: 0, bytes: 0)
    private var leaving = Leaving.no
    private var isCommitting = false
    /// The offsets of the commit in flight.
    private var underWay: [Int32: Int64] = [:]
    private var commitAt = Instant.distantPast
    private var isCaughtUp = false
    /// True if the hub gave the last accepted send no id.
    public private(set) var isWithoutIDs = false
    var actions: [TelemetryAction] = []

    private enum Leaving: Sendable {
        case no
        /// The partitions are released when no commit is in flight.
        case revoked
        /// The process ends when no commit is in flight.
        case finishing
        case finished
    }

    private static let commitInterval = Duration.seconds(5)
    /// The largest age of a result that is followed. A new group starts with the oldest result on the topic.
    static let lateMax = Duration.seconds(7_200)

    public init(_ settings: TelemetrySettings) {
        self.settings = settings
        pace = AskingPace(perSecond: settings.perSecond)
    }

    /// The number of sends that are followed.
    public var openCount: Int { sends.count }

    /// The age of the oldest send that is followed. Does not change any state.
    public func oldestAge(at wall: Instant) -> Duration? { sends.values.map { $0.age(at: wall) }.max() }

    // MARK: Inputs

    public mutating func handle(_ input: TelemetryInput, at now: Moment) -> [TelemetryAction] {
        switch input {
        case .assigned(let partitions, let total): assign(partitions, total)
        case .results(let partition, let records): receive(records, of: partition, at: now)
        case .restored(let partition): partitions[partition]?.restore()
        case .restarted(let partition):
            forget(partition)
            partitions[partition] = PartitionProgress()
        case .revoked: leave(.revoked)
        case .lost: clear()
        case .answered(let id, let word): answered(id, word, at: now)
        case .stored(let write):
            learnStoring(failure: nil)
            stored(write)
        case .refused(let write): refused(write)
        case .notStored(let write, let reason):
            learnStoring(failure: reason)
            notStored(write, at: now)
        case .committed(let failure): committed(failure)
        case .tick: break
        case .finish: leave(.finishing)
        }
        carryOn(at: now)
        defer { actions = [] }
        return actions
    }

    private mutating func assign(_ list: [Int32], _ total: Int) {
        clear()
        isAssigned = true
        for partition in list { partitions[partition] = PartitionProgress() }
        pace.share(settings.perSecond, partitions: list.count, of: total)
    }

    /// Forgets all partitions and sends.
    private mutating func clear() {
        (partitions, sends, polls) = ([:], [:], PollQueue())
        writes = [:]
        // The answer to a commit in flight belongs to the former assignment. Waiting for it would end all commits.
        (isCommitting, underWay, cannotStore) = (false, [:], false)
        if case .revoked = leaving { leaving = .no }
        isAssigned = false
    }

    private mutating func forget(_ partition: Int32) {
        sends = sends.filter { $0.value.partition != partition }
    }

    // MARK: Results

    private mutating func receive(_ records: [SourceRecord], of partition: Int32, at now: Moment) {
        held.records += records.count
        held.bytes += records.reduce(0) { $0 + $1.byteCount }
        guard partitions[partition] != nil else { return }
        for record in records {
            if let send = send(of: record, partition, at: now) {
                lastSend += 1
                let id = FollowedSendID(number: lastSend, rank: settings.rank(of: send.lane))
                sends[id] = send
                partitions[partition]?.follow(record.offset)
                let due = send.acceptedAt + PollSchedule.age(of: send.attempt, send.send.eventID)
                polls.add(id, at: now.steady + max(due - now.wall, .zero))
            }
            partitions[partition]?.came(record.offset)
        }
    }

    /// - Returns: `nil` unless the record is the result of an accepted send that is in the sample.
    private mutating func send(of record: SourceRecord, _ partition: Int32, at now: Moment) -> FollowedSend? {
        // Other groups may send to another hub.
        guard record.headers.first(where: { $0.name == HeaderName.group })?.text == settings.group else { return nil }
        guard let value = record.value, let result = try? ResultRecord(decoding: value) else {
            figures.unreadable += 1
            return nil
        }
        guard result.outcome == .accepted, let eventID = result.eventID else { return nil }
        guard let id = result.notificationID, !id.isEmpty, id.utf8.count <= NotificationID.lengthMax else {
            figures.count(.withoutID)
            lacksID()
            return nil
        }
        isWithoutIDs = false
        guard SendSample.contains(eventID, millionths: settings.sample[result.lane] ?? 0) else {
            figures.count(.notSampled)
            return nil
        }
        let age = max(now.wall - result.settledAt, .zero)
        guard age <= Self.lateMax, let attempt = PollSchedule.next(after: 0, age: age, eventID) else {
            figures.count(.tooOld)
            return nil
        }
        return FollowedSend(
            partition: partition, offset: record.offset,
            send: .init(eventID: eventID, platform: result.platform, notificationID: id), lane: result.lane,
            tags: result.tags, acceptedAt: result.settledAt, attempt: attempt)
    }

    private mutating func lacksID() {
        guard !isWithoutIDs else { return }
        isWithoutIDs = true
        note(
            .error,
            "the hub gave an accepted send no id, so it cannot be asked about: telemetry needs a hub of the Standard tier"
        )
    }

    // MARK: What follows

    private mutating func carryOn(at now: Moment) {
        if !isLeaving { ask(at: now) }
        giveBack()
        commit(at: now)
        leaveIfDone()
        if !isCaughtUp, isAssigned, !isLeaving, partitions.values.allSatisfy(\.isCaughtUp) {
            isCaughtUp = true
            actions.append(.caughtUp)
        }
        if !isLeaving { wake(at: now) }
    }

    /// Grants credit for the records read, unless the limit of open sends is reached.
    private mutating func giveBack() {
        guard held.records > 0, sends.count < settings.openMax else { return }
        actions.append(.read(records: held.records, bytes: held.bytes))
        held = (0, 0)
    }

    private mutating func wake(at now: Moment) {
        var next = Instant.distantFuture
        if let poll = polls.next, inFlight < inFlightMax {
            next = problem == .notAllowed ? poll : max(poll, pace.opensAt)
        }
        if !isCommitting, partitions.values.contains(where: { $0.due != nil }) { next = min(next, commitAt) }
        if next < .distantFuture { actions.append(.wake(at: max(next, now.steady))) }
    }

    // MARK: Commits

    private mutating func commit(at now: Moment) {
        if case .finished = leaving { return }
        guard !isCommitting, isAssigned, isLeaving || commitAt <= now.steady else { return }
        let due = partitions.compactMapValues(\.due)
        guard !due.isEmpty else { return }
        isCommitting = true
        commitAt = now.steady + Self.commitInterval
        underWay = due
        actions.append(.commit(due))
    }

    private mutating func learnStoring(failure: String?) {
        guard cannotStore != (failure != nil) else { return }
        cannotStore = failure != nil
        if let failure {
            note(.error, "what became of sends cannot be stored, and is tried again: \(failure)")
        } else {
            note(.info, "what became of sends is stored again")
        }
    }

    private mutating func committed(_ failure: String?) {
        isCommitting = false
        learnStoring(failure: failure)
        if failure == nil {
            for (partition, offset) in underWay { partitions[partition]?.commit(offset) }
        } else if isLeaving {
            // The next owner repeats slightly more polls.
            partitions = [:]
        }
        underWay = [:]
    }

    // MARK: Leaving

    private var isLeaving: Bool { if case .no = leaving { false } else { true } }

    private mutating func leave(_ way: Leaving) {
        switch leaving {
        case .no: leaving = way
        case .revoked, .finishing, .finished:
            // A member that leaves its group also returns its partitions.
            if case .revoked = way { actions.append(.release) }
            return
        }
        // Later replies and acknowledgements no longer match any send.
        (sends, polls) = ([:], PollQueue())
    }

    private mutating func leaveIfDone() {
        let isAllCommitted = !isAssigned || !partitions.values.contains { $0.due != nil }
        guard !isCommitting, isAllCommitted else { return }
        switch leaving {
        case .no, .finished: break
        case .revoked:
            actions.append(.release)
            clear()
        case .finishing:
            leaving = .finished
            actions.append(.finished)
        }
    }
}
