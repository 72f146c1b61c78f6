import KafkaModel
import NewsModel

/// A lane's partitions that are ours, from their assignment to their release: when their offsets are committed, and
/// whether they are still ours.
struct OwnedPartitions: Sendable {
    /// The slots, in ascending order of topic and partition.
    private(set) var slots: [Int] = []
    /// The generation of the last assignment.
    private(set) var generation = Generation.none
    private(set) var commit = LaneCommit()
    private(set) var confirmation = Confirmation.confirmed
    /// The release of revoked partitions.
    private(set) var handover: Handover?
    /// Some partition may be paused for its length; checked when records finish.
    private(set) var hasPausedPartitions = false
    /// Some partition is finishing a former incarnation.
    private var hasFinishing = false

    /// The knowledge whether the partitions are still ours.
    enum Confirmation: Sendable, Hashable {
        case confirmed
        /// Not confirmed since a standstill. Followed by `asked`.
        ///
        /// `ignoresAnswer`: an earlier commit is in flight, whose answer may be outdated.
        case unconfirmed(ignoresAnswer: Bool = false)
        /// A commit that only the owner may make is in flight. Followed by `confirmed` or `unconfirmed`.
        case asked
    }

    /// The release of a generation's partitions after a revoke.
    struct Handover: Sendable, Hashable {
        let generation: Generation
        /// The partitions are released then, even with work in flight.
        let deadline: Instant
        /// The last commit was answered, or none was needed.
        fileprivate(set) var isCommitted: Bool
    }

    // MARK: Assignment

    /// Begins a new assignment. Another owner may have committed meanwhile.
    mutating func assign(_ slots: [Int], _ generation: Generation, at now: Instant) {
        self.slots = slots
        self.generation = generation
        handover = nil
        commit.assigned(at: now)
        // The broker may have made this assignment before the standstill.
        if confirmation != .confirmed { confirmation = .unconfirmed(ignoresAnswer: commit.isUnderWay) }
    }

    /// Revokes partitions of a generation. What is in flight is finished up to the deadline, and committed.
    mutating func revoke(
        _ gone: [TopicPartition], of generation: Generation, isLost: Bool, by deadline: Instant,
        in partitions: inout PartitionTable, at now: Instant
    ) {
        for slot in slots where partitions[slot].generation == generation && gone.contains(partitions[slot].id) {
            partitions[slot].drain()
        }
        handover = Handover(generation: generation, deadline: isLost ? now : deadline, isCommitted: isLost)
        if isLost { commit.forget() } else { commit.note() }
        commit.hurry(at: now)
    }

    /// Ends the handover once all work in flight is settled, stored and committed, or at its deadline.
    ///
    /// - Returns: the slots to release; `nil` if the handover has not ended.
    mutating func release(in partitions: PartitionTable, at now: Instant) -> [Int]? {
        guard let handover else { return nil }
        let going = slots.filter { partitions[$0].isDraining && partitions[$0].generation == handover.generation }
        let isDone = handover.isCommitted && !commit.isUnderWay && going.allSatisfy { partitions[$0].isQuiet }
        guard isDone || now >= handover.deadline else { return nil }
        slots.removeAll { going.contains($0) }
        self.handover = nil
        return going
    }

    // MARK: Commits

    /// Records that an offset moved, or may have.
    mutating func noteMove() { commit.note() }

    /// Lets a delivery that needs several sends wait until its progress is committed.
    mutating func awaitCommit(of delivery: DeliveryID, at now: Instant) { commit.wait(for: delivery, at: now) }

    /// Removes and returns the deliveries whose progress is committed.
    mutating func takeCommitted() -> [DeliveryID] { commit.takeCommitted() }

    /// Lets the last commit before a shutdown go out at once.
    mutating func hurry(at now: Instant) { commit.hurry(at: now) }

    /// Returns true if offsets may have to be committed now: call `takeCommit`.
    mutating func isCommitDue(in partitions: inout PartitionTable, isRunning: Bool, at now: Instant) -> Bool {
        if now >= commit.renewAt {
            commit.renew(at: now)
            repeatCommits(of: &partitions)
        }
        if mustAskForConfirmation { commit.note() }
        return commit.isOpen && commit.takeDue(at: now, mustWait: hasWorkToAwait(in: partitions, isRunning: isRunning))
    }

