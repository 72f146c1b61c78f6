import Simulation
import Testing

/// A bug that breaks one promise. It is planted between engine and cluster, and must be caught.
struct PlantedBug: Sendable, CustomTestStringConvertible {
    var name: String
    var promise: Promise
    var options = Options()
    var make: @Sendable () -> any Interference

    var testDescription: String { name }

    static let all: [PlantedBug] = [
        PlantedBug(name: "a commit one early", promise: .commitsBehindResults) { CommitsOneEarly() },
        PlantedBug(name: "a dropped result", promise: .nothingLost) { DropsAResult() },
        PlantedBug(name: "a dropped dead letter", promise: .deadLettersFirst) { ForgetsDeadLetters() },
        PlantedBug(name: "a result written twice", promise: .oneResult) { WritesResultsTwice() },
        PlantedBug(name: "an ignored generation", promise: .commitsForward) { IgnoresGenerations() },
        PlantedBug(name: "a ledger that forgets", promise: .ledgerReach) { MovesTheLedgerTooFar() },
        PlantedBug(name: "a leaked token", promise: .rateLaw) { LeaksTokens() },
        PlantedBug(name: "a request sent twice", promise: .repeats) { LeaksTokens() },
        PlantedBug(name: "the same readers in every send", promise: .repeats) { SendsToTheFirst() },
        PlantedBug(name: "a forgotten progress", promise: .repeats, options: .rebalanced) { ForgetsProgress() },
        PlantedBug(name: "a progress that is not committed", promise: .repeats) { CommitsNoProgress() },
        PlantedBug(name: "readers of a later send left out", promise: .truthfulOutcomes) { SendsOnce() },
        PlantedBug(
            name: "GOAWAY taken for a refusal of all requests", promise: .oneProcessing, options: .endedConnections
        ) { RepeatsAfterGoAway() },
        PlantedBug(name: "a pool that is too wide", promise: .requestsBounded) { WidensThePool() },
        PlantedBug(name: "an endless wait for a connection", promise: .promptWrites, options: .troubledConnections) {
            WaitsForConnections()
        },
        PlantedBug(name: "a story out of order", promise: .storyOrder) { ReordersAStory() },
        PlantedBug(name: "a window that grows", promise: .memoryBounds) { GrowsTheWindow() },
        PlantedBug(name: "a release at once", promise: .drainFirst) { ReleasesAtOnce() },
        PlantedBug(name: "an outcome that is a wish", promise: .truthfulOutcomes) { ReportsWishes() },
        PlantedBug(name: "an outcome that is a guess", promise: .truthfulOutcomes) { ReportsGuesses() },
        PlantedBug(name: "a refused key blamed on the event", promise: .haltKeepsEvents) { BlamesTheEvent() },
        PlantedBug(name: "a partition never read", promise: .liveness) { NeverResumes() },
        PlantedBug(name: "an alarm that spins", promise: .quietAlarms) { Spins() },
        PlantedBug(name: "a duplicate not recognized", promise: .duplicateWindow) { ForgetsDuplicates() },
        PlantedBug(name: "a redriven record not recognized", promise: .secondTry) { ForgetsRedrives() },
        PlantedBug(name: "a delivery repeated twice", promise: .duplicateWindow) { ForgetsWhatIsRepeated() },
        PlantedBug(name: "an ignored recall", promise: .recalls) { IgnoresRecalls() },
        PlantedBug(name: "recalls that are only said to be applied", promise: .recallsEverywhere, options: .ordered) {
            IgnoresOrders.recalls
        },
        PlantedBug(name: "a recall that nobody answers", promise: .recallsEverywhere, options: .ordered) {
            KeepsQuietAboutOrders()
        },
        PlantedBug(name: "stops that are only said to be applied", promise: .stops, options: .ordered) {
            IgnoresOrders.stops
        },
        PlantedBug(name: "a standstill that nobody notices", promise: .recallsEverywhere, options: .frozen) {
            IgnoresStandstills()
        },
        PlantedBug(name: "a recall that never was", promise: .recallsReported) { InventsRecalls() },
        PlantedBug(name: "a recall that counts no requests", promise: .recallsCounted, options: .ordered) {
            CountsNoRequests()
        },
        PlantedBug(name: "a replacement for every platform", promise: .replacements, options: .replaced) {
            ForgetsPlatforms()
        },
        PlantedBug(name: "a replacement taken for news", promise: .replacements, options: .replaced) {
            ForgetsReplacements()
        },
        PlantedBug(name: "a stop that ends with its category's name", promise: .stops, options: .renamed) {
            ForgetsRenamedStops()
        },
        PlantedBug(name: "a start without orders", promise: .ordersFirst, options: .ordered) { WaitsForNoOrders() },
        PlantedBug(name: "a held event that is lost", promise: .heldComesBack, options: .held) { LosesHeldEvents() },
        PlantedBug(name: "a held event that is early", promise: .heldInTime, options: .held) { HoldsTooShort() },
        PlantedBug(name: "versions not recognized", promise: .newestVersion) { ForgetsVersions() },
        PlantedBug(name: "an hour too many", promise: .quietHours, options: .quiet) { MistakesTheHour() },
        PlantedBug(name: "a clock read once", promise: .wallClock, options: .oneWrongClock) { ReadsTheClockOnce() },
        PlantedBug(name: "a busy hub taken for an unanswered request", promise: .persistence, options: .troubledHub) {
            DoubtsRefusals()
        },
        PlantedBug(name: "a lane held by another", promise: .laneIndependence, options: .alwaysOneLane) {
            HoldsTheFirstLane()
        },
        PlantedBug(name: "a status without reasons", promise: .waitsExplained) { KeepsSilent() },
        PlantedBug(name: "lost lines that the log does not report", promise: .logs) { HidesLostLines() },
        PlantedBug(
            name: "removed records that nobody reports", promise: .removalsReported, options: .impatientRetention
        ) { HidesRemovals() },
    ]
}

