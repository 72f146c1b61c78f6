import ControlIO
import EditorialControl

/// The settings of editors' orders and of the events that wait for their time.
extension SettingsKey {
    private static let standard = ControlSettings()

    static let control = [
        SettingsKey(
            "control.topic", .topic, default: standard.topics.control,
            "The compacted topic of editors' standing orders: recalls and stops. Every process reads it before it sends anything, and `newswire ingest` lets stopped feeds be."
        ),
        SettingsKey(
            "control.auditTopic", .topic, default: standard.topics.audit,
            "The topic that records who has given an order, and which process has applied it."),
        SettingsKey(
            "control.staleAfter", .duration(.seconds(15) ... .seconds(3_600), orNone: false),
            default: SettingsValue.text(standard.staleAfter),
            "How long the control topic may be silent before it counts as unreachable. Each process writes to it every ten seconds."
        ),
        SettingsKey(
            "control.onStale", .choice(ControlState.OnStale.allCases.map(\.rawValue)),
            default: standard.onStale.rawValue,
            "What then: send on by the last orders known (continue), or send nothing until it can be read again (stop). The same goes for a process that starts while there is no control topic."
        ),
        SettingsKey(
            "control.approval.send", .boolean, default: "false",
            "Have a second person approve `newswire send`, with `newswire approve`. A test needs nobody."),
        SettingsKey(
            "control.approval.replace", .boolean, default: "false",
            "Have a second person approve the replacement of a recalled story. The recall itself is in force at once."),
        SettingsKey(
            "control.approval.resumeHub", .boolean, default: "false",
            "Have a second person approve the resumption of the hub. A stop and a recall never need anybody."),
        SettingsKey(
            "held.topic", .topic, default: standard.topics.held,
            "The compacted topic of events under embargo. Without it they wait in memory and hold back their partition."
        ),
    ]
}
