public import NewsModel

/// The incarnation of its partition that a slot reads.
///
/// The first record handed out since the last check is a `candidate`. A check reads the record at the `anchor` again.
/// If it is unchanged, no other incarnation began before the check, and the candidate becomes the anchor.
struct IncarnationWatch: Sendable {
    enum Anchor: Sendable {
        /// An anchor may be stored beside the committed offset, which was not read yet.
        case unread
        /// No anchor; the next candidate becomes it.
        case none
        case known(IncarnationAnchor)
    }

    var anchor = Anchor.unread
    /// The anchor is a former owner's. Nothing is read before a check: the partition may have been created again while nobody owned it.
    private(set) var isUnverified = false
    /// See `CommitNote`.
    var number = 0
    /// The partition is read from its first record: the group has committed nothing for it, or it was recreated.
    var isReadWhole = false
    var candidate: IncarnationAnchor?
    /// The number of checks in a row that found no record at the anchor.
    var doubts = 0

    static let doubtsMax = 3

    /// Batches read; `checkedBatches` of them are known to belong to the anchor's incarnation.
    private(set) var batches = 0
    private var checkedBatches = 0

    var isDue: Bool { known != nil && (isUnverified || batches > checkedBatches) }

    /// Takes over the anchor of a former owner.
    mutating func inherit(_ anchor: IncarnationAnchor) { (self.anchor, isUnverified) = (.known(anchor), true) }

    /// Called with the offset of the first record or end that is read.
    mutating func begin(at offset: Int64, _ record: SourceRecord? = nil) {
        guard isReadWhole, offset > 0, case .none = anchor else { return }
        let identity = record.map { RecordIdentity(of: $0) } ?? RecordIdentity(hash: 0)
        anchor = .known(.beginning(at: offset, identity: identity))
    }

    /// Records the first record of a batch; takes its identity once between two checks.
    mutating func note(_ record: SourceRecord) {
        batches += 1
        guard candidate == nil else { return }
        candidate = IncarnationAnchor(record)
        if case .none = anchor { promote() }
    }

    /// The anchor was unchanged after this many batches; the candidate was read before.
    mutating func confirmed(_ candidate: IncarnationAnchor?, after batches: Int) {
        checkedBatches = max(checkedBatches, batches)
        (doubts, isUnverified) = (0, false)
        if candidate != nil, candidate == self.candidate { promote() }
    }

    mutating func promote() {
        guard let next = candidate else { return }
        anchor = .known(next)
        candidate = nil
        doubts = 0
    }

    var known: IncarnationAnchor? { if case .known(let anchor) = anchor { anchor } else { nil } }
    /// The text stored beside the committed offset, without the progress of deliveries.
    var note: String? { CommitNote.text(known, incarnation: number) }
}

/// The committed offsets of partitions, and the notes stored beside them; `nil` for a partition without a note.
public struct IncarnationNotes: Sendable {
    public var generation: Generation
    public var notes: [(partition: TopicPartition, note: String?)]
    /// Partitions without a committed offset.
    public var uncommitted: Set<TopicPartition>
    public var committed: [TopicPartition: Int64]

    public init(
        generation: Generation, notes: [(TopicPartition, String?)], uncommitted: Set<TopicPartition> = [],
        committed: [TopicPartition: Int64] = [:]
    ) {
        self.generation = generation
        self.notes = notes.map { ($0.0, $0.1) }
        self.uncommitted = uncommitted
        self.committed = committed
    }
}

extension ConsumerState {
    /// A question about a partition, to be answered on a thread that may block.
    public struct IncarnationCheck: Sendable, Hashable {
        public var partition: TopicPartition
        public var generation: Generation
        /// Read the record at its offset and answer with `checked`.
        public var anchor: IncarnationAnchor
        let candidate: IncarnationAnchor?
        /// The number of batches read when the check was requested.
        let batches: Int
        /// True if reading had failed when the check was requested. A record or an end shows that it works again, which
        /// librdkafka does not report for a partition without new records.
        let isAfterFailure: Bool
    }

    /// The checks to make now; cheap. An unanswered check is requested again.
    ///
    /// - Parameter includingIdle: also checks partitions without new records. A recreated partition of exactly the
    ///   former length has no such records.
    public func incarnationChecks(includingIdle: Bool = false) -> [IncarnationCheck] {
        guard case .assigned = phase else { return [] }
        return slots.compactMap { slot in
            if slot.hasRestarted { return nil }
            let hasFailed = failures[slot.partition] != nil
            guard hasFailed || slot.watch.known != nil && (slot.watch.isDue || includingIdle) else { return nil }
            let place = slot.expected ?? 0
            return IncarnationCheck(
                partition: slot.partition, generation: generation,
                anchor: slot.watch.known ?? IncarnationAnchor(offset: place, identity: RecordIdentity(hash: 0)),
                candidate: slot.watch.candidate, batches: slot.watch.batches, isAfterFailure: hasFailed)
        }
    }

    /// The note beside the committed offset: the anchor of the partition's last owner, or an unusable text.
    public mutating func found(_ notes: IncarnationNotes) {
        for (partition, note) in notes.notes {
            guard let index = slot(partition, notes.generation) else { continue }
            slots[index].watch.number = max(slots[index].watch.number, note.map(CommitNote.incarnation) ?? 0)
            guard case .unread = slots[index].watch.anchor else { continue }
            slots[index].committed = notes.committed[partition]
            if let anchor = note.flatMap(CommitNote.anchor) {
                slots[index].watch.inherit(anchor)
            } else {
                slots[index].watch.anchor = .none
                slots[index].watch.isReadWhole = notes.uncommitted.contains(partition)
                slots[index].watch.promote()
            }
        }
    }

    /// Receives the record at the anchor, read after the check was requested.
    public mutating func checked(
        _ check: IncarnationCheck, _ finding: IncarnationAnchor.Finding, _ events: inout ShardEvents
    ) {
        guard let index = slot(check.partition, check.generation) else { return }
        if check.isAfterFailure, finding != .unknown { failures[check.partition] = nil }
        guard slots[index].watch.known == check.anchor else { return }
        switch check.anchor.verdict(finding) {
        case .unknown: break
        case .same: slots[index].watch.confirmed(check.candidate, after: check.batches)
        case .doubtful where slots[index].watch.doubts + 1 < IncarnationWatch.doubtsMax: slots[index].watch.doubts += 1
        case .another, .doubtful: restarted(check.partition, check.generation, &events)
        }
    }

    /// The record at the anchor could not be read, so the partition may stay unread.
    public mutating func failed(_ check: IncarnationCheck, _ failure: KafkaFailure) {
        if slot(check.partition, check.generation) != nil { failures[check.partition] = failure }
    }

    /// The note to store beside a committed offset; `nil` for partitions of others, and before the first record of a
    /// topic that was never created again.
    public func note(for offset: PartitionOffset) -> String? {
        let slot = slots.first { $0.partition == offset.partition }
        let anchor = slot.map { $0.watch.note } ?? drainedNotes[offset.partition]
        return anchor.map { CommitNote.text($0, offset.progress) }
    }
}
