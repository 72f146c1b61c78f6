import Dispatch
import FeedIO
import Feeds
import Glibc
import Logging
import NewswireSettings

/// Reads the feeds again at every SIGHUP. A file with any problem is refused as a whole.
final class FeedReload: Sendable {
    private let path: String
    /// The only feed that is followed; `nil` for all.
    private let feed: String?
    private let service: IngestService
    private let log: Logger
    /// The log threshold; `nil` if the command line sets the log level.
    private let threshold: LogThreshold?
    private let queue = DispatchQueue(label: "reload")
    private let handler: SignalHandler?

    init(_ path: String, feed: String?, service: IngestService, log: Logger, threshold: LogThreshold?) {
        self.path = path
        self.feed = feed
        self.service = service
        self.log = log
        self.threshold = threshold
        handler = SignalHandler(SIGHUP, on: queue) { Self.reload(path, feed, service, log, threshold) }
    }

    private static func reload(
        _ path: String, _ feed: String?, _ service: IngestService, _ log: Logger, _ threshold: LogThreshold?
    ) {
        do throws(SettingsFileFailure) {
            let loaded = try SettingsFile(path: path).read(leavingOut: IngestCommand.sectionsLeftOut)
            guard let settings = loaded.settings else {
                return refuse(loaded.errors.map { $0.line(file: path) }, log)
            }
            var ingest = settings.ingest.feeds
            if let feed { ingest.feeds = ingest.feeds.filter { $0.name == feed } }
            service.reload(ingest)
            threshold?.level = settings.logging.level
            log.notice("feeds reloaded", metadata: ["feeds": "\(ingest.feeds.count)"])
        } catch {
            refuse(["\(path): the file \(error)"], log)
        }
    }

    private static func refuse(_ problems: [String], _ log: Logger) {
        log.error(
            "reload refused; the feeds in force stay", metadata: ["problems": .array(problems.map { .string($0) })])
    }
}
