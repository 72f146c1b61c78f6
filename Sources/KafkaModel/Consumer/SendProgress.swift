import NewsModel
public import NotificationHub

/// The progress of a delivery that needs several sends. The next owner of its partition continues there instead of sending to
/// the first readers again.
public struct SendProgress: Sendable, Hashable {
    /// The offset of its record.
    public var offset: Int64
    public var platform: Platform
    /// The sends that are done, at least 1: accepted ones, and those that the hub refused.
    public var sends: UInt16
    public var refused: UInt16
    /// A hash of the record and of the tags of these sends.
    public var hash: UInt64

    public init(offset: Int64, platform: Platform, sends: UInt16, refused: UInt16 = 0, hash: UInt64) {
        self.offset = offset
        self.platform = platform
        self.sends = sends
        self.refused = refused
        self.hash = hash
    }

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

/// The text beside a partition's committed offset: the anchor of its incarnation and the progress of its deliveries.
public enum CommitNote {
    private static let separator = " sent "
    /// Brokers accept 4,096 bytes by default.
    private static let bytesMax = 3_500

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
        IncarnationAnchor(note: note.firstRange(of: separator).map { String(note[..<$0.lowerBound]) } ?? note)
    }

    /// - Parameter note: from any writer. What is not the progress of a delivery is left out.
    public static func progress(in note: String) -> [SendProgress] {
        guard let range = note.firstRange(of: separator) else { return [] }
        return note[range.upperBound...].split(separator: ",").compactMap { SendProgress($0) }
    }
}
