import NewsModel
package import PublishEngine

extension PayloadSettings {
    /// Why a notification that is to be silent makes a sound, as a sentence, and what would help; `nil` where it makes none.
    package var ringing: (cause: String, remedy: String)? {
        guard !canBeSilent else { return nil }
        switch mode {
        case .template:
            return (
                "in template mode the devices' template decides, and it makes a sound",
                "set payload.templates to the names of two templates that your app registers, e.g. {normal: breakingNews, "
                    + "quiet: breakingNewsQuiet}"
            )
        case .native(let platforms):
            let loud = platforms.filter { !$0.canBeSilent }.map(\.rawValue).joined(separator: " and ")
            return ("\(loud) cannot be silent", "leave \(loud) out of payload.platforms")
        }
    }
}
