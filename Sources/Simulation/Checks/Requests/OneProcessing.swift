/// The pool writes a request again only if the hub has said that it did not process it, so the hub processes it once.
struct OneProcessing: Checker {
    let promise = Promise.oneProcessing
    private var processed: Set<Int> = []

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        guard case .processed(let attempt) = fact, !processed.insert(attempt).inserted else { return nil }
        return "one request for \(truth.name(truth.attempts[attempt].delivery)) was processed twice"
    }
}
