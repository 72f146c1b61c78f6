import ByteText
import EditorialControl
public import NewsModel
import NotificationHub
public import PublishEngine

/// One life: engines, broker and hub share one agenda. Every random choice is drawn from the life's seed, and every promise is
/// checked at every step.
///
/// The consumer, ledger reader and producer decide with the same values of `KafkaModel` as the service. The cluster simulates
/// their surroundings: the broker, the client library, the threads and their delays.
public struct SimulatedCluster {
    let scenario: Scenario
    var agenda = TimerHeap<Occurrence>()
    var truth: GroundTruth
    var processes: [SimulatedProcess]
    var groups: [ConsumerGroup]
    /// The partition counts that clients see, slightly outdated.
    var announcedCounts: [String: Int]
    var random: SeededRandom
    var activeFaults: [Int] = []
    /// Number of connections that were opened, and of requests that were written.
    var opened = 0
    var writes = 0
    /// The numbers of the connections from which the hub reads no more.
    var finished: Set<Int> = []
    /// Time until which a dead process's writes still reach the broker.
    var writesInTransit: [Address: Instant] = [:]
    var report = LifeReport()
    private(set) var rules: ContentRules
    private let decoder = NewsDecoder()
    private var checkers: [any Checker]
    var interference: (any Interference)?
    private var violation: Violation?
    private var actions: [Action] = []
    /// The offset at which a transaction on the control topic was opened, by fault.
    var transactions: [Int: Int64] = [:]
    /// Faults that took effect.
    private var struck: Set<Int> = []
    private var settledAt: Instant?
    /// Editors' orders that are on the broker, by number.
    var ordersGiven: Set<Int> = []
    /// The ids of the orders that an editor has lifted.
    var ordersLifted: Set<String> = []
    /// Called with a line for every step.
    public var trace: ((String) -> Void)?

    /// - Parameters:
    ///   - promises: the promises to check.
    ///   - interference: a planted bug, for tests of the checkers.
    public init(
        _ scenario: Scenario, promises: [Promise] = Promise.allCases, interference: (any Interference)? = nil
    ) throws(PayloadProblems) {
        self.scenario = scenario
        self.interference = interference
        truth = GroundTruth(scenario: scenario)
        processes = (0..<scenario.setting.processes).map { _ in SimulatedProcess() }
        groups = Array(repeating: ConsumerGroup(), count: scenario.setting.lanes.count)
        announcedCounts = scenario.setting.partitions
        random = SeededRandom(seed: scenario.seed, 4)
        rules = try Self.rules(scenario.setting, .standard)
        checkers = promises.map(\.checker)
    }

    private static func rules(_ setting: Setting, _ table: CategoryTable) throws(PayloadProblems) -> ContentRules {
        let platforms = setting.engine.platforms
        return try ContentRules(
            table: table,
            payload: PayloadSettings(mode: platforms == [.template] ? .template : .native(platforms)),
            policy: ContentPolicy(
                quietHours: setting.quiet.map { [$0] } ?? [], interests: InterestTable([.init(name: "team")])))
    }

    /// Every running process reloads its settings. A process that starts later reads the new ones.
    mutating func rename(_ rename: CategoryRename) {
        guard let table = rename.table, let rules = try? Self.rules(setting, table) else { return }
        self.rules = rules
        strike(.renamed)
        for index in processes.indices where processes[index].engine != nil {
            let reload = Reload(rate: setting.engine.rate, rules: rules, floodGuard: setting.engine.floodGuard)
            let address = Address(process: index, run: processes[index].run)
            agenda.add(.input(address, .reload(reload), items: []), at: now)
        }
    }

    public var now: Instant { truth.now }
    var setting: Setting { scenario.setting }

    public mutating func run() throws(Violation) -> LifeReport {
        for (index, news) in truth.news.enumerated() {
            agenda.add(.publish(item: index), at: Scenario.start + news.at)
        }
        for (index, fault) in scenario.faults.enumerated() {
            agenda.add(.begins(fault: index), at: Scenario.start + fault.at)
        }
        for (index, order) in scenario.orders.enumerated() where order.renews == nil {
            agenda.add(.giveOrder(index, isLift: false), at: Scenario.start + order.at)
            if let lasts = order.lasts {
                agenda.add(.giveOrder(index, isLift: true), at: Scenario.start + order.at + lasts)
            }
        }
        if let rename = setting.rename { agenda.add(.rename(rename), at: Scenario.start + rename.at) }
        for process in processes.indices {
            agenda.add(.start(process: process), at: Scenario.start + random.milliseconds(0...2_000))
        }
        agenda.add(.calm, at: scenario.calmAt)
        while violation == nil, let at = agenda.next, let occurrence = agenda.take(at: at) {
            truth.now = max(truth.now, at)
            if let settledAt, at > settledAt + .seconds(30) {
                if isSettled { break }
                reopen()
            }
            if at > scenario.calmAt + scenario.options.patience { break }
            guard isStillMeant(occurrence) else { continue }
            trace?("\((now - Scenario.start).short) \(occurrence)")
            happen(occurrence)
        }
        finishLogs()
        record(.over(isSettled: settledAt != nil, held: processes.compactMap(\.held?.state.count).max() ?? 0))
        if let violation { throw violation }
        report.records = truth.news.count
        report.hidden = truth.places.count { $0?.isHidden == true }
        report.simulated = now - Scenario.start
        return report
    }

