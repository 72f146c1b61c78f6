import ArgumentParser
import FeedIO
import Feeds
import Foundation
import HTTPServing
import KafkaIO
import Logging
import NewsModel
import NewswireSettings
import OTLPTracing
import PublishEngine
import PublisherService
import StatusServer

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Runs the publisher: reads news, posts notifications, reports outcomes.",
        discussion: """
            Start as many processes as you like, up to the number of partitions: they share the work as one consumer \
            group, and the configured rate is the rate of all of them together.

            SIGTERM (or Ctrl-C) ends it in order: it sends nothing new, waits for replies, stores results and commits \
            offsets. A second one ends it at once; nothing is lost then either, but requests in flight may be sent \
            again.

            SIGHUP reads the configuration again and applies rate, categories, unroutable, payload.message, \
            payload.templates, localization, test, users, quiet, floodGuard, logging.level and the keys: \
            hub.connectionString, hub.trustRoots, http.token, kafka.oauth, and sasl.username and sasl.password of \
            kafka.properties. A file with any problem is refused as a whole; other changes wait for a restart.

            Brokers or topics that are not there yet are waited for: /readyz and the log say which. With \
            --until-caught-up the process ends with 1 instead. It then also ends with 1 if it was stopped before it \
            had caught up, or if records were removed from the topics before it could read them.

            Examples:
              newswire run
              newswire run --until-caught-up
              NEWSWIRE_RATE_PER_SECOND=100 newswire run

            The environment overrides every key of the configuration: rate.perSecond is NEWSWIRE_RATE_PER_SECOND, \
            hub.connectionString is NEWSWIRE_HUB_CONNECTION_STRING.

            Exit codes: 0 after an orderly end, 1 if it had to give up or did not catch up, 78 if the configuration is \
            wrong.
            """)

    @OptionGroup var configurationOption: ConfigurationOption
    @OptionGroup var logOption: LogOption
    @Flag(help: "End once the results of all records that were on the topics at the start are stored and committed.")
    var untilCaughtUp = false

    func run() async throws {
        Terminal.becomeService()
        let loaded = try configurationOption.load()
        let settings = try loaded.usable
        let cores = ProcessInfo.processInfo.activeProcessorCount
        var publisherSettings = try settings.publisherSettings(cores: cores)
        try DescriptorNeeds(
            connections: publisherSettings.engine.connections, lanes: publisherSettings.engine.lanes.count,
            brokers: publisherSettings.kafka.bootstrapServers.count, eventLoops: publisherSettings.shards + cores
        ).secure()
        let threshold = logOption.start(settings.logging)
        let log = Logger(label: "newswire")
        do {
            let exporter = try settings.spanExporter(log: log)
            let token = BearerToken(settings.token?.revealed)
            let path = try configurationOption.path
            publisherSettings.readConnection = { try? SettingsFile(path: path).read().settings?.connection() }
            let publisher = try Publisher(
                settings: publisherSettings, log: log,
                tracer: exporter.map { OTLPTracer($0, sampledPercent: settings.tracing.sampledPercent) })
            Signals.onStop { publisher.drain() }
            SettingsReload(path, "settings", publisherSettings.kafka, log).begin(
                publisher, token: token, inForce: loaded.effective, threshold: logOption.level == nil ? threshold : nil)
            let lanes = settings.engine.lanes.map(\.name).joined(separator: ",")
            log.info("started", metadata: ["group": "\(settings.kafkaSettings.group)", "lanes": "\(lanes)"])
            let status = await settings.serveStatus(of: publisher, token: token, exporter: exporter, log: log)
            do {
                try await publisher.run(untilCaughtUp: untilCaughtUp)
            } catch {
                await exporter?.close()
                await status?.stop()
                throw error
            }
            await exporter?.close()
            // Stopped last, so that a shutdown can be watched.
            await status?.stop()
            var counts: Logger.Metadata = [:]
            for (outcome, count) in publisher.metrics.outcomes {
                counts[outcome.rawValue] = .stringConvertible(count)
            }
            log.info("ended", metadata: counts)
        } catch let failure as PublisherFailure {
            log.critical("ended", metadata: ["reason": "\(failure)"])
            throw failure.isConfiguration ? ExitCode.badConfiguration : .failure
        }
    }
}

extension Settings {
    /// The exporter for spans; `nil` if tracing is off.
    fileprivate func spanExporter(log: Logger) throws -> SpanExporter? {
        guard let endpoint = tracing.endpoint else { return nil }
        let process = ProcessInfo.processInfo
        let resource = [
            ("service.name", "newswire"), ("service.version", ServiceVersion.text),
            ("service.instance.id", kafkaSettings.instance ?? "\(process.hostName):\(process.processIdentifier)"),
        ]
        let headers = tracing.headers.map { (name: $0.name, value: $0.value.revealed) }
        return SpanExporter(try CollectorAddress(endpoint), headers: headers, resource: resource) { reason in
            if let reason {
                log.warning("spans are not exported", metadata: ["reason": "\(reason)"])
            } else {
                log.notice("spans are exported again")
            }
        }
    }

    /// Serves health, metrics and the dashboard. The publisher also runs without them.
    fileprivate func serveStatus(
        of publisher: Publisher, token: BearerToken, exporter: SpanExporter?, log: Logger
    ) async -> RunningServer? {
        let watch = FeedWatch(ingestService) { failure in
            log.warning("feeds are not shown", metadata: ["reason": "\(failure)"])
        }
        let feeds = ingest.feeds.feeds
        return await ServedStatus.begin(on: listen, page: "dashboard", setting: "http.listen", log: log) {
            listen async throws(ListenFailure) in
            try await StatusServer(
                StatusServerSettings(host: listen.host, port: listen.port, token: token),
                publisher: publisher, control: controlRoom, exporter: exporter, log: log
            ) {
                feeds.isEmpty ? nil : watch.report(feeds)
            }.start()
        }
    }
}

extension FeedWatch {
    private static let rowsMax = 200

    /// The report on the feeds of the settings, for the page of a process that follows no feeds.
    func report(_ feeds: [FeedRules]) -> [UInt8] {
        let now = ServiceClock.wall
        var report = IngestReport(at: now, startedAt: now, feeds: [], notReady: [])
        if let known = look() {
            report.feeds = feeds.map {
                FeedStatus($0, known.states[$0.name], isStopped: known.stopped.contains($0.name), at: now)
            }
        } else {
            report.notReady = [
                .init(
                    code: "reading", detail: "what is known of the feeds is being read from Kafka",
                    remedy: "wait a moment; if it stays so, look for errors of Kafka in the log")
            ]
        }
        return report.json(version: ServiceVersion.text, limit: Self.rowsMax)
    }
}
