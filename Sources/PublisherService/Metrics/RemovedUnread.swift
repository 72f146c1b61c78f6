import ByteText
import KafkaModel
import NewsModel

/// The records of one lane that were removed from its topics before the lane read them.
struct RemovedUnread: Sendable {
    /// The upper bound of their number since the start of the process.
    private(set) var total: UInt64 = 0
    private var last: (removed: RemovedRecords, at: Instant)?

    /// The time for which the last occurrence is shown. A person must see it although the lane works again.
    static let shownFor = Duration.seconds(600)

    mutating func add(_ removed: RemovedRecords, at now: Instant) {
        total &+= UInt64(max(removed.count, 0))
        last = (removed, now)
    }

    /// - Parameter now: the monotonic time.
    func notReady(lane: String, at now: Instant) -> ReadinessReason? {
        guard let last, now - last.at <= Self.shownFor else { return nil }
        let offsets = last.removed.offsets
        let number = ByteText.counted(Int(clamping: last.removed.count), "record")
        return .init(
            .unreadRemoved,
            "lane \(lane): the offsets \(offsets.lowerBound) to \(offsets.upperBound - 1) of \(last.removed.partition), at most \(number), "
                + "were removed before they were read; at most \(ByteText.grouped(Int(clamping: total))) on this lane since the start",
            remedy: Self.remedy, lane: lane)
    }

    static let remedy =
        "have their news published again; raise retention.ms and retention.bytes of the lane's topics, and find out who deletes records"
}
