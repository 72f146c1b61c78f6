public import NewsModel
public import PublishEngine

/// One life, lived: engines, broker and hub on one agenda, everything that is left to chance drawn from the life's seed,
/// every promise checked at every step.
public struct World {
    let life: Life
    var agenda = Agenda()
    var books: Books
    var processes: [Process]
    var groups: [ConsumerGroup]
    var random: SeededRandom
    /// Faults under way, by number.
    var spells: [Int] = []
    /// What a process that died still had on its way to the broker gets through until then.
    var lastWords: [Address: Instant] = [:]
    var report = LifeReport()
    let router: Router
    let builder: PayloadBuilder
    private let decoder = NewsDecoder()
    private var checkers: [any Checker]
    private var interference: (any Interference)?
    private var violation: Violation?
    private var actions: [Action] = []
    private var openDeliveries: Int
    private var settledAt: Instant?
    var isCalm = false
    /// Is told every step, for people.
    public var trace: ((String) -> Void)?

    /// - Parameters:
    ///   - promises: what is checked.
    ///   - interference: a planted bug, for tests of the checkers.
    public init(
        _ life: Life, promises: [Promise] = Promise.allCases, interference: (any Interference)? = nil
    ) throws(PayloadProblems) {
        self.life = life
        self.interference = interference
        books = Books(life: life)
        processes = Array(repeating: Process(), count: life.setting.processes)
        groups = Array(repeating: ConsumerGroup(), count: life.setting.lanes.count)
        random = SeededRandom(seed: life.seed, 4)
        router = try Router()
        let platforms = life.setting.engine.platforms
        builder = try PayloadBuilder(PayloadSettings(mode: platforms == [.template] ? .template : .native(platforms)))
        checkers = promises.map(\.checker)
        openDeliveries = 0
        for item in life.news.indices { openDeliveries += books.deliveries(of: item).count }
    }

    public var now: Instant { books.now }

    /// Lives the life to its end.
    public mutating func run() throws(Violation) -> LifeReport {
        for (index, news) in life.news.enumerated() { agenda.add(.publish(item: index), at: Life.start + news.at) }
        for (index, fault) in life.faults.enumerated() { agenda.add(.begins(fault: index), at: Life.start + fault.at) }
        for process in processes.indices {
            agenda.add(.start(process: process), at: Life.start + random.milliseconds(0...2_000))
        }
        agenda.add(.calm, at: life.calmAt)
        while violation == nil, let (at, occurrence) = agenda.next() {
            books.now = max(books.now, at)
            if let settledAt, at > settledAt + .seconds(30) { break }
            if at > life.calmAt + life.options.patience { break }
            guard isStill(occurrence) else { continue }
            trace?("\((now - Life.start).short) \(occurrence)")
            happen(occurrence)
            noteWhetherSettled()
        }
        tell(.over(isSettled: settledAt != nil))
        if let violation { throw violation }
        report.records = life.news.count
        report.simulated = now - Life.start
        return report
    }

    /// Whether it happens now: what was meant for an earlier incarnation never does, a frozen process lives later.
    mutating func isStill(_ occurrence: Occurrence) -> Bool {
        guard let place = occurrence.place else { return true }
        let process = processes[place.process]
        guard process.incarnation == place.incarnation, process.engine != nil else { return false }
        guard process.frozenUntil > now else { return true }
        processes[place.process].missed.append(occurrence)
        return false
    }

    /// Everything has its result, and the groups have committed all of it.
    private mutating func noteWhetherSettled() {
        guard settledAt == nil, isCalm, openDeliveries == 0 else { return }
        for (lane, settings) in life.setting.lanes.enumerated() {
            for topic in settings.topics {
                for partition in 0..<Int32(life.setting.partitions) {
                    let id = TopicPartition(topic: topic, partition: partition)
                    guard let log = books.sources[id], !log.items.isEmpty else { continue }
                    guard books.committed[lane][id] == log.end else { return }
                }
            }
        }
        settledAt = now
    }

    /// Tells the checkers; the first broken promise ends the life.
    mutating func tell(_ fact: Fact) {
        for index in checkers.indices where violation == nil {
            guard let sentence = checkers[index].see(fact, books) else { continue }
            violation = Violation(promise: checkers[index].promise, sentence: sentence, at: now - Life.start)
        }
        if case .stored(let delivery, _, _) = fact, books.resultsOf[delivery].count == 1 { openDeliveries -= 1 }
    }

    // MARK: Engines

    mutating func makeEngine(process: Int, incarnation: Int) -> Engine {
        var seeds = SeededRandom(seed: life.seed, 5, process, incarnation)
        return Engine(
            settings: life.setting.engine, decoder: decoder, router: router, builder: builder, seed: seeds.next())
    }

    /// An engine takes an input, and what it wants is done.
    mutating func feed(_ index: Int, _ given: Input) {
        var input = given
        interference?.alter(&input)
        let address = Address(process: index, incarnation: processes[index].incarnation)
        let time = now + processes[index].skew
        tell(.input(address, input))
        note(input, address)
        report.inputs += 1
        actions.removeAll(keepingCapacity: true)
        processes[index].engine?.handle(input, at: time, into: &actions)
        var wanted = actions
        let answers = interference?.alter(&wanted) ?? []
        if let trace { for action in wanted { trace("  \(action)") } }
        for action in wanted { carryOut(action, address) }
        guard let engine = processes[index].engine else { return }
        var wakeAt = engine.wakeAt
        interference?.alter(wakeAt: &wakeAt, now: time)
        let kind: Moment.InputKind = if case .alarm = input { .alarm } else { .other }
        tell(
            .acted(
                address,
                Moment(
                    input: kind, actions: wanted.count, now: time, wakeAt: wakeAt, vitals: engine.vitals,
                    census: engine.census)))
        arm(index, wakeAt)
        for answer in answers { agenda.add(.input(address, answer), at: now) }
    }

    /// As the shell does it: an alarm that is armed is only replaced by an earlier one, and none is nearer than a
    /// millisecond.
    private mutating func arm(_ index: Int, _ wakeAt: Instant?) {
        guard let wakeAt, wakeAt < .distantFuture else { return }
        let at = max(wakeAt - processes[index].skew, now + .milliseconds(1))
        if let armed = processes[index].alarm, armed.at <= at { return }
        processes[index].alarms += 1
        processes[index].alarm = (at, processes[index].alarms)
        let address = Address(process: index, incarnation: processes[index].incarnation)
        agenda.add(.alarm(address, serial: processes[index].alarms), at: at)
    }
}
