import Simulation
import Testing

/// Seeds that once failed, and what they found.
@Test(
    arguments: [
        (11, "a lost revoke left a commit due that nobody would send"),
        (12, "overdrawn bytes of a grant were forgotten"),
        (51, "expired, although an unanswered request may have been accepted"),
        (64, "places in the queues outlived their deliveries"),
        (75, "a paused lane forgot what the ledger knew"),
        (789, "partitions of an older generation were committed in a new one"),
        (2172, "a probe without a free connection"),
        (13154, "a frozen process heard things in another order"),
        (31026, "a commit that failed during a revoke counted as done"),
    ] as [(UInt64, String)])
func `seeds that once failed keep every promise`(_ seed: UInt64, _ found: String) throws {
    let report = try Campaign.live(Life(seed: seed)).get()
    #expect(report.records > 0)
}

@Test(arguments: [0, 100, 200, 300] as [UInt64])
func `lives keep every promise`(_ first: UInt64) throws {
    for seed in first..<first + 50 { _ = try Campaign.live(Life(seed: 1_000_000 + seed)).get() }
}

@Test
func `calm lives repeat nothing`() throws {
    var sum = LifeReport()
    for seed in 1...50 as ClosedRange<UInt64> {
        sum = sum + (try Campaign.live(Life(seed: seed, options: .calm)).get())
    }
    #expect(sum.repeats == 0)
    #expect(sum.results >= sum.records)
}

@Test
func `a life is the same every time`() throws {
    for seed in 1...20 as ClosedRange<UInt64> {
        #expect(try Campaign.live(Life(seed: seed)).get() == Campaign.live(Life(seed: seed)).get())
    }
}

@Test
func `a failing life is shrunk to what matters`() throws {
    func violation(in life: Life) -> Violation? {
        do {
            var world = try World(life, promises: [.quietAlarms], interference: Spins())
            _ = try world.run()
            return nil
        } catch {
            return error as? Violation
        }
    }
    let life = Life(seed: 7)
    let found = try #require(violation(in: life))
    var shrinker = Shrinker(promise: found.promise, fails: violation)
    let shrunk = shrinker.shrink(life)
    #expect(shrunk.faults.isEmpty)
    #expect(shrunk.news.isEmpty)
    #expect(Failure(seed: 7, violation: found, shrunk: shrunk).description.contains("newswire simulate --seed 7"))
}