    /// The offsets to commit; `nil` if none have moved.
    mutating func takeCommit(
        of partitions: inout PartitionTable, _ settings: EngineSettings, lane: LaneSettings, at now: Instant
    ) -> [PartitionOffset]? {
        let offsets = takeOffsets(of: &partitions, resultsTopic: settings.resultsTopic, lane)
        noteCommit(isEmpty: offsets.isEmpty, in: partitions)
        guard !offsets.isEmpty else {
            commit.skip()
            handover?.isCommitted = true
            return nil
        }
        commit.begin(at: now, interval: settings.commitInterval)
        return offsets
    }

    /// Makes all offsets due again: a ledger offset must never be committed without the watermark behind it.
    private mutating func repeatCommits(of partitions: inout PartitionTable) {
        for slot in slots { partitions[slot].repeatCommit() }
        commit.forgetLedger()
        commit.note()
    }

    /// Replies and acknowledgements are worth waiting for before a last commit. The release has its own deadline.
    private func hasWorkToAwait(in partitions: PartitionTable, isRunning: Bool) -> Bool {
        guard !isRunning || handover != nil else { return false }
        return slots.contains { (!isRunning || partitions[$0].isDraining) && !partitions[$0].isQuiet }
    }

    /// W of every source partition that moved, and L of its results partition: the minimum of its topics.
    private mutating func takeOffsets(
        of partitions: inout PartitionTable, resultsTopic: String, _ lane: LaneSettings
    ) -> [PartitionOffset] {
        var offsets: [PartitionOffset] = []
        var ledger: [Int32: Int64] = [:]
        var moved: Set<Int32> = []
        for slot in slots {
            let partition = partitions[slot].id.partition
            // Before the ledger is read, the offset of the first result is unknown, and L stays. If the watermark of a new
            // incarnation is committed, L becomes 0, because the results of that incarnation may be anywhere.
            let unknown = partitions[slot].lowWatermark == nil ? Int64.min : 0
            let start = partitions.ledgerStart(of: slot) ?? unknown
            ledger[partition] = min(ledger[partition] ?? .max, start)
            guard let watermark = partitions[slot].takeWatermark() else { continue }
            offsets.append(watermark)
            if start != .min { moved.insert(partition) }
        }
        for (partition, start) in ledger.sorted(by: { $0.key < $1.key })
        where start >= 0 && ownsAll(partition, of: lane, in: partitions) {
            guard commit.advanceLedger(of: partition, to: start, mustGo: moved.contains(partition)) else { continue }
            offsets.append(PartitionOffset(TopicPartition(topic: resultsTopic, partition: partition), start))
        }
        return offsets
    }

    /// If the lane's topics differed in length at assignment, different members may own partition p of each topic. Then
    /// no member knows how far back L must reach, so L stays.
    private func ownsAll(_ partition: Int32, of lane: LaneSettings, in partitions: PartitionTable) -> Bool {
        lane.topics.count == 1
            || slots.count { partitions[$0].id.partition == partition } == Set(lane.topics).count
    }

    /// Receives the broker's answer to a commit.
    ///
    /// - Parameter offsets: those that the broker accepted.
    mutating func receiveAnswer(
        to generation: Generation, accepted offsets: [PartitionOffset], failure: KafkaFailure?,
        in partitions: inout PartitionTable, isRunning: Bool, interval: Duration, at now: Instant
    ) {
        let isCurrent = generation == self.generation
        if isCurrent { for slot in slots { partitions[slot].finishCommit(accepted: offsets) } }
        guard let failure else {
            commit.succeeded()
            confirm(isCurrent: isCurrent, isTaken: true, of: &partitions, at: now)
            if !commit.isOpen { handover?.isCommitted = true }
            return
        }
        commit.failed(failure, at: now, interval: interval)
        confirm(isCurrent: isCurrent, isTaken: !offsets.isEmpty, of: &partitions, at: now)
        if isCurrent { repeatCommits(of: &partitions) }
        // Without the last commit, the next owner reads more of the ledger, and may repeat sends of news that needs several. A broker
        // may refuse one while it rebalances.
        let isTried = commit.failing?.count ?? 0 >= LaneCommit.failuresMax
        if isTried ? handover != nil || !isRunning : handover != nil && !failure.isRetriable {
            commit.forget()
            handover?.isCommitted = true
        }
    }

