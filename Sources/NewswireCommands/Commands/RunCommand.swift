import ArgumentParser
import Foundation
import Logging
import NewsModel
import OTLPTracing
import PublishEngine
import PublisherService
import StatusServer

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Runs the publisher: reads news, posts notifications, reports outcomes.",
        discussion: """
            Start as many processes as there are partitions at most; they share the work as one consumer \
            group, and the configured rate is the rate of all together.

            SIGTERM (or Ctrl-C) ends it in order: nothing new is sent, replies are awaited, results stored, \
            offsets committed. A second one ends it at once; nothing is lost then either, but what was in \
            flight may be sent again.

            SIGHUP reads the configuration again and puts rate, categories, unroutable, payload.message and \
            logging.level in force; a file with a problem is refused whole, and what else changed waits for a restart.

            Examples:
              newswire run --config newswire.yaml
              newswire run --config newswire.yaml --until-caught-up

            Every key of the configuration can be overridden from the environment: hub.connectionString is \
            NEWSWIRE_HUB_CONNECTION_STRING, rate.perSecond is NEWSWIRE_RATE_PER_SECOND.
            """)

    @OptionGroup var configurationOption: ConfigurationOption
    @OptionGroup var logOption: LogOption
    @Flag(help: "End once every record that was on the topics at the start is settled, stored and committed.")
    var untilCaughtUp = false

    func run() async throws {
        let reading = try configurationOption.reading()
        guard let settings = reading.settings else { throw ExitCode.badConfiguration }
        let threshold = logOption.start(settings.logging)
        let log = Logger(label: "newswire")
        do {
            let exporter = try settings.makeExporter(log: log)
            let publisher = try Publisher(
                settings: try settings.publisherSettings(cores: ProcessInfo.processInfo.activeProcessorCount), log: log,
                tracer: exporter.map { OTLPTracer($0, sampledPercent: settings.tracing.sampledPercent) })
            let signals = SignalWatch { publisher.drain() }
            let reload = SettingsReload(
                configurationOption, inForce: reading.effective, publisher: publisher, log: log, threshold: threshold,
                keepsThreshold: logOption.logLevel != nil)
            defer { withExtendedLifetime((signals, reload)) {} }
            log.info(
                "started",
                metadata: [
                    "group": "\(settings.kafka.group)", "lanes": "\(settings.lanes.map(\.name).joined(separator: ","))",
                ])
            let status = await settings.serveStatus(of: publisher, exporter: exporter, log: log)
            do {
                try await publisher.run(untilCaughtUp: untilCaughtUp)
            } catch {
                await exporter?.close()
                await status?.stop()
                throw error
            }
            await exporter?.close()
            // Last, so that a shutdown can be watched.
            await status?.stop()
            var counts: Logger.Metadata = [:]
            for (outcome, count) in publisher.telemetry.outcomes {
                counts[outcome.rawValue] = .stringConvertible(count)
            }
            log.info("ended", metadata: counts)
        } catch let failure as PublisherFailure {
            log.critical("ended", metadata: ["reason": "\(failure)"])
            if case .settings = failure { throw ExitCode.badConfiguration }
            throw ExitCode.failure
        }
    }
}
