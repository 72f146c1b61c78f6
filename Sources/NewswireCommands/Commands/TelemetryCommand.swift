import ArgumentParser
import ByteText
import HTTPServing
import HubIO
import HubTelemetry
import KafkaIO
import KafkaModel
import Logging
import NewsModel
import NewswireSettings
import PublishEngine
import PublisherService
import StatusServer
import TelemetryIO

struct TelemetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "telemetry",
        abstract: "Asks the hub how many phones accepted sends have reached, and records its answers.",
        discussion: """
            A result says that the hub accepted a notification; what became of it the hub tells later, if it is asked \
            (Standard tier only). This process reads the results topic as consumer group {kafka.group}.telemetry, asks \
            about each accepted send after 10 s, 30 s, 1, 2, 5, 10, 20 and 31 minutes until the hub has a last word, and \
            writes what it says to telemetry.topic:

              telemetry: {topic: news.telemetry, sample: {live: 1, backfill: 0.01}, perSecond: 2}

            telemetry.sample is the share of each lane's sends that is asked about. At 2 questions a second, about one \
            send a second can be followed; a busier lane needs a smaller share.

            It is a process of its own: it takes nothing of the publisher's rate, connections or time. Start several, and \
            they share the partitions and the pace. After a crash it asks again about what was open.

            Examples:
              newswire topics --config newswire.yaml --create
              newswire telemetry --config newswire.yaml
              newswire telemetry --config newswire.yaml --until-caught-up    may take 35 minutes
              newswire results --config newswire.yaml --with-telemetry

            A page, health and metrics are served at telemetry.listen. SIGTERM (or Ctrl-C) ends it in an orderly way.

            Exit codes: 0 after an orderly end, 1 if it had to give up, 78 if the configuration is wrong.
            """)

    @OptionGroup var configurationOption: ConfigurationOption
    @OptionGroup var logOption: LogOption
    @Flag(help: "End once every accepted send that was on the results topic at the start has its last record.")
    var untilCaughtUp = false
    @Option(
        help: ArgumentHelp(
            "Serve the page, health and metrics here instead of at telemetry.listen: host:port, or off.",
            valueName: "address"))
    var listen: String?

    func validate() throws {
        if let listen, listen != "off", NetworkAddress(listen) == nil {
            throw ValidationError("--listen must be host:port, or off.")
        }
    }

    func run() async throws {
        Terminal.becomeService()
        let loaded = try configurationOption.load()
        guard var settings = loaded.settings else { throw ExitCode.badConfiguration }
        if let listen { settings.telemetry.listen = NetworkAddress(listen) }
        guard settings.telemetry.isConfigured else {
            Terminal.standardError.line(
                "\(configurationOption.config): error: telemetry: is missing; write telemetry: {topic: news.telemetry}")
            throw ExitCode.badConfiguration
        }
        logOption.start(settings.logging)
        OpenFiles.raiseLimit()
        let log = Logger(label: "newswire")
        do {
            let service = try TelemetryService(try settings.telemetryService(), log: log)
            let signals = StopSignals { service.finish() }
            defer { withExtendedLifetime(signals) {} }
            log.info(
                "asking about accepted sends",
                metadata: [
                    "group": "\(settings.kafkaSettings.group).\(TelemetryService.groupName)",
                    "topic": "\(settings.telemetry.topic)", "perSecond": "\(settings.telemetry.perSecond)",
                ])
            let started = ServiceClock().now.wall
            let last = LastReport(started)
            let status = await settings.serveTelemetryStatus(log) { await last.ask(service) }
            let progress = TelemetryProgress(last, service)
            defer { progress.end() }
            do {
                try await service.run(untilCaughtUp: untilCaughtUp) { last.keep($0) }
            } catch {
                await status?.stop()
                throw error
            }
            await status?.stop()
            progress.end()
            log.info("ended", metadata: TelemetryProgress.metadata(last.report))
        } catch let failure as KafkaFailure {
            Terminal.standardError.line("error: \(failure)")
            throw failure.isConfiguration ? ExitCode.badConfiguration : .failure
        } catch let problem as TrustRootsProblem {
            Terminal.standardError.line("error: \(problem)")
            throw ExitCode.badConfiguration
        }
    }
}

extension Settings {
    /// The settings of the process that asks the hub.
    /// - Throws: never for settings that were checked.
    fileprivate func telemetryService() throws -> TelemetryService.Settings {
        var kafka = kafkaSettings
        kafka.fetchBudget = 8 << 20
        kafka.produceBudget = 4 << 20
        // Other members of the group wait this long for revoked partitions.
        kafka.releaseTimeout = engine.drainDeadline
        var telemetry = TelemetrySettings(
            sample: telemetry.sample, lanes: engine.lanes.map(\.name), perSecond: telemetry.perSecond,
            group: kafka.group)
        // A question takes a fraction of a second, so few are in flight.
        telemetry.inFlightMax = min(max(telemetry.perSecond / 4, 2), 16)
        var service = TelemetryService.Settings(
            kafka: kafka, telemetry: telemetry, resultsTopic: engine.resultsTopic, topic: self.telemetry.topic,
            connection: try connection(), hub: try hub(), limits: sender, trustRoots: trustRoots)
        service.shutdownDeadline = engine.drainDeadline
        return service
    }

    /// Serves health, metrics and the page.
    ///
    /// - Returns: `nil` if serving is off, or if the port is not available, because the hub is asked anyway.
    fileprivate func serveTelemetryStatus(
        _ log: Logger, report: @escaping @Sendable () async -> TelemetryReport
    ) async -> RunningServer? {
        guard let listen = telemetry.listen else { return nil }
        let settings = StatusServerSettings(host: listen.host, port: listen.port)
        return await ServedStatus.begin(on: listen, page: "page", setting: "telemetry.listen", log: log) {
            () async throws(ListenFailure) in
            try await ReportServer.start(settings, telemetry: report)
        }
    }
}