    // MARK: After a standstill

    /// The partitions may have other owners by now. Revoked partitions send nothing new anyway.
    var isUnconfirmed: Bool { confirmation != .confirmed && !slots.isEmpty && handover == nil }

    /// Makes the assignment uncertain after a standstill.
    mutating func standStill(in partitions: inout PartitionTable, at now: Instant) {
        confirmation = .unconfirmed(ignoresAnswer: commit.isUnderWay)
        askForConfirmation(of: &partitions, at: now)
    }

    /// Commits all offsets again, because the broker accepts a commit only from the present owner.
    private mutating func askForConfirmation(of partitions: inout PartitionTable, at now: Instant) {
        repeatCommits(of: &partitions)
        commit.hurry(at: now)
    }

    /// A commit is needed even if no offset moved: its answer tells if the partitions are still ours.
    private var mustAskForConfirmation: Bool { confirmation == .unconfirmed() && isUnconfirmed }

    /// Records that a commit goes out. `isEmpty`: there was nothing to commit.
    private mutating func noteCommit(isEmpty: Bool, in partitions: PartitionTable) {
        guard case .unconfirmed(false) = confirmation else { return }
        if !isEmpty {
            confirmation = .asked
        } else if slots.contains(where: { partitions[$0].isFinishing }) {
            // Offsets of a former incarnation are not committed. It must be finished before other offsets exist.
            confirmation = .confirmed
        }
    }

    /// - Parameter isTaken: the broker accepted some of the commit's offsets.
    private mutating func confirm(
        isCurrent: Bool, isTaken: Bool, of partitions: inout PartitionTable, at now: Instant
    ) {
        switch confirmation {
        case .confirmed: return
        case .asked where isCurrent && isTaken: confirmation = .confirmed
        case .asked, .unconfirmed:
            confirmation = .unconfirmed()
            if isTaken { askForConfirmation(of: &partitions, at: now) }
        }
    }

    // MARK: Paused and restarted partitions

    /// True if reading is paused for some partition's length.
    mutating func notePaused() { hasPausedPartitions = true }

    /// Resumes paused partitions that have shrunk to `most` records.
    ///
    /// - Returns: the resumed partitions.
    mutating func resumePaused(upTo most: Int, in partitions: inout PartitionTable) -> [TopicPartition] {
        guard hasPausedPartitions else { return [] }
        hasPausedPartitions = false
        var resumed: [TopicPartition] = []
        for slot in slots where partitions[slot].isPaused {
            if partitions[slot].resume(upTo: most) {
                resumed.append(partitions[slot].id)
            } else {
                hasPausedPartitions = true
            }
        }
        return resumed
    }

    mutating func finishIncarnation() { hasFinishing = true }

    /// The slots of former incarnations whose records are all done. Those whose results partition is being read for another topic
    /// follow later, because a second reading would take the place of the first.
    mutating func takeFinished(in partitions: PartitionTable) -> [Int] {
        guard hasFinishing else { return [] }
        let finishing = slots.filter { partitions[$0].isFinishing }
        let reading = Set(slots.filter { partitions[$0].ledgerReading != nil }.map { partitions[$0].id.partition })
        let finished = finishing.filter {
            partitions[$0].entries.isEmpty && !reading.contains(partitions[$0].id.partition)
        }
        hasFinishing = finished.count < finishing.count
        return finished
    }

    /// The time at which the next commit or the end of a handover is due.
    func nextAlarm(isRunning: Bool) -> Instant {
        if isRunning, !commit.committed.isEmpty { return .distantPast }
        let commitAt = commit.state == .due ? commit.notBefore : .distantFuture
        return min(isRunning ? commit.renewAt : .distantFuture, commitAt, handover?.deadline ?? .distantFuture)
    }
}
