/// One value of the settings document, with the place it was written at.
struct SettingsNode: Sendable {
    indirect enum Content: Sendable {
        case scalar(String)
        case list([SettingsNode])
        case mapping([Entry])
        /// Nothing, `~` or `null`.
        case empty
    }

    struct Entry: Sendable {
        var key: String
        var place: SettingsPlace
        var value: SettingsNode
    }

    var content: Content
    var place: SettingsPlace

    /// What it is, for people.
    var kindName: String {
        switch content {
        case .scalar: "a single value"
        case .list: "a list"
        case .mapping: "a group of keys"
        case .empty: "nothing"
        }
    }
}
