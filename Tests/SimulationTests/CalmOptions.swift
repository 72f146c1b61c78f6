import Simulation

extension Options {
    /// The same news without faults.
    static let calm: Options = {
        var options = Options()
        options.hubFaults = 0...0
        for chance in chances { options[keyPath: chance] = 0 }
        return options
    }()

    nonisolated(unsafe) private static let chances: [WritableKeyPath<Options, Int>] = [
        \.oneLane, \.badMinute, \.crash, \.drain, \.rebalance, \.expel, \.freeze, \.wrongClock, \.clockStep,
        \.stalledResults, \.failingCommits, \.slowLedger, \.slowHub, \.poison, \.pausedLane, \.releasedLane,
        \.impatientDriver,
        \.recreatedTopic, \.cutBackPartition, \.grownTopic, \.unavailablePartition, \.retention, \.forgottenOffsets,
        \.refusedTopic, \.smallRecords, \.orders, \.controlAway, \.slowControl, \.compactedControl, \.garbledControl,
        \.compactedHeld, \.slowHeld, \.smallHeld, \.longFreeze, \.recreatedHeld, \.truncatedHeld, \.truncatedControl,
        \.openTransaction, \.blockedLog, \.lonelyClock, \.sourceRetention,
        \.connectionFaults, \.silentNetwork, \.replacements, \.renames,
    ]
}
