import EditorialControl
import NewsModel

/// One process's client of the held topic.
struct HeldClient {
    var state = HeldState(asksHub: true)
    var hasBegun = false
    /// The incarnation of the topic that it reads, see `GroundTruth.heldIncarnation`.
    var incarnation = 0
    var isLost = false
    /// The next offset to read, by partition.
    var positions: [Int32: Int64] = [:]
    /// Number of returns settled by the engine, and its rate, as known to `HeldState` or in flight to it.
    var settled = 0
    var perSecond: Int?
    var counts: [String: Int] = [:]
    /// The content of the topic that the control state was informed about.
    var totals: HeldTotals?
    /// Number of lost events that `HeldState` has reported.
    var lost = 0
    var isReading = false
    /// True once the engine may hold events, because the topic was read.
    var isKnown = false
    /// Time of the last delivery to the engine, so that stories arrive in the order in which they were read.
    var toldUntil = Instant.distantPast
    /// Time of the last input, so that recall requests arrive in the order in which they were made.
    var wishedUntil = Instant.distantPast
    var writtenUntil = Instant.distantPast
    var alarm: (at: Instant, serial: Int)?
    var alarms = 0
}
