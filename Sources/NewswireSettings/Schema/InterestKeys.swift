/// The settings of what readers follow beside categories.
extension SettingsKey {
    static let interests = [
        SettingsKey(
            "interests.*.tag", .text,
            """
            The hub tag of those who follow one of this kind; {id} is the part of an event's interest after the colon. \
            When not set: the kind and the id, e.g. team_{id}.
            """),
        SettingsKey(
            "interests.*.from", .text,
            """
            The JSON Pointer in the source document to further ids of this kind, e.g. /authors/*/id, where * stands for \
            every element of an array.
            """),
    ]
}
