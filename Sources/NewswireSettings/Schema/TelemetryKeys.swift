import HubTelemetry

/// The settings of the questions to the hub about accepted sends.
extension SettingsKey {
    static let telemetry = [
        SettingsKey(
            "telemetry.topic", .topic, default: "news.telemetry",
            "The topic that records what the hub says of accepted sends. It needs as many partitions as the results topic."
        ),
        SettingsKey(
            "telemetry.sample.*", .share,
            """
            The share of a lane's accepted sends that the hub is asked about, from 0 to 1. When not set: 1 in the first lane, \
            0.01 in the others. The same events are chosen after a restart.
            """
        ),
        SettingsKey(
            "telemetry.perSecond", .integer(1...1_000), default: "\(TelemetrySettings.standardPerSecond)",
            """
            The most questions a second, summed over all processes that ask. The hub limits them too; they never cost a \
            sender's rate.
            """
        ),
        SettingsKey(
            "telemetry.listen", .listen, default: "127.0.0.1:9467",
            "The address where `newswire telemetry` serves its page, health and metrics, or off."),
    ]
}
