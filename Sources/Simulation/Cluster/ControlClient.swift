import EditorialControl
import NewsModel

/// One process's client of the control topic.
struct ControlClient {
    var state: ControlState
    var position: Int64 = 0
    /// The start of the topic when reading began.
    var start: Int64 = 0
    /// The earliest time of the next question about removed records.
    var looksFrom = Instant.distantPast
    /// The end of the topic when reading began; `nil` before.
    var wanted: Int64?
    var hasReachedEnd = false
    /// The last reading requested by `ControlState`.
    var reading: UInt64 = 0
    var isReading = false
    /// The last report of a transaction that hides records; `nil` before.
    var isHeldUp: Bool?
    /// Time of the last delivery to the engine, so that orders arrive in the order in which they were read.
    var toldUntil = Instant.distantPast
    /// Time at which its last write reaches the broker.
    var writtenUntil = Instant.distantPast
    /// The last value told to the engine; `nil` before the first.
    var keepsRecalls: Bool?
    /// True if all writes are done after the drain.
    var isFinished = false

    init(_ settings: ControlState.Settings) { state = ControlState(settings) }
}
