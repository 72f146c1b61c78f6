import Dispatch
import Foundation
import Logging
import NewswireSettings
import PublisherService
import Synchronization

/// Reads the configuration again at every SIGHUP and applies the settings that can change while news goes out. A file with any
/// problem is refused as a whole.
final class SettingsReload: Sendable {
    private let path: String
    private let publisher: Publisher
    private let log: Logger
    private let threshold: LogThreshold?
    private let inForce: Mutex<[EffectiveSetting]>
    /// Runs reloads one after the other.
    private let queue = DispatchQueue(label: "reload")
    private let handler: Mutex<SignalHandler?> = Mutex(nil)

    /// - Parameter threshold: `nil` if the command line sets the log level, which the file then cannot change.
    init(
        _ path: String, inForce: [EffectiveSetting], publisher: Publisher, log: Logger, threshold: LogThreshold?
    ) {
        self.path = path
        self.publisher = publisher
        self.log = log
        self.threshold = threshold
        self.inForce = Mutex(inForce)
        handler.withLock { $0 = SignalHandler(SIGHUP, on: queue) { [weak self] in self?.reload() } }
    }

    private func reload() {
        do {
            let loaded = try SettingsFile(path: path).read()
            guard let settings = loaded.settings else { return refuse(loaded.errors.map { $0.line(file: path) }) }
            try apply(settings, loaded.effective)
        } catch let failure as SettingsFileFailure {
            refuse(["\(path): the file \(failure)"])
        } catch {
            refuse(["\(error)"])
        }
    }

    private func apply(_ settings: Settings, _ effective: [EffectiveSetting]) throws {
        let change = inForce.withLock { SettingsChange(from: $0, to: effective) }
        try publisher.reload(try settings.publisherSettings(cores: 1))
        threshold?.level = settings.logging.level
        // Settings that wait for a restart keep their old value, so that the next reload reports them again.
        inForce.withLock { inForce in
            inForce = inForce.filter { !$0.path.isReloadable } + effective.filter(\.path.isReloadable)
        }
        log.notice("settings reloaded", metadata: ["changed": Self.list(change.reloaded)])
        if !change.needRestart.isEmpty {
            log.warning("changed settings wait for a restart", metadata: ["keys": Self.list(change.needRestart)])
        }
    }

    private func refuse(_ problems: [String]) {
        log.error(
            "reload refused; the settings in force stay",
            metadata: ["problems": .array(problems.map { .string($0) })])
    }

    private static func list(_ paths: [SettingsPath]) -> Logger.MetadataValue {
        .array(paths.map { .string($0.description) })
    }
}