    /// Returns true if the occurrence happens now. One of an earlier run never happens; a frozen process handles its own later.
    mutating func isStillMeant(_ occurrence: Occurrence) -> Bool {
        guard let place = occurrence.place else { return true }
        let process = processes[place.process]
        guard process.run == place.run, process.engine != nil else { return false }
        guard process.frozenUntil > now else { return true }
        processes[place.process].missed.append(occurrence)
        return false
    }

    /// Records the time at which everything has its result and the groups have committed all of it.
    mutating func review() {
        guard settledAt == nil else { return }
        if isSettled { settledAt = now } else { agenda.add(.review, at: now + .milliseconds(500)) }
    }

    /// Continues a settled life after something became due.
    mutating func reopen() {
        guard settledAt != nil else { return }
        settledAt = nil
        agenda.add(.review, at: now)
    }

    private var isSettled: Bool {
        guard truth.places.allSatisfy({ $0 != nil }) else { return false }
        for item in truth.news.indices where truth.isDue(item) && !truth.isSettled(item) { return false }
        for (partition, log) in truth.sources where !truth.isCommitted(partition, to: log) { return false }
        // A process may read again what others have settled and committed.
        guard processes.allSatisfy({ $0.engine?.counts.unexamined ?? 0 == 0 }) else { return false }
        return isNothingHeld
    }

    /// Passes a fact to the checkers. The first broken promise ends the life.
    mutating func record(_ fact: Fact) {
        trace?("    \(fact)")
        for index in checkers.indices where violation == nil {
            guard let sentence = checkers[index].check(fact, truth) else { continue }
            violation = Violation(promise: checkers[index].promise, sentence: sentence, at: now - Scenario.start)
        }
    }

    /// Records that a fault took effect. Each fault counts once.
    mutating func strike(_ fault: Int, _ name: FaultName) {
        if struck.insert(fault).inserted { report.struck[name, default: 0] += 1 }
    }

    mutating func strike(_ name: FaultName) { report.struck[name, default: 0] += 1 }

    // MARK: Engines

    mutating func makeEngine(process: Int, run: Int) -> Engine {
        var seeds = SeededRandom(seed: scenario.seed, 5, process, run)
        var settings = setting.engine
        // The process holds nothing before it has read the held topic.
        settings.holdsBeyond = nil
        return Engine(settings: settings, decoder: decoder, rules: rules, seed: seeds.next())
    }

    /// Passes an input to an engine and carries out its actions.
    mutating func feed(_ index: Int, _ given: Input, items: [Int] = []) {
        if let standstill = processes[index].lookForStandstill(now) {
            strike(.standstill)
            processes[index].awaitsTime = true
            handle(index, .stoodStill(standstill), items: [])
        }
        handle(index, given, items: items)
    }

    private mutating func handle(_ index: Int, _ given: Input, items: [Int]) {
        var input = given
        interference?.alter(&input)
        let address = Address(process: index, run: processes[index].run)
        var moment = processes[index].moment(at: now)
        interference?.alter(&moment)
        note(input, items, address)
        if case .ordersKnown(let isKnown) = given { record(.ordersKnown(address, isKnown)) }
        record(.input(address, input))
        report.inputs += 1
        actions.removeAll(keepingCapacity: true)
        processes[index].engine?.handle(input, at: moment, into: &actions)
        var wanted = actions
        let answers = interference?.alter(&wanted) ?? []
        if let trace { for action in wanted { trace("  \(action)") } }
        for action in wanted { carryOut(action, address) }
        noteSettled(address)
        guard let engine = processes[index].engine else { return }
        var wakeAt = engine.wakeAt
        interference?.alter(wakeAt: &wakeAt, now: moment.steady)
        let isAlarm = if case .alarm = input { true } else { false }
        let snapshot = EngineSnapshot(
            engine, at: moment, isAlarm: isAlarm, actions: wanted.count, wakeAt: wakeAt)
        record(.acted(address, snapshot))
        arm(index, wakeAt)
        for answer in answers { agenda.add(.input(address, answer, items: []), at: now) }
    }

    /// Sets the alarm as the shell does: an armed alarm is only replaced by an earlier one, and the minimum delay is a
    /// millisecond.
    private mutating func arm(_ index: Int, _ wakeAt: Instant?) {
        guard let wakeAt, wakeAt < .distantFuture else { return }
        let at = max(wakeAt - processes[index].steadyOffset, now + .milliseconds(1))
        if let armed = processes[index].alarm, armed.at <= at { return }
        processes[index].alarms += 1
        processes[index].alarm = (at, processes[index].alarms)
        let address = Address(process: index, run: processes[index].run)
        agenda.add(.alarm(address, serial: processes[index].alarms), at: at)
    }

    /// Checks the reasons for waiting in the engine's status.
    mutating func inspect(_ address: Address) {
        agenda.add(.inspect(address), at: now + .seconds(2))
        // A process that was frozen must catch up first.
        guard let engine = processes[address.process].engine, now > processes[address.process].frozenUntil + .seconds(6)
        else { return }
        let reasons = WaitReasons(engine, at: processes[address.process].moment(at: now))
        record(.inspected(address, interference?.alter(reasons) ?? reasons))
    }
}
