import ArgumentParser
import ByteText
import Dispatch
import HTTPServing
import HubIO
import HubTelemetry
import KafkaIO
import KafkaModel
import Logging
import NewsModel
import NewswireSettings
import PublishEngine
import StatusServer
import Synchronization
import TelemetryIO

struct TelemetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "telemetry",
        abstract: "Asks the hub how many phones accepted sends have reached, and records its answers.",
        discussion: """
            A result says that the hub accepted a notification; what became of it the hub tells later, if it is asked \
            (Standard tier only). This process reads the results topic as consumer group {kafka.group}.telemetry, asks \
            about each accepted send after 10 s, 30 s, 1, 2, 5, 10, 20 and 31 minutes until the hub has a last word, \
            and writes what it says to telemetry.topic:

              telemetry: {topic: news.telemetry, sample: {live: 1, backfill: 0.01}, perSecond: 2}

            At 2 questions a second, about one send a second can be followed; a busier lane needs a smaller share \
            (sample). It takes nothing of the publisher's rate, connections or time. Start several, and they share the \
            partitions and the pace. After a crash it asks again about what was open.

            Examples:
              newswire topics --create
              newswire telemetry
              newswire telemetry --until-caught-up    # may take 35 minutes
              newswire results --with-telemetry

            SIGTERM (or Ctrl-C) ends it in an orderly way.

            Exit codes: 0 after an orderly end, 1 if it had to give up, 78 if the configuration is wrong.
            """)

    @OptionGroup var configurationOption: ConfigurationOption
    @OptionGroup var logOption: LogOption
    @Flag(help: "End once every accepted send that was on the results topic at the start has its last record.")
    var untilCaughtUp = false
    @Option(
        help: .init(
            "Serve the page, health and metrics here instead of at telemetry.listen: host:port, or off.",
            valueName: "host:port"))
    var listen: String?

    func validate() throws {
        if let listen, listen != "off", NetworkAddress(listen) == nil {
            throw ValidationError("--listen must be host:port, or off.")
        }
    }

    func run() async throws {
        Terminal.becomeService()
        var settings = try configurationOption.settings(leavingOut: [])
        if let listen { settings.telemetry.listen = NetworkAddress(listen) }
        guard settings.telemetry.isConfigured else {
            notice(
                "\(try configurationOption.path): error: telemetry: is missing; write telemetry: {topic: news.telemetry}"
            )
            throw ExitCode.badConfiguration
        }
        logOption.start(settings.logging)
        OpenFiles.raiseLimit()
        let log = Logger(label: "newswire")
        let service = try TelemetryService(try settings.telemetryService(), log: log)
        Signals.onStop { service.finish() }
        SettingsReload(try configurationOption.path, "login", settings.kafkaSettings, log).begin()
        log.info(
            "asking about accepted sends",
            metadata: [
                "group": "\(settings.kafkaSettings.group).\(TelemetryService.groupName)",
                "topic": "\(settings.telemetry.topic)", "perSecond": "\(settings.telemetry.perSecond)",
            ])
        let last = LastReport(ServiceClock.wall)
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

    /// Serves health, metrics and the page. The service also runs without them.
    fileprivate func serveTelemetryStatus(
        _ log: Logger, report: @escaping @Sendable () async -> TelemetryReport
    ) async -> RunningServer? {
        await ServedStatus.begin(on: telemetry.listen, page: "page", setting: "telemetry.listen", log: log) {
            listen async throws(ListenFailure) in
            let settings = StatusServerSettings(host: listen.host, port: listen.port)
            return try await ReportServer.start(settings, telemetry: report)
        }
    }
}

/// The last report of a service, which is kept after the service has ended.
final class LastReport: Sendable {
    private let kept: Mutex<TelemetryReport>

    init(_ start: Instant) {
        kept = Mutex(
            TelemetryReport(
                at: start, startedAt: start, figures: TelemetryFigures(), open: 0, oldest: nil, problem: nil,
                isAssigned: false))
    }

    var report: TelemetryReport { kept.withLock { $0 } }

    func keep(_ report: TelemetryReport) { kept.withLock { $0 = report } }

    func ask(_ service: TelemetryService) async -> TelemetryReport {
        if let report = await service.report() { keep(report) }
        return report
    }
}

/// A line that is redrawn on a terminal every second, and not shown elsewhere.
final class TelemetryProgress: Sendable {
    private let terminal = Terminal(descriptor: 1)
    private let task: Task<Void, Never>?

    init(_ last: LastReport, _ service: TelemetryService) {
        let terminal = terminal
        guard terminal.isInteractive else {
            task = nil
            return
        }
        task = Task {
            while !Task.isCancelled {
                let text = Self.text(await last.ask(service), width: terminal.width)
                if !Task.isCancelled { terminal.write("\r\u{1B}[K" + text) }
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }

    /// Ends the updates and erases the line.
    func end() {
        guard let task, !task.isCancelled else { return }
        task.cancel()
        terminal.write("\r\u{1B}[K")
    }

    static func text(_ report: TelemetryReport, width: Int) -> String {
        var text = "\(counted(report.figures.ended, "send")) followed, \(grouped(report.open)) open"
        if report.figures.targets > 0 {
            text +=
                "; \(grouped(Int(report.figures.successes))) of \(counted(Int(report.figures.targets), "device")) reached"
        }
        if let problem = report.problem { text += "; \(problem.rawValue)" }
        return TextWidth.cut(text, to: max(width - 1, 10))
    }

    /// The figures of a report for the log.
    static func metadata(_ report: TelemetryReport) -> Logger.Metadata {
        [
            "sends": "\(report.figures.ended)", "open": "\(report.open)", "devices": "\(report.figures.targets)",
            "reached": "\(report.figures.successes)", "records": "\(report.figures.stored)",
        ]
    }
}
