import Simulation
import Testing

/// For each promise, a bug that breaks it is planted between engine and world, and must be seen.
struct PlantedBug: Sendable, CustomTestStringConvertible {
    var name: String
    var promise: Promise
    var make: @Sendable () -> any Interference
    var options = Options()

    var testDescription: String { name }

    static let all: [PlantedBug] = [
        PlantedBug(name: "a commit one early", promise: .commitsBehindResults) { CommitsOneEarly() },
        PlantedBug(name: "a dropped result", promise: .nothingLost) { DropsAResult() },
        PlantedBug(name: "a result written twice", promise: .oneResult) { WritesResultsTwice() },
        PlantedBug(name: "an ignored generation", promise: .commitsForward) { IgnoresGenerations() },
        PlantedBug(name: "a ledger that forgets", promise: .ledgerReach) { MovesTheLedgerTooFar() },
        PlantedBug(name: "a leaked token", promise: .rateLaw) { LeaksTokens() },
        PlantedBug(name: "a request sent twice", promise: .repeats) { LeaksTokens() },
        PlantedBug(name: "a story out of order", promise: .storyOrder) { ReordersAStory() },
        PlantedBug(name: "a window that grows", promise: .memoryBounds) { GrowsTheWindow() },
        PlantedBug(name: "a release at once", promise: .drainFirst) { ReleasesAtOnce() },
        PlantedBug(name: "an outcome that is a wish", promise: .truthfulOutcomes) { ReportsWishes() },
        PlantedBug(name: "a refused key blamed on the event", promise: .haltKeepsEvents) { BlamesTheEvent() },
        PlantedBug(name: "a partition never read", promise: .liveness) { NeverResumes() },
        PlantedBug(name: "an alarm that spins", promise: .quietAlarms) { Spins() },
        PlantedBug(name: "a duplicate not recognised", promise: .duplicateWindow) { ForgetsDuplicates() },
    ]
}

@Test(arguments: PlantedBug.all)
func `each checker catches the bug it is for`(_ bug: PlantedBug) throws {
    var caught: Violation?
    for seed in 1...60 as ClosedRange<UInt64> where caught == nil {
        var world = try World(
            Life(seed: seed, options: bug.options), promises: [bug.promise], interference: bug.make())
        do {
            _ = try world.run()
        } catch {
            caught = error
        }
    }
    #expect(caught?.promise == bug.promise)
}

@Test
func `every promise has a planted bug`() {
    #expect(Set(PlantedBug.all.map(\.promise)) == Set(Promise.allCases))
}
