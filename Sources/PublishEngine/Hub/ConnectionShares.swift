/// Divides a process's limit of requests in flight among its shards. A shard without work lends its share to others.
///
/// Each shard may have as many requests in flight as its share says. It reports what it needs, and only its own report
/// changes its share, so the sum never exceeds the limit. If a share shrinks below the shard's requests in flight, these
/// requests count until the shard reports that they have ended. Only if more shards have work than the limit allows, each
/// of them still gets one, so that the sum exceeds the limit.
package struct ConnectionShares: Sendable {
    private let most: Int
    private var needs: [ConnectionNeed]
    /// The present share of each shard.
    private var shares: [Int]

    /// - Parameters:
    ///   - most: the limit.
    ///   - shards: at least 1.
    package init(most: Int, shards: Int) {
        self.most = most
        needs = Array(repeating: ConnectionNeed(), count: shards)
        shares = Array(repeating: max(1, most / max(shards, 1)), count: shards)
    }

    package func share(of shard: Int) -> Int { shares[shard] }

    /// Applies a shard's report to its share.
    ///
    /// - Returns: other shards that should report now: those that have what this one needs, or need what it gives. The
    ///   others learn of a better share with their next regular report.
    package mutating func report(_ shard: Int, _ need: ConnectionNeed) -> [Int] {
        needs[shard] = need
        let targets = targets
        let used = shares.indices.reduce(0) { $0 + ($1 == shard ? 0 : max(shares[$1], needs[$1].inFlight)) }
        let room = most - used
        let least = isScarce && need.hasWork ? 1 : 0
        shares[shard] = max(min(targets[shard], room), least)
        let isShort = shares[shard] < targets[shard] && need.isWaiting
        let hasRoom = room > max(shares[shard], need.inFlight)
        return shares.indices.filter { other in
            guard other != shard else { return false }
            if targets[other] < shares[other] { return isShort }
            return targets[other] > shares[other] && needs[other].isWaiting && (hasRoom || shares[other] == 0)
        }
    }

    /// True if there is not one for each shard with work.
    private var isScarce: Bool { needs.count { $0.hasWork } > most }

    /// The shares that the needs call for. Each shard with work gets one. Urgent requests come next, then other requests.
    /// What is left is divided by partitions.
    private var targets: [Int] {
        var targets = needs.map { $0.hasWork ? 1 : 0 }
        var left = most - targets.reduce(0, +)
        for wanted in [needs.map(\.wantedByUrgent), needs.map(\.wanted)] {
            let missing = zip(wanted, targets).map { max(0, $0 - $1) }
            left -= Self.give(left, to: &targets, atMost: missing, by: needs)
        }
        _ = Self.give(left, to: &targets, atMost: needs.map { $0.partitions > 0 ? .max : 0 }, by: needs)
        return targets
    }

    /// Distributes `count` in proportion to the partitions, at most `missing` to each shard.
    ///
    /// - Returns: the number distributed.
    private static func give(
        _ count: Int, to targets: inout [Int], atMost missing: [Int], by needs: [ConnectionNeed]
    ) -> Int {
        var missing = missing
        var left = count
        while left > 0 {
            let open = missing.indices.filter { missing[$0] > 0 && needs[$0].partitions > 0 }
            guard let largest = open.max(by: { needs[$0].partitions < needs[$1].partitions }) else { break }
            let weight = open.reduce(0) { $0 + needs[$1].partitions }
            let round = left
            for shard in open {
                let part = min(round * needs[shard].partitions / weight, missing[shard])
                targets[shard] += part
                missing[shard] -= part
                left -= part
            }
            if left == round {
                targets[largest] += 1
                missing[largest] -= 1
                left -= 1
            }
        }
        return count - left
    }
}

/// The report of one shard: the requests that it has in flight, and those that wait for a connection.
package struct ConnectionNeed: Sendable, Hashable {
    /// Number of partitions that it owns.
    package var partitions: Int
    package var inFlight: Int
    /// The most requests in flight in the last moments. A shard that sends keeps its share between two batches of records,
    /// because taking it back would leave connections idle.
    package var recent: Int
    /// Requests of the most urgent lane, and of all others, that wait only for a connection.
    package var urgent: Int
    package var others: Int

    package init(partitions: Int = 0, inFlight: Int = 0, recent: Int = 0, urgent: Int = 0, others: Int = 0) {
        self.partitions = partitions
        self.inFlight = inFlight
        self.recent = recent
        self.urgent = urgent
        self.others = others
    }

    /// The connections with which its urgent requests could leave at once.
    fileprivate var wantedByUrgent: Int { urgent > 0 ? inFlight + urgent : 0 }
    fileprivate var wanted: Int { max(recent, inFlight + urgent + others) }
    fileprivate var isWaiting: Bool { urgent + others > 0 }
    fileprivate var hasWork: Bool { partitions > 0 && wanted > 0 }
}
