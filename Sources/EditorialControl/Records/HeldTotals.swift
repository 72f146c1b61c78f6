public import NewsModel

/// The content of the held topic when a process had read it to its end.
public struct HeldTotals: Sendable, Hashable {
    /// Number of held events of all lanes.
    public var count: Int
    /// The record with the highest offset; `nil` on an empty topic. If its place is empty or has another record later, the topic was
    /// deleted or cut back.
    public var last: HeldMark?
    /// The timestamp of the record that was read; `nil` for a record that is still to be written.
    public var writtenAt: Instant?

    public init(count: Int, last: HeldMark?, writtenAt: Instant? = nil) {
        (self.count, self.last, self.writtenAt) = (count, last, writtenAt)
    }

    var json: [UInt8] {
        JSONWriter.object { json in
            json.field("count", count)
            json.field("partition", last.map { Int($0.place.partition) })
            json.field("offset", last?.place.offset)
            json.field("identity", last.map { String($0.identity, radix: 16) })
        }
    }
}

/// A record of the held topic, recognised by its content.
public struct HeldMark: Sendable, Hashable {
    public var place: HeldPlace
    public var identity: UInt64

    public init(_ place: HeldPlace, identity: UInt64) { (self.place, self.identity) = (place, identity) }
}

/// The content of the held topic, according to this process and to the control topic.
struct HeldTotalsOnTopic: Sendable {
    /// `nil` while this process does not know it.
    var ours: HeldTotals?
    private(set) var recorded: HeldTotals?
    /// True if a record that names our topic was read since the present reading of the control topic began.
    private var isNamed = false
    /// True after the action `formerlyHeld`.
    var isTold = false
    private var writtenAt: Instant?

    /// Receives a record. Groups with held topics of their own share the control topic. A record of an older version names no topic;
    /// it counts until there is one that names ours.
    mutating func read(_ totals: HeldTotals, of topic: String?, ours: String) {
        guard topic.map({ $0 == ours }) ?? !isNamed else { return }
        recorded = totals
        isNamed = topic != nil
    }

    /// Handles the beginning of a reading of the control topic.
    mutating func beginReading() { isNamed = false }

    /// Returns what to write. At most one record for each interval between beats, because every held event changes it.
    mutating func due(_ now: Moment) -> HeldTotals? {
        guard let ours, !isNamed || ours.count != recorded?.count || ours.last != recorded?.last,
            writtenAt.map({ now.steady - $0 >= ControlRecord.Beat.interval }) ?? true
        else { return nil }
        writtenAt = now.steady
        return ours
    }
}
