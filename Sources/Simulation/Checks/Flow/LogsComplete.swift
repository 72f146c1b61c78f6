/// A line that is not in the log is in the number of lost lines that the log reports, and the queue is bounded.
struct LogsComplete: Checker {
    let promise = Promise.logs

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        guard case .logged(let address, let log) = fact else { return nil }
        if log.largestBytes > SimulatedLog.bytesMax {
            return "process \(address.process) keeps \(log.largestBytes) bytes of log lines"
        }
        let missing = log.offered - log.written - log.reported
        return missing == 0 ? nil : "\(missing) lines of process \(address.process) are neither in its log nor reported"
    }
}
