import HubTelemetry
import NewsModel
import NotificationHub

/// All metrics of a process that polls the hub about sends. The number of series is bounded: lanes are configured,
/// platforms and outcomes are documented, and tags are limited to a few hundred.
enum TelemetryMetrics {
    static func text(_ report: TelemetryReport, _ process: ProcessFigures) -> [UInt8] {
        var text = MetricsText()
        sends(report.figures, &text)
        devices(report.figures, &text)
        questions(report.figures, &text)
        text.family(
            "newswire_telemetry_open", .gauge, "Accepted sends whose end the hub has not told yet.", report.open)
        text.family(
            "newswire_telemetry_oldest_seconds", .gauge, "The age of the oldest of them.",
            report.oldest?.components.seconds ?? 0)
        text.family(
            "newswire_telemetry_problem", .gauge, "1 for the reason why the hub is not asked for now.",
            of: TelemetryProblem.allCases, { [("reason", $0.rawValue)] }, { report.problem == $0 ? 1 : 0 })
        text.family("newswire_ready", .gauge, "1 when the hub can be asked.", report.notReady.isEmpty ? 1 : 0)
        text.program(startedAt: report.startedAt)
        process.write(into: &text)
        return text.bytes
    }

    private static func sends(_ figures: TelemetryFigures, _ text: inout MetricsText) {
        let sends = figures.sends.sorted { $0.key < $1.key }
        let labels = { (kind: TelemetryFigures.Kind) in [("lane", kind.lane), ("platform", kind.platform.rawValue)] }
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
        text.family(
            "newswire_telemetry_targets_total", .counter, "Devices that these sends were for.", of: sends,
            { labels($0.key) }, { $0.value.targets })
        text.family(
            "newswire_telemetry_successes_total", .counter, "Of those, devices whose platform took the notification.",
            of: sends, { labels($0.key) }, { $0.value.successes })
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
        text.family(
            "newswire_telemetry_no_target_total", .counter, "Sends that found no device, by tag.",
            of: figures.withoutTarget.sorted { $0.key < $1.key }, { [("tag", $0.key)] }, { $0.value.count })
    }

    private static func devices(_ figures: TelemetryFigures, _ text: inout MetricsText) {
        text.family(
            "newswire_telemetry_devices_total", .counter, "Devices by what their platform did with the notification.",
            of: figures.outcomes.sorted { $0.key < $1.key },
            { [("lane", $0.key.lane), ("platform", $0.key.platform), ("outcome", $0.key.outcome)] }, { $0.value.count })
        // A separate series that always exists, so that an alert sees the first increase.
        let dead = figures.outcomes.reduce(0) {
            $1.key.outcome == OutcomeName.invalidCredentials ? $0 + $1.value.count : $0
        }
        text.family(
            "newswire_telemetry_dead_credentials_total", .counter,
            "Devices that got nothing because the hub's own key for their platform is refused there.", dead)
    }

    private static func questions(_ figures: TelemetryFigures, _ text: inout MetricsText) {
        text.family(
            "newswire_telemetry_polls_total", .counter, "Questions to the hub, by its answer.",
            of: TelemetryFigures.Answer.allCases, { [("answer", $0.rawValue)] }, { figures.answers[$0] ?? 0 })
        text.family(
            "newswire_telemetry_skipped_total", .counter, "Accepted sends that are not asked about.",
            of: TelemetryFigures.Skip.allCases, { [("reason", $0.rawValue)] }, { figures.skipped[$0] ?? 0 })
        text.family("newswire_telemetry_records_total", .counter, "Records that were stored.", figures.stored)
        text.family(
            "newswire_telemetry_refused_records_total", .counter, "Records that the broker refused.", figures.refused)
    }
}
