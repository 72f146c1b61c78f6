import PublishEngine

/// G3: when a process dies, at most as many requests are of unknown fate as it may have in flight.
struct RequestsBounded: Checker {
    let promise = Promise.requestsBounded

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        let most = truth.scenario.setting.engine.connections
        guard case .written(let attempt, let inFlight) = fact, inFlight > most else { return nil }
        return "\(truth.name(truth.attempts[attempt].delivery)) is request \(inFlight) in flight, of at most \(most)"
    }
}
