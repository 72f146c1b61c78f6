public import NewsModel

/// The incarnation of its partition that a slot reads.
///
/// The first record handed out since the last check is a `candidate`. A check reads the `anchor` anew: if it still stands where
/// it stood, no other incarnation can have begun before the check, and the candidate takes its place.
struct IncarnationWatch: Sendable {
    enum Anchor: Sendable {
        /// It may stand beside the committed offset, which was not read yet.
        case unread
        /// The next candidate becomes it.
        case none
        case known(IncarnationAnchor)
    }

    var anchor = Anchor.unread
    /// It is to be read from its first record: the group has committed nothing for it, or it was made again.
    var isReadWhole = false
    var candidate: IncarnationAnchor?
    /// Checks in a row that found nothing at the anchor.
    var doubts = 0

    static let doubtsMax = 3

    /// Batches read, and those of them that are known to be of the anchor's incarnation.
    private(set) var batches = 0
    private var checkedBatches = 0

    var isDue: Bool { known != nil && batches > checkedBatches }

    /// Called with the offset of the first record or end that is read.
    mutating func begin(at offset: Int64, _ record: SourceRecord? = nil) {
        guard isReadWhole, offset > 0, case .none = anchor else { return }
        let identity = record.map { RecordIdentity(of: $0) } ?? RecordIdentity(hash: 0)
        anchor = .known(.beginning(at: offset, identity: identity))
    }

    /// Called for every batch with its first record; takes its identity once between two checks.
    mutating func note(_ record: SourceRecord) {
        batches += 1
        guard candidate == nil else { return }
        candidate = IncarnationAnchor(record)
        if case .none = anchor { promote() }
    }

    /// The anchor was found where it stood, after so many batches; the candidate was read before.
    mutating func confirmed(_ candidate: IncarnationAnchor?, after batches: Int) {
        checkedBatches = max(checkedBatches, batches)
        doubts = 0
        if candidate != nil, candidate == self.candidate { promote() }
    }

    mutating func promote() {
        guard let next = candidate else { return }
        anchor = .known(next)
        candidate = nil
        doubts = 0
    }

    var known: IncarnationAnchor? {
        if case .known(let anchor) = anchor { anchor } else { nil }
    }
}

/// The notes stored beside the committed offsets of partitions; `nil` for none.
public struct IncarnationNotes: Sendable {
    public var generation: Generation
    public var notes: [(partition: TopicPartition, note: String?)]
    /// Partitions for which nothing is committed.
    public var uncommitted: Set<TopicPartition>

    public init(
        generation: Generation, notes: [(TopicPartition, String?)], uncommitted: Set<TopicPartition> = []
    ) {
        self.generation = generation
        self.notes = notes.map { ($0.0, $0.1) }
        self.uncommitted = uncommitted
    }
}

extension ConsumerState {
    /// A question about a partition, to be answered on a thread that may block.
    public struct IncarnationCheck: Sendable, Hashable {
        public var partition: TopicPartition
        public var generation: Generation
        /// Read the record at its offset and answer with `checked`.
        public var anchor: IncarnationAnchor
        /// The batches read by then.
        let candidate: IncarnationAnchor?
        let batches: Int
    }

    /// The checks to make now; cheap. An unanswered check is asked for again.
    ///
    /// - Parameter includingIdle: checks partitions that gave nothing new, too: one that was created again and is exactly as
    ///   long as the former one gives nothing.
    public func incarnationChecks(includingIdle: Bool = false) -> [IncarnationCheck] {
        guard case .assigned = phase else { return [] }
        return slots.compactMap { slot in
            if slot.hasBegunAnew { return nil }
            switch slot.watch.anchor {
            case .none, .unread: return nil
            case .known(let anchor):
                guard slot.watch.isDue || includingIdle else { return nil }
                return IncarnationCheck(
                    partition: slot.partition, generation: generation, anchor: anchor,
                    candidate: slot.watch.candidate, batches: slot.watch.batches)
            }
        }
    }

    /// The note beside the committed offset: the anchor of the partition's last owner, or nothing of use.
    public mutating func found(_ notes: IncarnationNotes) {
        for (partition, note) in notes.notes {
            guard let index = slot(partition, notes.generation), case .unread = slots[index].watch.anchor else {
                continue
            }
            if let anchor = note.flatMap(IncarnationAnchor.init(note:)) {
                slots[index].watch.anchor = .known(anchor)
            } else {
                slots[index].watch.anchor = .none
                slots[index].watch.isReadWhole = notes.uncommitted.contains(partition)
                slots[index].watch.promote()
            }
        }
    }

    /// The record at the anchor now, read after the check was asked for.
    public mutating func checked(
        _ check: IncarnationCheck, _ finding: IncarnationAnchor.Finding, _ events: inout ShardEvents
    ) {
        guard let index = slot(check.partition, check.generation), slots[index].watch.known == check.anchor else {
            return
        }
        switch check.anchor.verdict(finding) {
        case .unknown: break
        case .same: slots[index].watch.confirmed(check.candidate, after: check.batches)
        case .doubtful where slots[index].watch.doubts + 1 < IncarnationWatch.doubtsMax: slots[index].watch.doubts += 1
        case .another, .doubtful: beganAnew(check.partition, check.generation, &events)
        }
    }

    /// The note to store beside a partition's committed offset; `nil` for partitions that are not ours, and before their first
    /// record.
    public func note(for partition: TopicPartition) -> String? {
        if let slot = slots.first(where: { $0.partition == partition }) { return slot.watch.known?.note }
        return drainedNotes[partition]
    }
}
