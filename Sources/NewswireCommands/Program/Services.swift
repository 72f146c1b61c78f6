import ArgumentParser
import Dispatch
import FeedIO
import Feeds
import Foundation
import HTTPServing
package import KafkaIO
import Logging
import NewswireSettings
import PublisherService
import StatusServer
import Synchronization

/// Reads the configuration again at every SIGHUP and applies the settings that can change while a service runs. A file with any
/// problem is refused as a whole.
struct SettingsReload: Sendable {
    private let path: String
    /// The settings that are reloaded, in one word for the log.
    private let what: String
    private let log: Logger
    private let login: KafkaLogin
    /// The files as the clients of Kafka have read them.
    private let files: CertificateFiles

    /// - Parameter kafka: the settings of the running clients.
    init(_ path: String, _ what: String, _ kafka: KafkaSettings, _ log: Logger) {
        (self.path, self.what, self.log) = (path, what, log)
        login = kafka.login
        files = CertificateFiles(kafka)
    }

    /// Applies only what all services apply: the login of the Kafka clients.
    func begin() {
        begin(leavingOut: []) { [log] _, _ in
            log.notice("login to Kafka reloaded", metadata: ["remedy": "restart the process for all other changes"])
        }
    }

    /// - Parameters:
    ///   - token: that of the publisher's status port.
    ///   - threshold: `nil` if the command line sets the log level, which the file then cannot change.
    func begin(
        _ publisher: Publisher, token: BearerToken, inForce: [EffectiveSetting], threshold: LogThreshold?
    ) {
        let inForce = Mutex(inForce)
        begin { [log] settings, effective in
            let change = inForce.withLock { SettingsChange(from: $0, to: effective) }
            try publisher.reload(try settings.publisherSettings(cores: 1))
            token.current = settings.token?.revealed
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
    }

    /// - Parameter threshold: `nil` if the command line sets the log level, which the file then cannot change.
    func begin(_ service: IngestService, threshold: LogThreshold?) {
        begin(leavingOut: ConfigurationOption.publisherSections) { [log] settings, _ in
            let ingest = settings.ingest.feeds
            let unknown = service.reload(ingest)
            guard unknown.isEmpty else {
                throw CommandFailure("new lanes need a restart: \(unknown.joined(separator: ", "))")
            }
            threshold?.level = settings.logging.level
            log.notice("feeds reloaded", metadata: ["feeds": "\(ingest.feeds.count)"])
        }
    }

    private func begin(
        leavingOut sections: Set<String> = [], apply: @escaping @Sendable (Settings, [EffectiveSetting]) throws -> Void
    ) {
        // The queue runs reloads one after the other.
        Signals.handle(SIGHUP, on: DispatchQueue(label: "reload")) {
            do {
                let loaded = try SettingsFile(path: path).read(leavingOut: sections)
                guard let settings = loaded.settings else { return refuse(loaded.errors.map { $0.line(file: path) }) }
                try apply(settings, loaded.effective)
                let kafka = settings.kafkaSettings
                login.change(to: kafka)
                let changed = files.changes(to: CertificateFiles(kafka))
                guard !changed.isEmpty else { return }
                log.warning(
                    "Kafka's certificates have changed; they are read only at the start, so they wait for a restart",
                    metadata: ["keys": .array(changed.map { "kafka.properties.\($0)" })])
            } catch let failure as SettingsFileFailure {
                refuse(["\(path): the file \(failure)"])
            } catch {
                refuse(["\(error)"])
            }
        }
    }

    private func refuse(_ problems: [String]) {
        log.error(
            "reload refused; the \(what) in force stay", metadata: ["problems": .array(problems.map { .string($0) })])
    }

    private static func list(_ paths: [SettingsPath]) -> Logger.MetadataValue {
        .array(paths.map { .string($0.description) })
    }
}

/// Hashes of the files that librdkafka reads when it makes a client, and never again. By property.
package struct CertificateFiles: Sendable {
    private var hashes: [String: Int] = [:]

    package init(_ kafka: KafkaSettings) {
        for (name, path) in kafka.properties where name.hasPrefix("ssl.") && name.hasSuffix(".location") {
            var hasher = Hasher()
            hasher.combine(FileManager.default.contents(atPath: path).map(Array.init))
            hashes[name] = hasher.finalize()
        }
    }

    /// - Returns: the properties whose files have other contents there, sorted. Files that one of both does not name are left out.
    package func changes(to new: CertificateFiles) -> [String] {
        new.hashes.keys.filter { hashes[$0] != nil && hashes[$0] != new.hashes[$0] }.sorted()
    }
}

/// The status of a service over HTTP. The service also runs without it.
enum ServedStatus {
    /// - Parameters:
    ///   - page: the name of the page in the log.
    ///   - setting: the settings key of the address.
    /// - Returns: `nil` if serving is off, or if the port is not available. That is logged, and the service continues.
    static func begin(
        on listen: NetworkAddress?, page: String, setting: String, log: Logger,
        _ start: (NetworkAddress) async throws(ListenFailure) -> RunningServer
    ) async -> RunningServer? {
        guard let listen else { return nil }
        do throws(ListenFailure) {
            let running = try await start(listen)
            let address = NetworkAddress(host: listen.host, port: running.port)
            log.info("status served", metadata: ["address": "\(address)", "\(page)": "http://\(address)/"])
            return running
        } catch {
            log.error(
                "status not served: no health, no metrics",
                metadata: [
                    "reason": "\(error)", "remedy": "\(error.remedy): each process needs its own \(setting), or off",
                ])
            return nil
        }
    }
}

/// The file descriptors that a publisher needs. With too few, SwiftNIO ends the process when it cannot make an event loop, or
/// librdkafka never connects. Neither reports the reason.
package struct DescriptorNeeds: Sendable, Hashable {
    package var connections: Int
    package var lanes: Int
    package var brokers: Int
    /// The publisher's own event loops and SwiftNIO's shared ones.
    package var eventLoops: Int

    package init(connections: Int, lanes: Int, brokers: Int, eventLoops: Int) {
        (self.connections, self.lanes, self.brokers, self.eventLoops) = (connections, lanes, brokers, eventLoops)
    }

    /// The lowest limit with which everything works. A Kafka client has a socket to every broker, and two pipe ends beside it. A
    /// lane has two clients. About eight others serve producers, the control and held topics, and questions about topics. An
    /// event loop has three descriptors. The rest is for the status page, files, and some room.
    package var least: Int {
        let clients = 8 + 2 * lanes
        return connections + clients * 3 * (brokers + 1) + eventLoops * 3 + 32
    }

    /// The problem with a limit; `nil` if the limit suffices.
    package func problem(with limit: Int) -> String? {
        guard limit < least else { return nil }
        return
            "this process may open \(limit) files, and these settings need \(least): raise the limit (ulimit -n, LimitNOFILE) or "
            + "lower hub.connections, which is \(connections)"
    }

    /// Raises the limit as far as possible.
    ///
    /// - Throws: the exit with 78 if the raised limit does not suffice.
    func secure() throws(ExitCode) {
        OpenFiles.raiseLimit()
        guard let limit = OpenFiles.limit, let problem = problem(with: limit) else { return }
        notice("error: \(problem)")
        throw .badConfiguration
    }
}
