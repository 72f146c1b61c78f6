import EditorialControl
import NewsModel

/// What one process has of the held topic.
struct HeldClient {
    var desk = HeldDesk()
    var hasBegun = false
    /// The topic that it reads, as `GroundTruth.heldIncarnation` counts.
    var incarnation = 0
    var isLost = false
    /// By partition: where it is read on.
    var positions: [Int32: Int64] = [:]
    /// Returns that the engine has settled, and its rate, as the desk knows them, or soon will.
    var settled = 0
    var perSecond: Int?
    var counts: [String: Int] = [:]
    var isReading = false
    /// Stories reach the engine in the order in which they were read.
    var toldUntil = Instant.distantPast
    /// Wishes reach the desk in the order in which engines have them.
    var wishedUntil = Instant.distantPast
    var writtenUntil = Instant.distantPast
    var alarm: (at: Instant, serial: Int)?
    var alarms = 0
}
