public import NewsModel

/// A record by which an incarnation of a partition is recognised: offsets alone do not tell when a topic was deleted and made
/// again so quickly that it is already longer than where we read.
public struct IncarnationAnchor: Sendable, Hashable {
    public let offset: Int64
    /// Of the record's key, value and time.
    public let fingerprint: UInt64
    /// Where reading began, although nothing was committed: no record may stand before it. The fingerprint is the first
    /// record's, 0 where there was none.
    private var began: Int64?
    package var isBeginning: Bool { began != nil }

    public init(offset: Int64, fingerprint: UInt64) {
        self.offset = offset
        self.fingerprint = fingerprint
    }

    public init(_ record: SourceRecord) {
        var fingerprint = Fingerprint()
        for bytes in [record.key, record.value] {
            fingerprint.mix(bytes == nil ? 0 : 1)
            fingerprint.mix(bytes ?? [])
        }
        if let time = record.timestamp { fingerprint.mix("\(time.nanoseconds)") }
        self.init(offset: record.offset, fingerprint: fingerprint.value)
    }

    /// Of a partition without a committed offset whose reading began at `offset` all the same: what stood there was fetched
    /// as the group's offset before its topic was deleted, unless the records before it fell to retention.
    static func beginning(at offset: Int64, fingerprint: UInt64 = 0) -> IncarnationAnchor {
        var anchor = IncarnationAnchor(offset: 0, fingerprint: fingerprint)
        anchor.began = offset
        return anchor
    }

    /// As it stands beside the group's committed offset, so that the partition's next owner recognises the incarnation too.
    public var note: String {
        let digits = String(fingerprint, radix: 16)
        let padded = String(repeating: "0", count: 16 - digits.count) + digits
        return began.map { "nw1 from \($0) \(padded)" } ?? "nw1 \(offset) \(padded)"
    }

    /// - Parameter note: what stands beside a committed offset, whoever wrote it; `nil` when it is not an anchor.
    public init?(note: String) {
        let parts = note.split(separator: " ", omittingEmptySubsequences: false)
        if parts.count == 4, parts[0] == "nw1", parts[1] == "from", let began = Int64(parts[2]), began >= 0,
            parts[3].utf8.count == 16, let fingerprint = UInt64(parts[3], radix: 16)
        {
            self = .beginning(at: began, fingerprint: fingerprint)
            return
        }
        guard parts.count == 3, parts[0] == "nw1", let offset = Int64(parts[1]), offset >= 0, parts[2].utf8.count == 16,
            let fingerprint = UInt64(parts[2], radix: 16)
        else { return nil }
        self.init(offset: offset, fingerprint: fingerprint)
    }

    /// What stands at the anchor's offset now.
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

    /// A record was read at the offset before, so only the same record may stand there, unless it fell to retention or
    /// compaction: then the next one stands further on.
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
        return fingerprint == 0 || found.fingerprint == fingerprint ? .same : .another
    }
}
