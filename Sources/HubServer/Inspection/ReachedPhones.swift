import HubEmulator

/// The phones that sends reached, each counted once. A send that names no template is delivered once for every template
/// of a phone.
struct ReachedPhones {
    private struct Push: Hashable {
        var messageID: String
        var outcome: PushOutcome
    }

    private var handles: [Push: Set<String>] = [:]
    private var pushes: [Push: Int] = [:]

    /// - Parameter deliveries: the newest deliveries; earlier ones are unknown.
    init(_ deliveries: some Sequence<PushedNotification>) {
        for delivery in deliveries {
            let push = Push(messageID: delivery.messageID, outcome: delivery.outcome)
            handles[push, default: []].insert(delivery.handle)
            pushes[push, default: 0] += 1
        }
    }

    /// The phones with this outcome. If some deliveries are unknown, the number of notifications instead.
    func count(_ message: ReceivedMessage, _ outcome: PushOutcome) -> Int {
        let total = message.telemetry.counts.filter { $0.outcome == outcome }.reduce(0) { $0 + $1.count }
        let push = Push(messageID: message.id, outcome: outcome)
        return pushes[push] == total ? handles[push]?.count ?? total : total
    }
}
