import EditorialControl
import NewsModel
import PublishEngine

/// G9: an engine's memory is bounded by its settings, and empty after all work is done.
struct MemoryBounds: Checker {
    let promise = Promise.memoryBounds
    private var largest = 0
    private var last: [Address: EngineSnapshot] = [:]
    /// The stops that each process obeys.
    private var stops: [Address: Set<ControlScope>] = [:]
    /// The processes that know the orders in force. The others may send nothing.
    private var informed: Set<Address> = []

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        switch fact {
        case .died(let address):
            stops[address] = nil
            informed.remove(address)
        case .ordersKnown(let address, let isKnown):
            if isKnown { informed.insert(address) } else { informed.remove(address) }
        case .input(let address, .orders(let changes)):
            for change in changes {
                switch change {
                case .stands(let order): if !order.scope.isRecall { stops[address, default: []].insert(order.scope) }
                case .lifted(let scope): stops[address]?.remove(scope)
                }
            }
        case .published(let item): largest = max(largest, truth.news[item].record.byteCount)
        case .acted(let address, let snapshot):
            last[address] = snapshot
            return excess(snapshot, truth)
        case .over(let isSettled, _):
            guard isSettled else { return nil }
            for (address, snapshot) in last.sorted(by: { $0.key.process < $1.key.process })
            where truth.ownerships.contains(where: { $0.address == address && $0.end == nil }) {
                let isStopped = stops[address]?.isEmpty == false || !informed.contains(address)
                if let rest = rest(snapshot, isStopped: isStopped) {
                    return "when all was done, process \(address.process) still had \(rest)"
                }
            }
        default: break
        }
        return nil
    }

    private func excess(_ snapshot: EngineSnapshot, _ truth: GroundTruth) -> String? {
        let settings = truth.scenario.setting.engine
        let counts = snapshot.counts
        var buffered = 0
        for (lane, status) in zip(settings.lanes, snapshot.lanes) {
            buffered += status.buffered
            if status.buffered > lane.window.records {
                return "lane \(lane.name) buffers \(status.buffered) records of \(lane.window.records)"
            }
            // The last batch of a grant may exceed its bytes, because the sizes of its records are unknown before.
            let most = lane.window.bytes + truth.scenario.setting.queueBytes + largest
            if status.bufferedBytes > most {
                return "lane \(lane.name) buffers \(status.bufferedBytes) bytes of \(lane.window.bytes)"
            }
            if status.buffered < 0 || status.bufferedBytes < 0 { return "lane \(lane.name) buffers less than nothing" }
        }
        let deliveries = buffered * settings.platforms.count
        if counts.inFlight > settings.connections {
            return "\(counts.inFlight) requests for \(settings.connections) connections"
        }
        if counts.unexamined > buffered {
            return "\(counts.unexamined) records wait to be examined, \(buffered) are buffered"
        }
        if counts.stories > deliveries { return "\(counts.stories) stories for \(deliveries) deliveries" }
        let slack = 2 * deliveries + 64 * settings.lanes.count
        if counts.ready > slack { return "\(counts.ready) places in the queues for \(deliveries) deliveries" }
        if counts.delayed > slack { return "\(counts.delayed) delayed deliveries for \(deliveries) deliveries" }
        let window = settings.lanes.map(\.window.records).max() ?? 0
        let partitions = snapshot.lanes.reduce(0) { $0 + $1.partitions }
        if counts.records > 4 * window * max(partitions, 1) { return "\(counts.records) records behind the watermarks" }
        // A partition that was assigned when there were fewer partitions has more room.
        let restored = 4 * max(settings.restoredMax, 2 * partitions)
        if counts.restored > restored {
            return "\(counts.restored) records known from the ledger, \(restored) are allowed"
        }
        return nil
    }

    private func rest(_ snapshot: EngineSnapshot, isStopped: Bool) -> String? {
        let counts = snapshot.counts
        if counts.inFlight > 0 { return "\(counts.inFlight) requests under way" }
        if counts.stories > 0 { return "\(counts.stories) stories" }
        if counts.unexamined > 0 { return "\(counts.unexamined) unexamined records" }
        // While sending is halted or stopped, or the orders in force are not known, the places of ended deliveries leave the queues
        // with the next probe, or once it is resumed.
        if counts.ready > 0, snapshot.halt == nil, !isStopped { return "\(counts.ready) places in the queues" }
        if counts.records > 0 { return "\(counts.records) records" }
        if snapshot.lanes.contains(where: { $0.buffered != 0 || $0.bufferedBytes != 0 }) { return "a window in use" }
        return nil
    }
}

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
