/// What differs between the settings in force and those that were read again.
struct SettingsChange: Hashable {
    /// In the order of the configuration's table, then those that are gone.
    var paths: [SettingsPath]

    init(from old: [EffectiveSetting], to new: [EffectiveSetting]) {
        // Names of the user's may repeat in the environment, where the last one holds.
        let before = Dictionary(old.map { ($0.path, $0.actual) }) { $1 }
        let after = Dictionary(new.map { ($0.path, $0.actual) }) { $1 }
        paths = new.map(\.path).filter { before[$0] != after[$0] } + old.map(\.path).filter { after[$0] == nil }
        // Urgency goes by the order in the file.
        let lanes = { (settings: [EffectiveSetting]) in settings.map(\.path).filter { $0.parts.first == "lanes" } }
        if paths.isEmpty, lanes(old) != lanes(new) { paths = [SettingsPath("lanes")] }
    }

    /// Those that take effect at once, and those that wait for a restart.
    var inForce: [SettingsPath] { paths.filter(\.isReloadable) }
    var needRestart: [SettingsPath] { paths.filter { !$0.isReloadable } }
}

extension SettingsPath {
    /// Whether a change of it can be put in force while the publisher runs.
    var isReloadable: Bool {
        switch parts.first {
        case "rate", "categories", "unroutable": true
        case "payload": parts == ["payload", "message"]
        case "logging": parts == ["logging", "level"]
        default: false
        }
    }
}
