import ArgumentParser
import ByteText
import ControlIO
import EditorialControl
import KafkaIO
import KafkaModel
import NewsModel
import NewswireSettings

struct AuditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Shows who ordered what, and which process applied it when.",
        discussion: """
            Examples:
              newswire audit --since 1d
              newswire audit --story quake-1
              newswire audit --json | jq 'select(.do == "stop")'

            An order stands here before it takes effect. One whose author was cut off in between is marked as never \
            applied. With --json a line of a process has its name as replica and, as applied, the deliveries that the \
            order met: waiting, and inFlight to the hub. Times are those of the writer's clock.

            Exit code 1 if the control or the audit topic cannot be read.
            """)

    @OptionGroup var configurationOption: ConfigurationOption
    @Option(help: .init("Only this story.", valueName: "story")) var story: String?
    @Option(
        help: .init("Only lines since then: an RFC 3339 time, or how long ago, e.g. 2h.", valueName: "time"),
        transform: TimeArgument.init(parsing:))
    var since: TimeArgument?
    @Option(
        help: .init("Only lines before then; the same formats.", valueName: "time"),
        transform: TimeArgument.init(parsing:))
    var until: TimeArgument?
    @Flag(help: "Print one JSON object per line, for programs.") var json = false

    func run() throws {
        let settings = try configurationOption.settings()
        let now = ServiceClock.wall
        let reading = ControlReading(settings.kafkaSettings, settings.control.topics)
        // Reads the audit topic first, because an order is written there before it is in force.
        let trail = try reading.trail(since: since?.instant(at: now))
        let scope = story.map { ControlScope.recall(story: $0).key }
        let view = try reading.view()
        ControlTable.warn(of: view, settings.control.topics.control)
        let end = until?.instant(at: now)
        let lines = trail.lines(view, at: now).filter { line in
            (scope.map { $0 == line.entry.scope } ?? true) && (end.map { line.entry.at < $0 } ?? true)
        }
        let output = Terminal.standardOutput
        if json {
            for line in lines { try output.line(JSONLine.text { line.list(into: &$0) }) }
        } else if lines.isEmpty {
            try output.line("no orders")
        } else {
            try output.write(ControlTable.audit(lines, hasColours: output.hasColours))
        }
        if trail.dropped > 0 {
            notice("\(counted(trail.dropped, "older line")) left out; name a later time with --since")
        }
    }
}
