import ArgumentParser
import EditorialControl
import Feeds
import NewswireSettings
import PublishEngine

/// Names of the configuration, for completion in a shell.
enum ConfiguredNames {
    static let lanes = CompletionKind.custom { words, _, _ in names(words) { lanes(of: $0) } }
    static let categories = CompletionKind.custom { words, _, _ in names(words) { categories(of: $0) } }
    static let feeds = CompletionKind.custom { words, _, _ in names(words) { feeds(of: $0) } }
    /// The subjects of `stop` and `resume`.
    static let gates = CompletionKind.custom { words, _, _ in
        [Gate.hub.word]
            + names(words) { settings in
                lanes(of: settings).map { Gate.lane($0).word } + categories(of: settings).map { Gate.category($0).word }
                    + feeds(of: settings).map { Gate.feed($0).word }
            }
    }

    private static func lanes(of settings: Settings) -> [String] { settings.engine.lanes.map(\.name) }

    private static func categories(of settings: Settings) -> [String] {
        (try? settings.categoryTable().categories.map(\.name)) ?? []
    }

    private static func feeds(of settings: Settings) -> [String] { settings.ingest.feeds.feeds.map(\.name) }

    /// - Parameter words: the words of the command line, which may name the configuration.
    private static func names(_ words: [String], _ names: (Settings) -> [String]) -> [String] {
        let named = words.firstIndex(of: "--config").flatMap { words.dropFirst($0 + 1).first }
        guard let path = named ?? SettingsFile.standardPath(),
            let settings = try? SettingsFile(path: path).read(leavingOut: ConfigurationOption.publisherSections)
                .settings
        else { return [] }
        return names(settings)
    }
}
