import NewsModel
import NotificationHub
package import PublishEngine

extension PayloadSettings {
    /// The reason why a notification cannot be silent, as a sentence, and the remedy; `nil` if it can be silent.
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
            let loud = platforms.filter { !$0.facts.canBeSilent }.map(\.rawValue).joined(separator: " and ")
            return ("\(loud) cannot be silent", "leave \(loud) out of payload.platforms")
        }
    }
}
