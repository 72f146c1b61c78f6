import KafkaModel

/// Distinguishes a failing hub from a single failing request: only different deliveries count.
struct OutageDetector: Sendable {
    /// Different deliveries that must fail in a row, with no acceptance between.
    static let threshold = 8
    private var failing: [DeliveryID] = []

    mutating func accepted() {
        if !failing.isEmpty { failing.removeAll(keepingCapacity: true) }
    }

    /// `true` when this failure makes it an outage.
    mutating func failed(_ delivery: DeliveryID) -> Bool {
        if !failing.contains(delivery), failing.count < Self.threshold { failing.append(delivery) }
        return failing.count >= Self.threshold
    }
}
