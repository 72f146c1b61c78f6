import HubTelemetry

/// Everything about telemetry that an operator may set.
package struct TelemetryConfiguration: Sendable {
    /// True if some of it is configured. Its topic then belongs to the configuration's topics.
    package var isConfigured: Bool
    package var topic: String
    /// The share of sends to ask about, by lane, in millionths.
    package var sample: [String: Int]
    package var perSecond: Int
    /// The address of the status page; `nil` if it is off.
    package var listen: NetworkAddress?

    /// - Parameter lanes: the names of all lanes, highest urgency first.
    init(_ reader: inout SettingsReader, lanes: [String]) {
        let group: SettingsPath = "telemetry"
        isConfigured =
            ["topic", "perSecond", "listen"].contains { reader.isGiven(group / $0) }
            || !reader.names(under: group / "sample").isEmpty
        topic = reader.text(group / "topic") ?? ""
        sample = TelemetrySettings.standardSample(lanes: lanes)
        for lane in reader.names(under: group / "sample") {
            let share = reader.integer(group / "sample" / lane)
            if sample[lane] == nil {
                reader.report(
                    group / "sample" / lane, "there is no lane '\(lane.prefix(60))'",
                    "name one of: \(lanes.joined(separator: ", "))")
            }
            sample[lane] = share
        }
        perSecond = reader.integer(group / "perSecond")
        listen = reader.address(group / "listen")
    }
}

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
            """),
        SettingsKey(
            "telemetry.perSecond", .integer(1...1_000), default: "\(TelemetrySettings.standardPerSecond)",
            """
            The most questions a second, summed over all processes that ask. The hub limits them too; they never cost a \
            sender's rate.
            """),
        SettingsKey(
            "telemetry.listen", .listen, default: "127.0.0.1:9467",
            "The address where `newswire telemetry` serves its page, health and metrics, or off."),
    ]
}
