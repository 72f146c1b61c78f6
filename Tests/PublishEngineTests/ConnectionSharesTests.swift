import ByteText
import PublishEngine
import Testing

@Suite struct ConnectionSharesTests {
    /// Lets shards report regularly, and when they are asked to, until no share changes any more.
    private func settle(_ shares: inout ConnectionShares, _ needs: [ConnectionNeed]) -> [Int] {
        var due = Array(needs.indices) + Array(needs.indices) + Array(needs.indices)
        var reports = 0
        while let next = due.popLast(), reports < 100 {
            reports += 1
            due += shares.report(next, needs[next])
        }
        #expect(reports < 100, "the shards do not stop asking each other")
        return needs.indices.map { shares.share(of: $0) }
    }

    private func need(_ partitions: Int, inFlight: Int = 0, urgent: Int = 0, others: Int = 0) -> ConnectionNeed {
        ConnectionNeed(partitions: partitions, inFlight: inFlight, urgent: urgent, others: others)
    }

    @Test func `idle shards have shares by their partitions`() {
        var shares = ConnectionShares(most: 8, shards: 3)
        #expect(settle(&shares, [need(3), need(1), need(0)]) == [6, 2, 0])
    }

    @Test func `the only shard with partitions has all`() {
        var shares = ConnectionShares(most: 8, shards: 4)
        #expect(settle(&shares, [need(0), need(1), need(0), need(0)]) == [0, 8, 0, 0])
    }

    @Test func `a shard with work gets what others leave idle`() {
        var shares = ConnectionShares(most: 8, shards: 2)
        #expect(settle(&shares, [need(1, inFlight: 2, others: 50), need(7)]) == [8, 0])
    }

    @Test func `a shard that has just sent keeps its share`() {
        var shares = ConnectionShares(most: 8, shards: 2)
        let between = ConnectionNeed(partitions: 1, recent: 4)
        #expect(settle(&shares, [need(1, others: 50), between]) == [4, 4])
    }

    @Test func `work on both shards is divided by their partitions`() {
        var shares = ConnectionShares(most: 8, shards: 2)
        #expect(settle(&shares, [need(1, others: 50), need(3, others: 50)]) == [2, 6])
    }

    @Test func `urgent requests come first`() {
        var shares = ConnectionShares(most: 8, shards: 2)
        #expect(settle(&shares, [need(1, urgent: 5), need(7, others: 50)]) == [5, 3])
    }

    @Test func `a backlog on many partitions leaves one connection to a shard with few`() {
        var shares = ConnectionShares(most: 8, shards: 2)
        #expect(settle(&shares, [need(1, others: 50), need(100, others: 50)]) == [1, 7])
    }

    @Test func `an alert takes the next free connection of a shard with a backlog`() {
        var shares = ConnectionShares(most: 8, shards: 2)
        #expect(settle(&shares, [need(1, inFlight: 2, urgent: 2), need(3, inFlight: 6, others: 50)]) == [2, 4])
        #expect(settle(&shares, [need(1, inFlight: 2, urgent: 2), need(3, inFlight: 5, others: 50)]) == [3, 4])
        #expect(settle(&shares, [need(1, inFlight: 3, urgent: 1), need(3, inFlight: 4, others: 50)]) == [4, 4])
    }

    @Test func `a connection in use is given once it is free`() {
        var shares = ConnectionShares(most: 8, shards: 2)
        let idle = settle(&shares, [need(1), need(1)])
        #expect(idle == [4, 4])
        #expect(settle(&shares, [need(1), need(7, inFlight: 4, others: 4)]) == [0, 8])
        // An alert comes while all connections wait for replies of the other shard.
        #expect(settle(&shares, [need(1, urgent: 1), need(7, inFlight: 8)]) == [0, 7])
        #expect(settle(&shares, [need(1, urgent: 1), need(7, inFlight: 7)]) == [1, 7])
    }

    @Test func `with fewer connections than shards, each has one`() {
        var shares = ConnectionShares(most: 2, shards: 3)
        #expect(settle(&shares, [need(1, others: 9), need(1, others: 9), need(1, others: 9)]) == [1, 1, 1])
    }

    /// Shards send up to their share, and replies come, in any order.
    @Test(arguments: 0..<100 as Range<UInt64>)
    func `there are never more requests in flight than the limit`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let most = Int.random(in: 4...20, using: &random)
        var shares = ConnectionShares(most: most, shards: 4)
        var needs = (0..<4).map { _ in need(0) }
        // Each shard acts by the share of its last report.
        var known = (0..<4).map { shares.share(of: $0) }
        for _ in 0..<2_000 {
            let shard = Int.random(in: 0..<4, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: needs[shard].partitions = Int.random(in: 0...5, using: &random)
            case 1: needs[shard].others = Int.random(in: 0...30, using: &random)
            case 2: needs[shard].urgent = Int.random(in: 0...3, using: &random)
            case 3: needs[shard].inFlight = Int.random(in: 0...needs[shard].inFlight, using: &random)
            default: if needs[shard].partitions > 0 { needs[shard].inFlight = max(needs[shard].inFlight, known[shard]) }
            }
            if Bool.random(using: &random) {
                _ = shares.report(shard, needs[shard])
                known[shard] = shares.share(of: shard)
            }
            #expect(needs.reduce(0) { $0 + $1.inFlight } <= most)
        }
    }
}
