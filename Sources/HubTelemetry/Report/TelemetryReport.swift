public import NewsModel

/// The state of a process that polls the hub about sends.
public struct TelemetryReport: Sendable {
    public var at: Instant
    public var startedAt: Instant
    public var figures: TelemetryFigures
    /// The number of sends that are followed now.
    public var open: Int
    /// The age of the oldest followed send.
    public var oldest: Duration?
    /// The reason why nothing is learned; `nil` if all is well.
    public var problem: TelemetryProblem?
    /// True once the process has its part of the results topic, possibly no partitions.
    public var isAssigned: Bool
    /// The reason why Kafka's clients cannot log in; `nil` if they can.
    public var kafkaProblem: ReadinessReason?

    public init(
        at: Instant, startedAt: Instant, figures: TelemetryFigures, open: Int, oldest: Duration?,
        problem: TelemetryProblem?, isAssigned: Bool
    ) {
        self.at = at
        self.startedAt = startedAt
        self.figures = figures
        self.open = open
        self.oldest = oldest
        self.problem = problem
        self.isAssigned = isAssigned
    }
}

/// The reason why nothing is learned about sends now.
public enum TelemetryProblem: String, Sendable, Hashable, CaseIterable {
    /// The tier has no telemetry, or the key may not read it.
    case notAllowed = "not-allowed"
    case tokenRefused = "token-refused"
    /// The hub requested a pause.
    case throttled
    case unreachable
    /// The hub returned no id for the last accepted send, as below the Standard tier.
    case withoutIDs = "without-ids"
    /// Kafka does not take the records or offsets.
    case notStored = "not-stored"
}

extension TelemetryReport {
    /// The reasons that `/readyz` reports.
    public var notReady: [ReadinessReason] {
        var reasons: [ReadinessReason] = []
        if let kafkaProblem {
            reasons.append(kafkaProblem)
        } else if !isAssigned {
            reasons.append(
                .init(
                    code: "unassigned",
                    detail: "the group has not shared out the results topic yet, or Kafka cannot be reached",
                    remedy: "wait a moment; if it stays so, look for errors of Kafka in the log"))
        }
        switch problem {
        case .notAllowed?:
            reasons.append(
                .init(
                    code: "not-allowed", detail: "the hub does not tell what became of sends",
                    remedy: "telemetry needs a hub of the Standard tier, and a key that may read it"))
        case .tokenRefused?:
            reasons.append(
                .init(
                    code: "token-refused", detail: "the hub refuses the key",
                    remedy: "copy hub.connectionString again, and check the clock"))
        case .unreachable?:
            reasons.append(
                .init(
                    code: "unreachable", detail: "the hub cannot be asked", remedy: "see the log for the reason"))
        case .withoutIDs?:
            reasons.append(
                .init(
                    code: "without-ids", detail: "the hub gives accepted sends no id, so they cannot be asked about",
                    remedy: "telemetry needs a hub of the Standard tier"))
        case .notStored?:
            reasons.append(
                .init(
                    code: "not-stored", detail: "Kafka does not take what the hub tells about sends",
                    remedy:
                        "see the log for the reason; the telemetry topic needs as many partitions as the results topic")
            )
        // A pause is part of normal operation.
        case .throttled?, nil: break
        }
        return reasons
    }
}
