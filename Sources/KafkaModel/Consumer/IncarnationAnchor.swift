public import NewsModel

/// A record by which an incarnation of a partition is recognised: offsets alone do not show that a topic was deleted and created
/// again if it is already longer than the offset we read at.
public struct IncarnationAnchor: Sendable, Hashable {
    public let offset: Int64
    public let identity: RecordIdentity
    /// The offset where reading began, although nothing was committed: no record may stand before it. The identity is the first
    /// record's, 0 if there was none.
    private var began: Int64?
    package var isBeginning: Bool { began != nil }

    public init(offset: Int64, identity: RecordIdentity) {
        self.offset = offset
        self.identity = identity
    }

    public init(_ record: SourceRecord) {
        self.init(offset: record.offset, identity: RecordIdentity(of: record))
    }

    /// For a partition without a committed offset whose reading began at `offset` all the same: that was the group's offset before
    /// the topic was deleted, unless retention removed the records before it.
    static func beginning(at offset: Int64, identity: RecordIdentity = RecordIdentity(hash: 0)) -> IncarnationAnchor {
        var anchor = IncarnationAnchor(offset: 0, identity: identity)
        anchor.began = offset
        return anchor
    }

    /// As it stands beside the group's committed offset, so that the partition's next owner recognises the incarnation too.
    public var note: String {
        let digits = String(decoding: identity.headerValue, as: UTF8.self)
        return began.map { "nw1 from \($0) \(digits)" } ?? "nw1 \(offset) \(digits)"
    }

    /// - Parameter note: the text beside a committed offset, from whatever writer. Gives `nil` if it is not an anchor.
    public init?(note: String) {
        let parts = note.split(separator: " ", omittingEmptySubsequences: false)
        if parts.count == 4, parts[0] == "nw1", parts[1] == "from", let began = Int64(parts[2]), began >= 0,
            let identity = RecordIdentity(headerValue: Array(parts[3].utf8))
        {
            self = .beginning(at: began, identity: identity)
            return
        }
        guard parts.count == 3, parts[0] == "nw1", let offset = Int64(parts[1]), offset >= 0,
            let identity = RecordIdentity(headerValue: Array(parts[2].utf8))
        else { return nil }
        self.init(offset: offset, identity: identity)
    }

    /// The record at the anchor's offset now.
    public enum Finding: Sendable, Hashable {
        /// The first record at or after the offset, as an anchor; where the partition ends before it, its first one.
        case record(IncarnationAnchor)
        /// The partition ends at or before the offset.
        case nothing
        /// The partition could not be read.
        case unknown
    }

    public enum Verdict: Sendable, Hashable {
        /// The incarnation is the same, or nothing of another one could be missed.
        case same
        /// The partition's offsets started again.
        case another
        /// Likely so; but a leader that just took over may not yet show its newest records.
        case doubtful
        case unknown
    }

    /// A record was read at the offset before, so only the same record may stand there, unless retention or compaction removed it:
    /// then the next one stands further on.
    public func verdict(_ finding: Finding) -> Verdict {
        switch finding {
        case .unknown: .unknown
        case .nothing: began == nil ? .doubtful : .same
        case .record(let found) where began != nil: verdict(onFirst: found)
        case .record(let found) where found.offset > offset: .same
        case .record(let found) where found.offset < offset: .doubtful
        case .record(let found): found == self ? .same : .another
        }
    }

    /// On the first record that the partition has.
    private func verdict(onFirst found: IncarnationAnchor) -> Verdict {
        guard let began, found.offset <= began else { return .same }
        if found.offset < began { return .another }
        return identity.hash == 0 || found.identity == identity ? .same : .another
    }
}
