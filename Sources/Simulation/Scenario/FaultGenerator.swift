import ByteText
import KafkaModel
import NewsModel
import PublishEngine

/// Draws the faults of a life.
struct FaultGenerator {
    let setting: Setting
    let seconds: Int
    let options: Options
    var random: SeededRandom
    var faults: [Fault] = []

    /// Draws the faults, sorted by start.
    static func draw(_ setting: Setting, seconds: Int, _ options: Options, _ random: SeededRandom) -> [Fault] {
        var generator = FaultGenerator(setting: setting, seconds: seconds, options: options, random: random)
        generator.drawHub()
        generator.drawProcesses()
        generator.drawGroups()
        generator.drawTopics()
        generator.drawStorage()
        if setting.hasControl { generator.drawControl() }
        if setting.hasHeld { generator.drawHeld() }
        let isOneLane = setting.lanes.count > 1 && generator.random.chance(percent: options.oneLane)
        generator.times(options.releasedLane) { generator in
            let decision = generator.random.pick(FloodRelease.allCases, or: .send)
            generator.add(20, .releasedLane(lane: generator.lane, decision))
            generator.drawFlood()
        }
        if setting.hasHeld {
            generator.times(options.slowHeld) { $0.add(30, .slowHeld($0.random.milliseconds(500...8_000))) }
            generator.times(options.smallHeld) { generator in
                generator.add(20, .smallRecords(Setting.held, bytes: generator.random.number(100...600)))
            }
        }
        // Long enough to miss beats, so that senders of orders do not wait for the process.
        generator.times(options.longFreeze) { $0.add(90, .freeze(process: $0.process)) }
        if setting.hasHeld { generator.times(options.recreatedHeld) { $0.add(20, .recreatedHeld) } }
        if setting.hasControl {
            generator.times(options.openTransaction) { $0.add(60, .openTransaction) }
        }
        let recreated = generator.faults.filter { $0.kind == .recreatedHeld }
        for fault in recreated where generator.random.chance(percent: options.unattendedHeld) {
            generator.stopAll(around: fault)
        }
        generator.times(options.blockedLog) { $0.add(60, .blockedLog(process: $0.process)) }
        // By a clock that is days ahead, quiet hours end days later.
        if setting.hasControl, setting.quiet == nil, generator.random.chance(percent: options.lonelyClock) {
            generator.drawLonelyClock()
        }
        generator.drawConnections()
        let hasNewOffsets = generator.faults.contains { fault in
            switch fault.kind {
            case .recreated, .cutBack: true
            default: false
            }
        }
        // Removed records cannot be told from those of a former incarnation.
        if !hasNewOffsets {
            generator.times(options.sourceRetention) {
                $0.add(0, .sourceRetention(topic: $0.topic, share: $0.random.pick([30, 100, 100], or: 100)))
            }
        }
        if setting.hasHeld { generator.times(options.truncatedHeld) { $0.add(0, .truncatedHeld) } }
        if setting.hasControl {
            generator.times(options.truncatedControl) { $0.add(0, .truncatedControl) }
            let truncated = generator.faults.filter { $0.kind == .truncatedControl }
            for fault in truncated where generator.random.chance(percent: options.startWithoutOrders) {
                generator.start(after: fault)
            }
        }
        if isOneLane {
            generator.faults.removeAll { $0.kind.lane(in: setting) ?? .mostUrgent == .mostUrgent }
        }
        return generator.faults.sorted { $0.at < $1.at }
    }

    mutating func add(_ longest: Int, _ kind: Fault.Kind) {
        faults.append(
            Fault(
                at: random.milliseconds(0...(seconds * 1000)), lasts: random.milliseconds(0...(longest * 1000)),
                kind: kind))
    }

    /// Calls `body` one to three times with the given chance in percent.
    mutating func times(_ percent: Int, _ body: (inout FaultGenerator) -> Void) {
        guard random.chance(percent: percent) else { return }
        for _ in 0..<random.number(1...3) { body(&self) }
    }

    var process: Int { mutating get { random.number(0...(setting.processes - 1)) } }
    var lane: LaneID { mutating get { LaneID(random.number(0...(setting.lanes.count - 1))) } }
    var topic: String { mutating get { random.pick(setting.lanes[lane].topics, or: "") } }
    /// Returns a random initial partition of a topic.
    mutating func partition(of topic: String) -> TopicPartition {
        TopicPartition(topic: topic, partition: Int32(random.number(0...(max(setting.partitions[topic] ?? 1, 1) - 1))))
    }

    // MARK: Kinds

