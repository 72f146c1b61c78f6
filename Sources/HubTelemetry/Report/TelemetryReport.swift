public import NewsModel

/// How a process that asks the hub is doing.
public struct TelemetryReport: Sendable {
    public var at: Instant
    public var startedAt: Instant
    public var figures: TelemetryFigures
    /// Sends that are followed now.
    public var open: Int
    /// The age of the oldest of them.
    public var oldest: Duration?
    /// Why the hub is not asked; `nil` when it is.
    public var problem: TelemetryProblem?
    /// It has its part of the results topic, possibly none.
    public var isAssigned: Bool

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

/// Why the hub is not asked for now.
public enum TelemetryProblem: String, Sendable, Hashable, CaseIterable {
    /// The tier has no telemetry, or the key may not read it.
    case notAllowed = "not-allowed"
    case tokenRefused = "token-refused"
    /// It asked for a pause.
    case throttled
    case unreachable
}

extension TelemetryReport {
    /// Reasons of `/readyz`: code, sentence, remedy.
    public var notReady: [(code: String, detail: String, remedy: String)] {
        var reasons: [(code: String, detail: String, remedy: String)] = []
        if !isAssigned {
            reasons.append(
                (
                    "unassigned", "the group has not shared out the results topic yet, or Kafka cannot be reached",
                    "wait a moment; if it stays so, look for errors of Kafka in the log"
                ))
        }
        switch problem {
        case .notAllowed?:
            reasons.append(
                (
                    "not-allowed", "the hub does not tell what became of sends",
                    "telemetry needs a hub of the Standard tier, and a key that may read it"
                ))
        case .tokenRefused?:
            reasons.append(
                ("token-refused", "the hub refuses the key", "copy hub.connectionString again, and check the clock"))
        case .unreachable?:
            reasons.append(("unreachable", "the hub cannot be asked", "see the log for the reason"))
        // Part of normal operation.
        case .throttled?, nil: break
        }
        return reasons
    }

    public var readiness: [UInt8] {
        JSONWriter.object { json in
            json.field("ready", notReady.isEmpty)
            writeReasons(into: &json)
        }
    }

    /// - Parameter version: the program's.
    public func json(version: String) -> [UInt8] {
        JSONWriter.object(reserving: 2_048) { json in
            json.field("at", at)
            json.field("startedAt", startedAt)
            json.field("version", version)
            json.field("ready", notReady.isEmpty)
            writeReasons(into: &json)
            json.field("open", open)
            json.field("oldestSeconds", oldest?.components.seconds)
            json.field("problem", problem?.rawValue)
            json.field("ended", figures.ended)
            json.field("targets", figures.targets)
            json.field("successes", figures.successes)
            json.array("sends") { json in
                for (kind, sends) in figures.sends.sorted(by: { $0.key < $1.key }) {
                    json.object { json in
                        json.field("lane", kind.lane)
                        json.field("platform", kind.platform.rawValue)
                        for (state, count) in sends.endedByState where count > 0 {
                            json.field(named: state, Int64(count))
                        }
                        json.field("targets", sends.targets)
                        json.field("successes", sends.successes)
                    }
                }
            }
            json.array("outcomes") { json in
                for (outcome, count) in figures.outcomes.sorted(by: { $0.key < $1.key }) {
                    json.object { json in
                        json.field("lane", outcome.lane)
                        json.field("platform", outcome.platform)
                        json.field("outcome", outcome.outcome)
                        json.field("devices", count)
                    }
                }
            }
            json.object("withoutTarget") { json in
                for (tag, count) in figures.withoutTarget.sorted(by: { $0.key < $1.key }) {
                    json.field(named: tag, Int64(count))
                }
            }
        }
    }

    private func writeReasons(into json: inout JSONWriter) {
        json.array("reasons") { json in
            for reason in notReady {
                json.object { json in
                    json.field("code", reason.code)
                    json.field("detail", reason.detail)
                    json.field("remedy", reason.remedy)
                }
            }
        }
    }
}
