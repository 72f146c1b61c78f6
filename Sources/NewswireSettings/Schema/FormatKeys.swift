import NewsModel

/// The settings of events in a newsroom's own shape.
extension SettingsKey {
    static let formats =
        [
            SettingsKey(
                "events.formats.*.name", .text, required: true,
                "The name of the format, which results and errors carry."),
            SettingsKey(
                "events.formats.*.when.topic", .topic,
                "Only records of this topic have the format. All parts of when must hold."),
            SettingsKey(
                "events.formats.*.when.header.*", .text,
                """
                Only records with this header have the format. Case, and what follows a semicolon in the header, do not count.
                """),
            SettingsKey(
                "events.formats.*.when.member", .text,
                "Only documents with a value at this JSON Pointer have the format."),
            SettingsKey(
                "events.formats.*.when.is", .list(.text),
                "The texts that the value at when.member may have; when not set, any."),
        ]
        + EventMember.allCases.map { member in
            SettingsKey("events.formats.*.map.\(member.rawValue)", .eventMap, "\(member.summary)")
        }
        + [
            SettingsKey(
                "schemaRegistry.url", .text,
                """
                The schema registry, e.g. https://registry:8081. With it, records that begin with the registry's five bytes \
                are read as Avro or JSON. A registry that does not answer makes their lane wait.
                """),
            SettingsKey(
                "schemaRegistry.basicAuth", .text, secret: true, "User and password of the registry, as user:password."),
        ]
}