    private mutating func drawHub() {
        for _ in 0..<random.number(options.hubFaults) {
            let share = random.chance(percent: 40) ? 100 : random.number(2...60)
            let trouble = trouble()
            add(random.chance(percent: 30) ? 60 : 8, .hub(trouble, share: share))
        }
        if random.chance(percent: options.badMinute) {
            let isUnreachable = random.chance(percent: 50)
            faults.append(
                Fault(
                    at: random.milliseconds(0...(seconds * 1000)), lasts: random.milliseconds(60_000...90_000),
                    kind: .badMinute(isUnreachable: isUnreachable)))
        }
        times(options.slowHub) { $0.add(20, .slowHub($0.random.milliseconds(50...5_000))) }
        times(options.poison) { $0.add(20, .poison(lane: $0.lane, share: $0.random.pick([20, 60, 100], or: 60))) }
    }

    private mutating func drawProcesses() {
        times(options.crash) { $0.add(15, .crash(process: $0.process)) }
        times(options.drain) { $0.add(5, .drain(process: $0.process)) }
        times(options.freeze) { $0.add(20, .freeze(process: $0.process)) }
        if random.chance(percent: options.wrongClock) {
            let fault = Fault.Kind.wrongClock(process: process, by: step())
            faults.append(Fault(at: .zero, lasts: random.milliseconds(1_000...(seconds * 1000)), kind: fault))
        }
        times(options.clockStep) { $0.add(60, .clockStep(process: $0.process, by: $0.step())) }
    }

    /// Returns the error of a clock: seconds or hours, ahead or behind.
    private mutating func step() -> Duration {
        let size =
            random.chance(percent: 40) ? random.milliseconds(100...10_000) : random.milliseconds(10_000...10_800_000)
        return random.chance(percent: 50) ? size : .zero - size
    }

    private mutating func drawGroups() {
        times(options.rebalance) { $0.add(0, .rebalance(lane: $0.lane)) }
        times(options.expel) { $0.add(5, .expel(process: $0.process, lane: $0.lane)) }
        times(options.failingCommits) { generator in
            if generator.random.chance(percent: 40) {
                let topic = generator.random.chance(percent: 40) ? generator.setting.results : generator.topic
                generator.add(15, .refusedCommits(generator.partition(of: topic)))
            } else {
                let isApplied = generator.random.chance(percent: 50)
                generator.add(10, .failingCommits(lane: generator.lane, applied: isApplied))
            }
        }
        times(options.pausedLane) { $0.add(10, .pausedLane(lane: $0.lane)) }
    }

    private mutating func drawTopics() {
        if random.chance(percent: options.recreatedTopic) {
            let topic = topic
            let count = setting.partitions[topic] ?? 1
            let isAlone = setting.lane(of: topic).map { setting.lanes[$0].topics.count == 1 } ?? true
            let isOther = isAlone && random.chance(percent: 40)
            add(
                random.chance(percent: 70) ? 3 : 20,
                .recreated(topic: topic, partitions: isOther ? random.number(1...6) : count))
        }
        times(options.cutBackPartition) {
            $0.add(0, .cutBack($0.partition(of: $0.topic), records: $0.random.number(1...5)))
        }
        if random.chance(percent: options.grownTopic) {
            let topics = setting.lanes[lane].topics
            let most = topics.compactMap { setting.partitions[$0] }.max() ?? 1
            let to = most + random.number(1...4)
            let order = random.chance(percent: 60) ? topics + [setting.results] : [setting.results] + topics
            add(30, .grown(order, to: to))
        }
    }

    private mutating func drawStorage() {
        times(options.stalledResults) { $0.add(15, .stalledResults) }
        times(options.slowLedger) { $0.add(10, .slowLedger(lane: $0.lane)) }
        times(options.unavailablePartition) { generator in
            let topic =
                switch generator.random.number(0...9) {
                case ..<4: generator.topic
                case ..<8: generator.setting.results
                case 8 where generator.setting.hasHeld: Setting.held
                default: Setting.deadLetters
                }
            generator.add(generator.random.chance(percent: 30) ? 90 : 15, .unavailable(generator.partition(of: topic)))
        }
        times(options.retention) { $0.add(0, .retention(share: $0.random.number(10...100))) }
        times(options.forgottenOffsets) { $0.add(0, .forgottenOffsets(lane: $0.lane)) }
        times(options.refusedTopic) { generator in
            let topic = generator.random.chance(percent: 50) ? Setting.deadLetters : generator.setting.results
            generator.add(15, .refusedTopic(topic))
        }
        times(options.smallRecords) { generator in
            let topic = generator.random.chance(percent: 50) ? Setting.deadLetters : generator.setting.results
            generator.add(20, .smallRecords(topic, bytes: generator.random.number(300...1_500)))
        }
    }

