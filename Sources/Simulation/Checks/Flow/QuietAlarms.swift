import NewsModel
import PublishEngine

/// An engine never asks to be woken in the past, nor repeatedly without need.
struct QuietAlarms: Checker {
    let promise = Promise.quietAlarms
    /// Number of successive alarms without an action or a change, and the time of the first.
    private var idle: [Address: (count: Int, since: Instant)] = [:]
    private var last: [Address: EngineCounts] = [:]
    private static let most = 20

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        guard case .acted(let address, let snapshot) = fact else { return nil }
        if let wakeAt = snapshot.wakeAt, wakeAt <= snapshot.now {
            return "process \(address.process) asks to be woken at once"
        }
        let hasChanged = last.updateValue(snapshot.counts, forKey: address) != snapshot.counts
        guard snapshot.isAlarm, snapshot.actions == 0, !hasChanged else {
            idle[address] = nil
            return nil
        }
        var row = idle[address] ?? (0, snapshot.now)
        if snapshot.now - row.since > .seconds(1) { row = (0, snapshot.now) }
        row.count += 1
        idle[address] = row
        return row.count > Self.most
            ? "process \(address.process) was woken \(row.count) times in a second for nothing" : nil
    }
}
