import KafkaModel
import NewsModel
import PublishEngine

/// G10: while a process's wall clock is right, nothing leaves past its deadline or under embargo, and nothing expires early,
/// whatever the clock showed before. In the minute after a step, the old clock's embargoes stay in force. A clock that was
/// corrected before the process read it was never wrong.
///
/// By a wrong clock nothing leaves under embargo either, because the hub's clock is right. Nothing expires by it before the
/// process has heard the hub.
struct WallClockLaw: Checker {
    let promise = Promise.wallClock
    private var steps: [Address: [Step]] = [:]
    /// Each process's wall clock minus the true time.
    private var offsets: [Int: Duration] = [:]
    /// The same difference when each engine last read the clock.
    private var seen: [Address: Duration] = [:]
    private static let caution = Duration.seconds(60)
    /// The processes that have heard the hub since their clock was set.
    private var haveHeardHub: Set<Address> = []

    private struct Step {
        var at: Instant
        /// The wall clock minus the true time before the step.
        var offset: Duration
    }

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        switch fact {
        case .clockStepped(let address, let size, let wallBefore):
            offsets[address.process] = wallBefore + size - truth.now
            // The engine does not notice a smaller step.
            if max(size, .zero - size) > .seconds(2) { haveHeardHub.remove(address) }
        case .input(let address, let input):
            look(address, truth)
            if case .hubDate = input { haveHeardHub.insert(address) }
        case .sent(let number, let address, let wall): return sent(truth.attempts[number], address, wall, truth)
        case .settled(let delivery, _, let result, let address) where result.outcome == .expired:
            let deadline = deadlines(delivery, truth).lowerBound
            // If the result was written now, its time shows the clock of its process.
            let early = deadline - truth.now
            guard early > .zero,
                result.settledAt == truth.now || early > ClockWitnesses.tolerance && hasNoTime(address, truth)
            else { return nil }
            return "\(truth.name(delivery)) is expired, \(early.short) before its time"
        default: break
        }
        return nil
    }

    private mutating func look(_ address: Address, _ truth: GroundTruth) {
        let offset = offsets[address.process] ?? .zero
        guard let before = seen.updateValue(offset, forKey: address) else { return }
        if offset - before > .seconds(2) || before - offset > .seconds(2) {
            steps[address, default: []].append(Step(at: truth.now, offset: before))
        }
    }

    private func sent(_ attempt: Attempt, _ address: Address, _ wall: Instant, _ truth: GroundTruth) -> String? {
        let news = truth.news(of: attempt.delivery)
        let name = truth.name(attempt.delivery)
        if let embargo = news.embargoUntil {
            if wall == truth.now, embargo > truth.now {
                return "\(name) left \((embargo - truth.now).short) before its embargo ends"
            }
            if embargo > truth.now + ClockWitnesses.tolerance + .seconds(2) {
                return "\(name) left \((embargo - truth.now).short) before its embargo ends by the hub's clock"
            }
            let began = attempt.ownership >= 0 ? truth.ownerships[attempt.ownership].beganAt : truth.now
            for step in steps[address] ?? [] where step.at > began && truth.now < step.at + Self.caution {
                guard embargo > truth.now + step.offset, isTaken(attempt, before: step.at, truth) else { continue }
                return "\(name) left under embargo because the clock had been set"
            }
        }
        guard wall == truth.now else { return nil }
        let deadline = deadlines(attempt.delivery, truth).upperBound
        return truth.now > deadline ? "\(name) left \((truth.now - deadline).short) past its deadline" : nil
    }

    /// Returns true if the process has not heard the hub since it started or since its clock was set, and that is long enough ago
    /// that no earlier decision is still being written.
    private func hasNoTime(_ address: Address, _ truth: GroundTruth) -> Bool {
        !haveHeardHub.contains(address) && steps[address]?.last.map { truth.now - $0.at > Self.caution } ?? true
    }

    private func isTaken(_ attempt: Attempt, before time: Instant, _ truth: GroundTruth) -> Bool {
        truth.places[truth.item(of: attempt.delivery)].map { $0.publishedAt < time - .seconds(1) } ?? false
    }

    /// The range in which processes may differ: no process may expire the delivery before its start, nor send it after its end.
    /// Processes may differ in the time of its record, and in waiting for quiet hours.
    private func deadlines(_ delivery: Int, _ truth: GroundTruth) -> ClosedRange<Instant> {
        let news = truth.news(of: delivery)
        let expiresAt = news.expiresAt ?? .distantFuture
        guard let maxAge = truth.scenario.setting.lanes[news.lane].maxAge else { return expiresAt...expiresAt }
        let published = truth.places[truth.item(of: delivery)]?.publishedAt ?? .distantPast
        let stamp = news.record.timestamp
        let embargo = news.embargoUntil ?? .distantPast
        // The age of an embargoed event counts from the end of the embargo. A record without a timestamp has no other time.
        let written = stamp ?? (news.embargoUntil == nil ? published : .distantPast)
        var earliest = max(min(written, published), embargo) + maxAge
        var latest = stamp.map { max($0, embargo) + maxAge } ?? .distantFuture
        if let quiet = truth.scenario.setting.quiet, quiet.action == .delay, news.categories == quiet.categories,
            // They begin within a minute of the life.
            let end = quiet.window.end(at: Scenario.start) ?? quiet.window.end(at: Scenario.start + .seconds(60))
        {
            // The age of a delayed event counts from its release.
            earliest = min(earliest, end + maxAge)
            latest = max(latest, end + QuietHours.releaseSpread + maxAge)
        }
        return min(earliest, expiresAt)...min(max(earliest, latest), expiresAt)
    }
}
