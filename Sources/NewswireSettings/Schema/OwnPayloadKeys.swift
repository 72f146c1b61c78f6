import PublishEngine

/// The payloads that the operator writes.
extension SettingsKey {
    static let ownPayloads =
        [
            SettingsKey(
                "payload.native.*.body", .tree, required: true,
                """
                In native mode, the body for this platform instead of the built-in one: its members with variables such as \
                {{headline}} in their texts, or a text with JSON; for windows a text with the toast's XML.
                """)
        ]
        + UrgencyClass.allCases.map { urgency in
            SettingsKey(
                "payload.native.*.\(urgency.rawValue)", .tree,
                "The members of the body that differ in \(urgency.rawValue) news. In XML it is the whole text instead.")
        } + [
            SettingsKey(
                "payload.properties.*", .text,
                "In template mode, a property that is added to the payload or replaces one; its text may have variables."
            )
        ]
}