    private mutating func drawHeld() {
        times(options.compactedHeld) { generator in
            // Late enough for the topic's compaction lag.
            let at = Setting.heldCompactionLag + generator.random.milliseconds(5_000...300_000)
            generator.faults.append(Fault(at: at, lasts: .zero, kind: .compactedHeld))
        }
    }

    /// Adds a flood before half of the releases of a lane.
    private mutating func drawFlood() {
        guard random.chance(percent: 50), let fault = faults.last, case .releasedLane(let lane, _) = fault.kind else {
            return
        }
        let at = max(fault.at - random.milliseconds(0...15_000), .zero)
        faults.append(
            Fault(at: at, lasts: random.milliseconds(10_000...40_000), kind: .poison(lane: lane, share: 100)))
    }

    private mutating func drawControl() {
        times(options.controlAway) { generator in
            // Unavailable from the start or later, for moments or for minutes.
            let lasts = generator.random.milliseconds(0...(generator.random.chance(percent: 30) ? 120_000 : 15_000))
            let at =
                generator.random.chance(percent: 30)
                ? .zero : generator.random.milliseconds(0...(generator.seconds * 1000))
            generator.faults.append(Fault(at: at, lasts: lasts, kind: .controlAway))
        }
        times(options.slowControl) { $0.add(20, .slowControl($0.random.milliseconds(20...5_000))) }
        times(options.compactedControl) { $0.add(0, .compactedControl) }
        times(options.garbledControl) { $0.add(0, .garbledControl) }
    }

    /// Kills a process before a fault, and starts it within 20 s of it.
    private mutating func start(after fault: Fault) {
        let before = random.milliseconds(0...2_000)
        faults.append(
            Fault(
                at: max(fault.at - before, .zero), lasts: before + random.milliseconds(100...20_000),
                kind: .crash(process: process)))
    }

    /// Kills all processes before a fault, and starts them after its begin.
    private mutating func stopAll(around fault: Fault) {
        for process in 0..<setting.processes {
            let before = random.milliseconds(0...2_000)
            faults.append(
                Fault(
                    at: max(fault.at - before, .zero), lasts: before + random.milliseconds(500...20_000),
                    kind: .crash(process: process)))
        }
    }

    /// Kills all processes. One of them starts with a clock that is days ahead, before the others and before the hub answers.
    private mutating func drawLonelyClock() {
        let at = random.milliseconds(0...(seconds * 1000))
        let lonely = process
        for process in 0..<setting.processes {
            let isLonely = process == lonely
            let lasts = random.milliseconds(isLonely ? 100...5_000 : 60_000...120_000)
            faults.append(Fault(at: at, lasts: lasts, kind: .crash(process: process)))
        }
        let ahead = Duration.seconds(Int64(random.number(1...10)) * 86_400)
        faults.append(
            Fault(
                at: at, lasts: random.milliseconds(60_000...120_000), kind: .clockStep(process: lonely, by: ahead)))
        faults.append(
            Fault(at: at, lasts: random.milliseconds(60_000...90_000), kind: .badMinute(isUnreachable: true)))
    }

    private mutating func drawConnections() {
        times(options.connectionFaults) { generator in
            let kind: ConnectionFault =
                switch generator.random.number(0...6) {
                case 0: .reset
                case 1: .goAway(isCalm: false)
                case 2: .goAway(isCalm: true)
                case 3: .fewStreams(generator.random.number(0...3))
                case 4: .closedWindows
                case 5: .brokenHTTP2
                default: .onlyHTTP1
                }
            generator.add(30, .connections(kind))
        }
        times(options.connectionFaults / 2) { generator in
            let trouble = generator.random.pick([HubFailure.refusedStream, .misdirected], or: .refusedStream)
            generator.add(10, .hub(trouble, share: generator.random.pick([10, 50, 100], or: 50)))
        }
        times(options.silentNetwork) { $0.add(30, .silentNetwork(process: $0.process)) }
    }

    private mutating func trouble() -> HubFailure {
        let seconds: Int? = random.chance(percent: 50) ? random.number(0...5) : nil
        return switch random.number(0...17) {
        case 0: .replyLost
        case 1: .resetBefore
        case 2: .resetAfter
        case 3: .hang
        case 4: .connectionLost
        case 5, 6: .throttled(retryAfter: seconds)
        case 7: .quota(retryAfter: seconds ?? 1)
        case 8: .busy(retryAfter: seconds)
        case 9, 10: .serverError(random.pick([500, 502, 504], or: 500))
        case 11: .tokenExpired
        case 12: .keyRefused
        case 13: .rightMissing
        case 14: .hubMissing
        case 15: .unreachable
        case 16: .busy(retryAfter: random.number(60...3_600))
        default: .certificate
        }
    }
}
