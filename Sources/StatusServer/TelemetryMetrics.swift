import HubTelemetry
import NewsModel

/// All metrics of a process that polls the hub about sends. The number of series is bounded: lanes are configured,
/// platforms and outcomes are documented, and tags are limited to a few hundred.
enum TelemetryMetrics {
    static func text(_ report: TelemetryReport, _ process: ProcessFigures) -> [UInt8] {
        var text = MetricsText()
        sends(report.figures, &text)
        devices(report.figures, &text)
        questions(report.figures, &text)
        text.family("newswire_telemetry_open", .gauge, "Accepted sends whose end the hub has not told yet.") {
            $0.sample(report.open)
        }
        text.family("newswire_telemetry_oldest_seconds", .gauge, "The age of the oldest of them.") {
            $0.sample(report.oldest?.components.seconds ?? 0)
        }
        text.family("newswire_telemetry_problem", .gauge, "1 for the reason why the hub is not asked for now.") {
            text in
            for problem in TelemetryProblem.allCases {
                text.sample(report.problem == problem ? 1 : 0, ("reason", problem.rawValue))
            }
        }
        text.family("newswire_ready", .gauge, "1 when the hub can be asked.") {
            $0.sample(report.notReady.isEmpty ? 1 : 0)
        }
        text.program(startedAt: report.startedAt)
        process.write(into: &text)
        return text.bytes
    }

    private static func sends(_ figures: TelemetryFigures, _ text: inout MetricsText) {
        let sends = figures.sends.sorted { $0.key < $1.key }
        text.family(
            "newswire_telemetry_sends_total", .counter,
            "Sends that were followed to their end, by the state they ended in."
        ) {
            text in
            for (kind, sums) in sends {
                for (state, count) in sums.endedByState {
                    text.sample(count, ("lane", kind.lane), ("platform", kind.platform.rawValue), ("state", state))
                }
            }
        }
        text.family("newswire_telemetry_targets_total", .counter, "Devices that these sends were for.") { text in
            for (kind, sums) in sends {
                text.sample(sums.targets, ("lane", kind.lane), ("platform", kind.platform.rawValue))
            }
        }
        text.family(
            "newswire_telemetry_successes_total", .counter, "Of those, devices whose platform took the notification."
        ) {
            text in
            for (kind, sums) in sends {
                text.sample(sums.successes, ("lane", kind.lane), ("platform", kind.platform.rawValue))
            }
        }
        text.family(
            "newswire_telemetry_end_seconds", .histogram,
            "From the acceptance of a send to the end of the hub's work on it."
        ) {
            text in
            for (kind, sums) in sends {
                text.histogram(
                    bounds: TelemetryFigures.bounds, counts: sums.seconds, sum: sums.secondsTotal, ("lane", kind.lane),
                    ("platform", kind.platform.rawValue))
            }
        }
        text.family("newswire_telemetry_no_target_total", .counter, "Sends that found no device, by tag.") { text in
            for (tag, seen) in figures.withoutTarget.sorted(by: { $0.key < $1.key }) {
                text.sample(seen.count, ("tag", tag))
            }
        }
    }

    private static func devices(_ figures: TelemetryFigures, _ text: inout MetricsText) {
        let outcomes = figures.outcomes.sorted { $0.key < $1.key }
        text.family(
            "newswire_telemetry_devices_total", .counter, "Devices by what their platform did with the notification."
        ) { text in
            for (key, seen) in outcomes {
                text.sample(
                    seen.count, ("lane", key.lane), ("platform", key.platform), ("outcome", key.outcome))
            }
        }
        // A separate series that always exists, so that an alert sees the first increase.
        let dead = figures.outcomes.reduce(0) {
            $1.key.outcome == OutcomeName.invalidCredentials ? $0 + $1.value.count : $0
        }
        text.family(
            "newswire_telemetry_dead_credentials_total", .counter,
            "Devices that got nothing because the hub's own key for their platform is refused there."
        ) {
            $0.sample(dead)
        }
    }

    private static func questions(_ figures: TelemetryFigures, _ text: inout MetricsText) {
        text.family("newswire_telemetry_polls_total", .counter, "Questions to the hub, by its answer.") { text in
            for answer in TelemetryFigures.Answer.allCases {
                text.sample(figures.answers[answer] ?? 0, ("answer", answer.rawValue))
            }
        }
        text.family("newswire_telemetry_skipped_total", .counter, "Accepted sends that are not asked about.") { text in
            for skip in TelemetryFigures.Skip.allCases {
                text.sample(figures.skipped[skip] ?? 0, ("reason", skip.rawValue))
            }
        }
        text.family("newswire_telemetry_records_total", .counter, "Records that were stored.") {
            $0.sample(figures.stored)
        }
        text.family("newswire_telemetry_refused_records_total", .counter, "Records that the broker refused.") {
            $0.sample(figures.refused)
        }
    }
}
