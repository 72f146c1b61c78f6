public import NewsModel

/// A record that identifies an incarnation of a partition. Offsets alone do not reveal a recreated topic that is
/// already longer than our read offset.
public struct IncarnationAnchor: Sendable, Hashable {
    public let offset: Int64
    public let identity: RecordIdentity
    /// The offset where reading began without a commit; no record may exist before it. The identity is the first
    /// record's, or 0 without a record.
    private var began: Int64?
    package var isBeginning: Bool { began != nil }

    public init(offset: Int64, identity: RecordIdentity) {
        self.offset = offset
        self.identity = identity
    }

    public init(_ record: SourceRecord) {
        self.init(offset: record.offset, identity: RecordIdentity(of: record))
    }

    /// The anchor of a partition that began at `offset` without a commit. That was the group's offset before the topic
    /// was deleted, unless retention removed earlier records.
    static func beginning(at offset: Int64, identity: RecordIdentity = RecordIdentity(hash: 0)) -> IncarnationAnchor {
        var anchor = IncarnationAnchor(offset: 0, identity: identity)
        anchor.began = offset
        return anchor
    }

    static let prefix = "nw1"

    /// The text stored beside the committed offset, by which the partition's next owner knows the incarnation.
    public var note: String {
        let digits = String(decoding: identity.headerValue, as: UTF8.self)
        return began.map { "\(Self.prefix) from \($0) \(digits)" } ?? "\(Self.prefix) \(offset) \(digits)"
    }

    /// - Parameter note: the text beside a committed offset, from any writer. Gives `nil` if it is not an anchor.
    public init?(note: String) {
        let parts = note.split(separator: " ", omittingEmptySubsequences: false)
        if parts.count == 4, parts[0] == Self.prefix, parts[1] == "from", let began = Int64(parts[2]), began >= 0,
            let identity = RecordIdentity(headerValue: Array(parts[3].utf8))
        {
            self = .beginning(at: began, identity: identity)
            return
        }
        guard parts.count == 3, parts[0] == Self.prefix, let offset = Int64(parts[1]), offset >= 0,
            let identity = RecordIdentity(headerValue: Array(parts[2].utf8))
        else { return nil }
        self.init(offset: offset, identity: identity)
    }

    /// The record at the anchor's offset now.
    public enum Finding: Sendable, Hashable {
        /// The first record at or after the offset, as an anchor. If the partition ends earlier, its first record.
        case record(IncarnationAnchor)
        /// No record exists at or after the offset; the partition's next record gets the offset `end`.
        case nothing(end: Int64)
        /// The partition could not be read.
        case unknown
    }

    public enum Verdict: Sendable, Hashable {
        /// The incarnation is the same, or no record of another one could be missed.
        case same
        /// The partition's offsets started again.
        case another
        /// Probably another incarnation, but a leader that just took over may not show its newest records yet.
        case doubtful
        case unknown
    }

    /// Compares the record at the offset. Only the same record may be there, unless retention or compaction removed it:
    /// then the next one has a higher offset.
    public func verdict(_ finding: Finding) -> Verdict {
        switch finding {
        case .unknown: .unknown
        // A partition that ends behind the anchor has lost its records by retention. Another one would be shorter.
        case .nothing(let end): began == nil && end <= offset ? .doubtful : .same
        case .record(let found) where began != nil: verdict(onFirst: found)
        case .record(let found) where found.offset > offset: .same
        case .record(let found) where found.offset < offset: .doubtful
        case .record(let found): found == self ? .same : .another
        }
    }

    /// The verdict on the partition's first record.
    private func verdict(onFirst found: IncarnationAnchor) -> Verdict {
        guard let began, found.offset <= began else { return .same }
        if found.offset < began { return .another }
        return identity.hash == 0 || found.identity == identity ? .same : .another
    }
}
