public import EditorialControl
import KafkaModel
public import NewsModel

/// The events that one stop by editors holds back in this process. It helps to decide when to resume.
public struct StoppedNews: Sendable, Hashable {
    public let gate: Gate
    public private(set) var events = 0
    /// Number of events by category. An event of several categories counts in each of them.
    public private(set) var categories: [String: Int] = [:]
    /// The time at which the oldest event was written to its topic.
    public private(set) var oldest = Instant.distantFuture
    /// Number of events that are too old already. They expire instead of being sent.
    public private(set) var tooOld = 0
    /// Number of events that become too old within `soon` if they stay stopped.
    public private(set) var expiring = 0
    /// The wall clock time at which the next event becomes too old; `nil` if none does.
    public private(set) var nextExpiry: Instant?

    public static let soon = Duration.seconds(300)

    public init(_ gate: Gate) { self.gate = gate }

    /// - Parameter expiry: the wall clock time at which the event becomes too old; `nil` for never.
    package mutating func add(_ categories: [String], writtenAt: Instant, expiry: Instant?, at wall: Instant) {
        events += 1
        for category in categories { self.categories[category, default: 0] += 1 }
        oldest = min(oldest, writtenAt)
        guard let expiry else { return }
        guard expiry > wall else { return tooOld += 1 }
        if expiry - wall <= Self.soon { expiring += 1 }
        nextExpiry = min(nextExpiry ?? expiry, expiry)
    }

    /// Adds the events that another shard holds back for the same gate.
    public mutating func add(_ other: StoppedNews) {
        events += other.events
        categories.merge(other.categories, uniquingKeysWith: +)
        oldest = min(oldest, other.oldest)
        tooOld += other.tooOld
        expiring += other.expiring
        nextExpiry = [nextExpiry, other.nextExpiry].compactMap(\.self).min()
    }
}

extension Engine {
    /// Returns what each stop in force holds back. It walks through all buffered records, so call it at most once a second.
    package func stoppedNews(at moment: Moment) -> [StoppedNews] {
        if orders.standing.stopped.isEmpty { return [] }
        var found: [Gate: StoppedNews] = [:]
        for lane in lanes {
            var closed: [Gate] = orders.isHubStopped ? [.hub] : []
            if lane.isStopped { closed.append(.lane(lane.settings.name)) }
            for slot in lane.slots {
                partitions[slot].forEachWaiting { entry, content in
                    let ofContent = content.flatMap { orders.content.gate(for: $0) }
                    for gate in closed + (ofContent.map { [$0] } ?? []) {
                        found[gate, default: StoppedNews(gate)].add(
                            content?.routed?.routing?.categories ?? [], writtenAt: entry.writtenAt,
                            expiry: content?.expiry(at: moment), at: moment.wall)
                    }
                }
            }
        }
        return found.values.sorted { $0.gate.path < $1.gate.path }
    }
}

extension ExaminedRecord {
    /// The wall clock time at which the record becomes too old; `nil` for never.
    fileprivate func expiry(at moment: Moment) -> Instant? {
        let stale = staleAt < .distantFuture ? moment.wall + (staleAt - moment.steady) : .distantFuture
        return hasDeadline ? min(deadline, stale) : nil
    }
}
