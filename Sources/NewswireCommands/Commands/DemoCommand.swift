import ArgumentParser
import ByteText
import HTTPServing
import HubServer
import KafkaIO
import KafkaModel
import Logging
import NewsModel
import NewswireSettings
import NotificationHub
import PublisherService

struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Shows newswire at work: broker, publisher and hub in one process.",
        discussion: """
            There is nothing to install or configure, and nothing leaves this machine. Sample news goes onto a topic \
            of an embedded broker, the publisher posts it to an embedded hub, and the hub brings it to four phones, \
            which its page shows. A table has the outcome of each event.

            Examples:
              newswire demo                             # a story every few seconds
              newswire demo --once                      # all stories, and the end
              newswire demo --once --events my.ndjson   # your own events

            Exit code 1 with --once unless the hub accepted every event.
            """)

    @Flag(help: "End when every event has its outcome.") var once = false
    @Option(
        help: .init("Events to use instead of the samples, in any format of 'publish'.", valueName: "file"),
        completion: .file())
    var events: String?
    @Option(
        help: .init(
            "The address of the hub and its page; by default 127.0.0.1:8090, or a free port if that is taken.",
            valueName: "host:port"))
    var listen: String?
    @Option(help: .hidden) var port: Int?
    @OptionGroup var logOption: LogOption

    func validate() throws {
        if let port, !(0...65_535).contains(port) { throw ValidationError("--port must be 0 to 65535.") }
        if listen != nil, port != nil { throw ValidationError("Choose one of --listen and --port.") }
        if let listen, NetworkAddress(listen) == nil {
            throw ValidationError("--listen must be host:port, e.g. 127.0.0.1:8090.")
        }
    }

    func run() async throws {
        let output = Terminal.standardOutput
        logOption.start(Settings.Logging(level: .warning))
        OpenFiles.raiseLimit()
        try output.line("newswire demo: a newsroom in one process; nothing leaves this machine")
        let address =
            listen.flatMap { NetworkAddress($0) } ?? port.map { NetworkAddress(host: "127.0.0.1", port: $0) }
        let demo = try await Demo(listen: address, log: Logger(label: "newswire"))
        let isSound = try await show(demo, output)
        if !isSound { throw ExitCode.failure }
    }

    private func show(_ demo: Demo, _ output: StandardOutput) async throws -> Bool {
        let stop = StopFlag()
        Signals.onStop {
            stop.raise()
            demo.publisher.drain()
        }
        try output.line("  look at  \(demo.page)")
        try output.line("  status   http://127.0.0.1:\(demo.status.port)/")
        try output.line("  hub      \(demo.hub.hubName) at \(demo.hub.connectionString.endpoint)")
        try output.line(
            "  broker   \(demo.broker.bootstrapServers.joined(separator: ",")), topics \(Demo.topic), \(Demo.resultsTopic), \(Demo.deadLettersTopic)"
        )
        // Without --once, sample stories appear one at a time, so that people can watch the page.
        let trickles = !once && events == nil
        let (count, bad) = trickles ? (try Demo.samples().count, []) : try demo.feed(events, until: stop)
        for line in bad { notice(line) }
        guard count > 0 else {
            await demo.close()
            if stop.isRaised { return !once }
            notice("error: \(events ?? "the sample file") has no events to show")
            return false
        }
        let seconds = Demo.samplePause.components.seconds
        let pace = trickles ? ", one every \(seconds) s" : ""
        try output.line("  events   \(grouped(count)) for \(Demo.topic)\(pace); the first takes about 3 s\n")
        let table = ResultTable(width: output.isInteractive ? output.width : 120, hasColours: output.hasColours)
        try output.line(table.title)
        enum Ended {
            case publisher
            case newsroom(isComplete: Bool)
            case waiting(ExitCode?)
        }
        var unwritten: ExitCode?
        try await withThrowingTaskGroup(of: Ended.self) { group in
            group.addTask {
                try await demo.publisher.run()
                return .publisher
            }
            group.addTask { .waiting(await follow(demo, trickles ? 0 : count, table)) }
            if trickles { group.addTask { .newsroom(isComplete: try await demo.trickle()) } }
            // If a signal ends the publisher first, there is nothing left to wait for.
            for try await ended in group {
                switch ended {
                case .publisher: group.cancelAll()
                case .newsroom(let isComplete):
                    guard isComplete else { break }
                    do throws(ExitCode) {
                        try output.line(Self.invitation(demo, "That was the sample news."))
                    } catch {
                        unwritten = error
                        demo.publisher.drain()
                    }
                case .waiting(let exit): unwritten = exit ?? unwritten
                }
            }
        }
        await demo.close()
        if let unwritten { throw unwritten }
        let results = demo.results.snapshot
        try output.write(DemoSummary(results, received: demo.hub.receivedCount).text(output))
        return !once || results.count == count && results.outcomes[.accepted] == count && bad.isEmpty
    }

    private static func invitation(_ demo: Demo, _ news: String) -> String {
        "\n\(news) Send more at \(demo.page), or end the demo with Ctrl-C.\n"
    }

    /// Shows results as they arrive: first of `count` events, then, without --once, of everything else that is sent.
    ///
    /// - Returns: the exit of the command if the results cannot be shown.
    private func follow(_ demo: Demo, _ count: Int, _ table: ResultTable) async -> ExitCode? {
        let output = Terminal.standardOutput
        do throws(ExitCode) {
            let show = { (result: ResultRecord) throws(ExitCode) in try output.line(table.line(result)) }
            try await demo.results.wait(for: count, show: show)
            // The wait was interrupted.
            guard demo.results.snapshot.count >= count else { return nil }
            if !once {
                if count > 0 { try output.line(Self.invitation(demo, "All events have their outcome.")) }
                try await demo.results.follow(show: show)
                return nil
            }
        } catch {
            demo.publisher.drain()
            return error
        }
        demo.publisher.drain()
        return nil
    }
}
