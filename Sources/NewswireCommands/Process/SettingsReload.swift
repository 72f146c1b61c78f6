import Dispatch
import Foundation
import Logging
import PublisherService
import Synchronization

/// Puts the configuration in force again at every SIGHUP: what can change while news goes out. A file with any problem is
/// refused whole.
final class SettingsReload: Sendable {
    private let configuration: ConfigurationOption
    private let publisher: Publisher
    private let log: Logger
    private let threshold: LogThreshold
    /// Whether the command line said what to log: it goes before the file.
    private let keepsThreshold: Bool
    private let inForce: Mutex<[EffectiveSetting]>
    /// One reload after the other.
    private let queue = DispatchQueue(label: "reload")
    private let source: Source

    /// Signal sources are safe to share; only the protocol does not say so.
    private struct Source: @unchecked Sendable {
        var source: any DispatchSourceSignal
    }

    init(
        _ configuration: ConfigurationOption, inForce: [EffectiveSetting], publisher: Publisher, log: Logger,
        threshold: LogThreshold, keepsThreshold: Bool
    ) {
        self.configuration = configuration
        self.publisher = publisher
        self.log = log
        self.threshold = threshold
        self.keepsThreshold = keepsThreshold
        self.inForce = Mutex(inForce)
        signal(SIGHUP, SIG_IGN)
        source = Source(source: DispatchSource.makeSignalSource(signal: SIGHUP, queue: queue))
        source.source.setEventHandler { [weak self] in self?.reload() }
        source.source.resume()
    }

    deinit { source.source.cancel() }

    private func reload() {
        do {
            let reading = try SettingsFile(path: configuration.config).read()
            let problems = reading.problems.filter { $0.severity == .error }
            guard let settings = reading.settings, problems.isEmpty else {
                return refuse(problems.map { $0.line(file: configuration.config) })
            }
            try apply(settings, reading.effective)
        } catch let failure as SettingsFileFailure {
            refuse(["\(configuration.config): the file \(failure)"])
        } catch {
            refuse(["\(error)"])
        }
    }

    private func apply(_ settings: Settings, _ effective: [EffectiveSetting]) throws {
        let change = inForce.withLock { SettingsChange(from: $0, to: effective) }
        try publisher.reload(try settings.publisherSettings(cores: 1))
        if !keepsThreshold { threshold.level = Logger.Level(rawValue: settings.logging.level) ?? threshold.level }
        // What waits for a restart stays as it was, so that the next reload names it again.
        inForce.withLock { inForce in
            inForce = inForce.filter { !$0.path.isReloadable } + effective.filter(\.path.isReloadable)
        }
        log.notice("settings reloaded", metadata: ["changed": Self.list(change.inForce)])
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
