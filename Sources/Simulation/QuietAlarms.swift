import NewsModel
import PublishEngine

/// An engine never asks to be woken in the past, nor again and again for nothing.
struct QuietAlarms: Checker {
    let promise = Promise.quietAlarms
    /// Alarms in a row without anything done or changed, and since when.
    private var idle: [Address: (count: Int, since: Instant)] = [:]
    private var last: [Address: Census] = [:]
    private static let most = 20

    mutating func see(_ fact: Fact, _ books: Books) -> String? {
        guard case .acted(let address, let moment) = fact else { return nil }
        if let wakeAt = moment.wakeAt, wakeAt <= moment.now {
            return "process \(address.process) asks to be woken at once"
        }
        let hasChanged = last.updateValue(moment.census, forKey: address) != moment.census
        guard case .alarm = moment.input, moment.actions == 0, !hasChanged else {
            idle[address] = nil
            return nil
        }
        var row = idle[address] ?? (0, moment.now)
        if moment.now - row.since > .seconds(1) { row = (0, moment.now) }
        row.count += 1
        idle[address] = row
        return row.count > Self.most
            ? "process \(address.process) was woken \(row.count) times in a second for nothing" : nil
    }
}
