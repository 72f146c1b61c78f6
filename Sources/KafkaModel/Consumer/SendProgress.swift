import NewsModel
public import NotificationHub

/// The progress of a delivery that needs several sends. The next owner of its partition continues there instead of sending to
/// the first readers again.
public struct SendProgress: Sendable, Hashable {
    /// The offset of its record.
    public var offset: Int64
    public var platform: Platform
    /// The sends that are done, at least 1: accepted ones, and those that the hub refused or whose retries ended.
    public var sends: UInt16
    /// The sends that are done and were not accepted.
    public var refused: UInt16
    /// The upper half is a hash of the record, the lower half one of the tags of these sends.
    public var hash: UInt64

    public init(offset: Int64, platform: Platform, sends: UInt16, refused: UInt16 = 0, hash: UInt64) {
        self.offset = offset
        self.platform = platform
        self.sends = sends
        self.refused = refused
        self.hash = hash
    }

    public static func hash(of record: RecordIdentity, tags: UInt64) -> UInt64 {
        record.hash & recordHalf | tags & ~recordHalf
    }

    public func isOf(_ record: RecordIdentity) -> Bool { (hash ^ record.hash) & Self.recordHalf == 0 }

    private static let recordHalf: UInt64 = 0xFFFF_FFFF_0000_0000

    /// As part of a note beside a committed offset, e.g. `17:apple:3:0:00c0ffee00c0ffee`.
    fileprivate var text: String {
        "\(offset):\(platform.rawValue):\(sends):\(refused):"
            + String(decoding: RecordIdentity(hash: hash).headerValue, as: UTF8.self)
    }

    fileprivate init?(_ text: Substring) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 5, let offset = Int64(parts[0]), offset >= 0,
            let platform = Platform(rawValue: String(parts[1])), let sends = UInt16(parts[2]), sends > 0,
            let refused = UInt16(parts[3]), refused < sends,
            let hash = RecordIdentity(headerValue: Array(parts[4].utf8))?.hash
        else { return nil }
        self.init(offset: offset, platform: platform, sends: sends, refused: refused, hash: hash)
    }
}

/// The text beside a partition's committed offset: the anchor and the number of its incarnation, and the progress of its
/// deliveries. An example: `nw1 12 00c0ffee00c0ffee in 1795348800000 sent 17:apple:3:0:00c0ffee00c0ffee`.
///
/// The number of an incarnation is greater than those of the partition's former ones. Where the group has committed nothing, it is the
/// time in milliseconds: Kafka deletes a topic's committed offsets with it, and with them the former number. If a process notices that
/// the offsets start again, it adds 1.
public enum CommitNote {
    private static let separator = " sent "
    private static let number = " in "
    /// Brokers accept 4,096 bytes by default.
    private static let bytesMax = 4_000

    /// - Parameters:
    ///   - anchor: `nil` before the first record of an incarnation.
    ///   - incarnation: left out if it is 0.
    /// - Returns: `nil` if there is nothing to tell.
    static func text(_ anchor: IncarnationAnchor?, incarnation: Int) -> String? {
        incarnation > 0 ? (anchor?.note ?? IncarnationAnchor.prefix) + number + String(incarnation) : anchor?.note
    }

    /// - Parameter progress: what does not fit is left out. Its deliveries start again after a crash.
    static func text(_ anchor: String, _ progress: [SendProgress]) -> String {
        var note = anchor
        for (index, one) in progress.enumerated() {
            let text = (index == 0 ? separator : ",") + one.text
            guard note.utf8.count + text.utf8.count <= bytesMax else { break }
            note += text
        }
        return note
    }

    /// - Parameter note: from any writer.
    public static func anchor(in note: String) -> IncarnationAnchor? {
        let note = withoutProgress(note)
        return IncarnationAnchor(note: String(note.firstRange(of: number).map { note[..<$0.lowerBound] } ?? note))
    }

    /// The number of the incarnation; 0 if the note does not tell.
    ///
    /// - Parameter note: from any writer.
    public static func incarnation(in note: String) -> Int {
        let note = withoutProgress(note)
        return note.firstRange(of: number).flatMap { Int(note[$0.upperBound...]) }.map { min(max($0, 0), numberMax) }
            ?? 0
    }

    /// Far from overflow.
    private static let numberMax = 1 << 53

    /// The note of a partition that the group begins to read at this time, by the wall clock.
    static func begun(at wall: Instant) -> String? {
        text(nil, incarnation: Int(clamping: wall.milliseconds))
    }

    private static func withoutProgress(_ note: String) -> Substring {
        note.firstRange(of: separator).map { note[..<$0.lowerBound] } ?? note[...]
    }

    /// - Parameter note: from any writer. What is not the progress of a delivery is left out.
    public static func progress(in note: String) -> [SendProgress] {
        guard let range = note.firstRange(of: separator) else { return [] }
        return note[range.upperBound...].split(separator: ",").compactMap { SendProgress($0) }
    }
}
