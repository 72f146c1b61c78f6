import NewsModel
import PublishEngine

/// One kind under `interests`.
struct FollowedKind {
    var kind: InterestTable.Kind
    /// `nil` if only the events' own interests count.
    var source: InterestSource?

    static func read(_ reader: inout SettingsReader) -> [FollowedKind] {
        reader.names(under: "interests").map { FollowedKind($0, &reader) }
    }

    private init(_ name: String, _ reader: inout SettingsReader) {
        let path: SettingsPath = "interests" / name
        kind = InterestTable.Kind(name: name)
        kind.tag = reader.text(path / "tag", otherwise: kind.tag)
        guard reader.isGiven(path / "from"), let text = reader.text(path / "from") else { return }
        source = JSONPointer(text).map { InterestSource(kind: name, pointer: $0) }
        if source == nil {
            reader.report(
                path / "from", "'\(text.prefix(60))' is not a JSON Pointer",
                "begin it with a slash, e.g. /authors/*/id")
        }
    }
}
