import ControlIO
import EditorialControl

extension ControlSettings {
    init(_ reader: inout SettingsReader) {
        self.init(
            topics: ControlTopics(
                control: reader.text("control.topic") ?? "", audit: reader.text("control.auditTopic") ?? "",
                held: ""))
        staleAfter = reader.duration("control.staleAfter")
        if let policy = reader.text("control.onStale").flatMap(ControlState.OnStale.init(rawValue:)) {
            onStale = policy
        }
        // Read after the whole control section, because settings are printed in the order in which they are read.
        topics.held = reader.text("held.topic") ?? ""
    }
}