extension Options {
    fileprivate static let quiet: Options = {
        var options = held
        options.quietHours = 100
        return options
    }()

    fileprivate static let held: Options = {
        var options = Options()
        options.heldTopic = 100
        return options
    }()

    fileprivate static let troubledHub: Options = {
        var options = Options()
        options.hubFaults = 10...10
        return options
    }()

    fileprivate static let troubledConnections: Options = {
        var options = Options()
        options.connectionFaults = 100
        options.silentNetwork = 100
        return options
    }()

    /// Many requests await an answer when a connection ends.
    fileprivate static let endedConnections: Options = {
        var options = Options.calm
        options.connectionFaults = 100
        options.slowHub = 100
        (options.records, options.seconds) = (120...120, 5...6)
        return options
    }()

    fileprivate static let ordered: Options = {
        var options = Options()
        options.controlTopic = 100
        options.orders = 100
        return options
    }()

    fileprivate static let replaced: Options = {
        var options = Options()
        (options.controlTopic, options.replacements) = (100, 100)
        return options
    }()

    fileprivate static let renamed: Options = {
        var options = Options()
        (options.controlTopic, options.renames) = (100, 100)
        return options
    }()

    fileprivate static let rebalanced: Options = {
        var options = Options()
        (options.rebalance, options.slowHub) = (100, 100)
        return options
    }()

    fileprivate static let frozen: Options = {
        var options = ordered
        options.longFreeze = 100
        return options
    }()

    fileprivate static let oneWrongClock: Options = {
        var options = Options.calm
        options.processes = 1...1
        options.wrongClock = 100
        options.clockStep = 100
        return options
    }()

    /// Paused lanes leave records unread until retention removes them.
    fileprivate static let impatientRetention: Options = {
        var options = Options.calm
        options.sourceRetention = 100
        options.pausedLane = 100
        options.slowHub = 100
        options.rebalance = 100
        return options
    }()

    fileprivate static let alwaysOneLane: Options = {
        var options = Options()
        options.oneLane = 100
        return options
    }()
}

@Test(arguments: PlantedBug.all)
func `each checker catches its planted bug`(_ bug: PlantedBug) throws {
    var caught: Violation?
    for seed in 1...2_000 as ClosedRange<UInt64> where caught == nil {
        var cluster = try SimulatedCluster(
            Scenario(seed: seed, options: bug.options), promises: [bug.promise], interference: bug.make())
        do {
            _ = try cluster.run()
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
