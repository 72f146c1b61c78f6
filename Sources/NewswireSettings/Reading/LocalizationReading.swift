import PublishEngine

extension Localization {
    /// - Returns: `nil` if neither the file nor the environment has a setting of it.
    static func read(_ reader: inout SettingsReader) -> Localization? {
        let group: SettingsPath = "localization"
        let codes = reader.names(under: group / "languages")
        let keys = ["mode", "property", "message", "tag", "fallback"]
        guard !codes.isEmpty || keys.contains(where: { reader.isGiven(group / $0) }) else { return nil }
        let languages = codes.map { code in
            Language(code: code, name: reader.text(group / "languages" / code) ?? code)
        }
        return Localization(
            mode: reader.text(group / "mode").flatMap(Mode.init(rawValue:)) ?? .properties,
            property: reader.text(group / "property") ?? standardProperty, tag: reader.text(group / "tag"),
            message: reader.text(group / "message") ?? standardMessage, languages: languages,
            fallback: reader.texts(group / "fallback"))
    }
}
