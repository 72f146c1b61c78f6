import ByteText
import KafkaModel

/// Pseudo-random choices from the event's id. They are the same in every process and after every restart.
enum SendSample {
    /// True for the given share of all ids.
    /// - Parameter millionths: 0 to 1,000,000.
    static func contains(_ eventID: String, millionths: Int) -> Bool {
        if millionths >= TelemetrySettings.whole { return true }
        return Int(draw(eventID, salt: 0) % UInt64(TelemetrySettings.whole)) < millionths
    }

    /// A pseudo-random number for one poll of one event.
    static func draw(_ eventID: String, salt: Int) -> UInt64 {
        var print = Fingerprint()
        print.mix(eventID)
        print.mix(UInt64(truncatingIfNeeded: salt))
        var random = SeededRandom(seed: print.value)
        return random.next()
    }
}
