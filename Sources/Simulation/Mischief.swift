import PublishEngine

/// Draws what goes wrong in a life.
enum Mischief {
    /// In the order of their beginnings.
    static func draw(_ setting: Setting, seconds: Int, _ options: Options, _ source: SeededRandom) -> [Fault] {
        var random = source
        var faults: [Fault] = []
        func add(_ random: inout SeededRandom, _ longest: Int, _ kind: Fault.Kind) {
            faults.append(
                Fault(
                    at: random.milliseconds(0...(seconds * 1000)), lasts: random.milliseconds(0...(longest * 1000)),
                    kind: kind))
        }
        func process(_ random: inout SeededRandom) -> Int { random.number(0...(setting.processes - 1)) }
        func lane(_ random: inout SeededRandom) -> Int { random.number(0...(setting.lanes.count - 1)) }
        func times(_ percent: Int, _ random: inout SeededRandom) -> Int {
            random.chance(percent: percent) ? random.number(1...3) : 0
        }

        for _ in 0..<random.number(options.hubSpells) {
            let share = random.chance(percent: 40) ? 100 : random.number(2...60)
            let trouble = trouble(&random)
            add(&random, random.chance(percent: 30) ? 60 : 8, .hub(trouble, share: share))
        }
        for _ in 0..<times(options.slowHub, &random) { add(&random, 20, .slowHub(random.milliseconds(50...5_000))) }
        for _ in 0..<times(options.crash, &random) { add(&random, 15, .crash(process: process(&random))) }
        for _ in 0..<times(options.drain, &random) { add(&random, 5, .drain(process: process(&random))) }
        for _ in 0..<times(options.rebalance, &random) { add(&random, 0, .rebalance(lane: lane(&random))) }
        for _ in 0..<times(options.expel, &random) {
            add(&random, 5, .expel(process: process(&random), lane: lane(&random)))
        }
        for _ in 0..<times(options.freeze, &random) { add(&random, 20, .freeze(process: process(&random))) }
        for _ in 0..<times(options.clockJump, &random) {
            add(&random, random.chance(percent: 20) ? 600 : 5, .clockJump(process: process(&random)))
        }
        for _ in 0..<times(options.stalledResults, &random) { add(&random, 15, .stalledResults) }
        for _ in 0..<times(options.failingCommits, &random) {
            add(&random, 10, .failingCommits(applied: random.chance(percent: 50)))
        }
        for _ in 0..<times(options.slowLedger, &random) { add(&random, 10, .slowLedger) }
        for _ in 0..<times(options.pausedLane, &random) { add(&random, 10, .pausedLane(lane: lane(&random))) }
        for _ in 0..<times(options.refusedDeadLetters, &random) { add(&random, 10, .refusedDeadLetters) }
        return faults.sorted { $0.at < $1.at }
    }

    private static func trouble(_ random: inout SeededRandom) -> HubTrouble {
        let seconds: Int? = random.chance(percent: 50) ? random.number(0...5) : nil
        return switch random.number(0...16) {
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
        default: .certificate
        }
    }
}
