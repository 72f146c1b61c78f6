import Simulation
import Testing

/// Seeds that once failed, with their findings.
@Test(
    arguments: [
        (17, "a recall was read in a paused lane"),
        (29, "an outdated version stayed in the duplicate window"),
        (54, "an embargo was not looked at again when the clock was set right"),
        (93, "a lane stopped by a flood kept a halted hub from being probed"),
        (170, "a later version's result was stored before the dead letter of an earlier one"),
        (32, "a topic was created again between the group's offset and the ledger: its first record was lost"),
        (103, "a refusal after an unanswered attempt is unknown, however few the attempts"),
        (207, "an anchor fell into a gap of the new incarnation"),
        (1289, "a record that was read past in another incarnation left late"),
        (3930, "a clock was set right again before its process looked"),
        (4490, "clock steps crossed each other"),
        (7500, "a partition was cut back twice, and committed past the first cut"),
        (8534, "a watermark was committed past a cut that its owner had not noticed"),
        (9250, "a partition was created again while it was empty behind gaps"),
        (12585, "a redriven copy was accepted and forgotten, because the original had failed"),
        (13260, "a partition that was taken away left its places in a halted queue"),
        (16180, "a process that started while a topic was away took too large a share of the rate"),
        (17761, "a watermark without its note, as the first record was not confirmed yet"),
        (23396, "an embargo of a later record held a window of one"),
        (57848, "an owner that had lost a partition counted as one that finishes what it reads"),
        (104_801, "a former owner read a record late that its successor had read past in another incarnation"),
        (112_386, "a record that one reader skipped was read by the next, and ended after the life"),
        (4, "a new owner that had read the held topic late put back what its predecessor had erased"),
        (33, "an older version came back from the held topic after a restart, and followed a newer one"),
        (1_000_077, "a wish for an older version met a newer one on the held topic, and nothing was sent"),
        (1_000_710, "a record that was read again called its held copy back, and was never sent itself"),
    ] as [(UInt64, String)])
func `seeds that once failed keep every promise`(_ seed: UInt64, _ found: String) throws {
    let report = try Campaign.live(Scenario(seed: seed)).get()
    #expect(report.records > 0)
}

/// A thousand lives, enough for the rarest; a fault that never strikes proves nothing.
@Test
func `lives keep every promise under every fault`() async throws {
    let result = try await Campaign(firstSeed: 1_000_000, lives: 1_000, workers: 2).run { _ in }
    for failure in result.failures { Issue.record("\(failure)") }
    #expect(result.report.neverSeen == [])
}

@Test
func `calm lives repeat nothing`() throws {
    var sum = LifeReport()
    for seed in 1...50 as ClosedRange<UInt64> {
        sum = sum + (try Campaign.live(Scenario(seed: seed, options: .calm)).get())
    }
    #expect(sum.repeats == 0)
    #expect(sum.results >= sum.records)
}

@Test
func `a life is the same every time`() {
    for seed in 1...20 as ClosedRange<UInt64> {
        #expect(Campaign.live(Scenario(seed: seed)) == Campaign.live(Scenario(seed: seed)))
    }
}

@Test
func `a failing life is shrunk to what matters`() throws {
    func violation(in scenario: Scenario) -> Violation? {
        do {
            var cluster = try SimulatedCluster(scenario, promises: [.quietAlarms], interference: Spins())
            _ = try cluster.run()
            return nil
        } catch {
            return error as? Violation
        }
    }
    let scenario = Scenario(seed: 7)
    let found = try #require(violation(in: scenario))
    var shrinker = Shrinker(promise: found.promise, fails: violation)
    let shrunk = shrinker.shrink(scenario)
    #expect(shrunk.faults.isEmpty)
    #expect(shrunk.news.isEmpty)
    #expect(Failure(seed: 7, violation: found, shrunk: shrunk).description.contains("newswire simulate --seed 7"))
}
