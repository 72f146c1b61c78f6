import EditorialControl
import NewsModel

/// What one process has of the control topic.
struct ControlClient {
    var desk: ControlDesk
    var position: Int64 = 0
    /// Its end as it was when reading began; `nil` before.
    var wanted: Int64?
    var hasReachedEnd = false
    /// The last reading that the desk has asked for.
    var reading: UInt64 = 0
    var isReading = false
    /// The desk was told that a transaction hides records.
    var isHeldUp = false
    /// Orders reach the engine in the order in which they were read.
    var toldUntil = Instant.distantPast
    /// When its last write reaches the broker.
    var writtenUntil = Instant.distantPast
    /// The last word to the engine; `nil` before there was one.
    var keepsRecalls: Bool?
    /// It has written what it had to, after the drain.
    var isFinished = false

    init(_ settings: ControlDesk.Settings) { desk = ControlDesk(settings) }
}
