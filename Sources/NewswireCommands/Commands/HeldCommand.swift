import ArgumentParser
import ControlIO
import EditorialControl
import NewsModel
import NewswireSettings
import PublishEngine

struct HeldCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "held",
        abstract: "Shows the events that wait for their time: due when, why, category, language, lane, run, story, id.",
        discussion: """
            An event that is under embargo for more than a minute, or that quiet hours delay, waits on the held topic. \
            This command reads that topic to its current end. It never shows what an event says. Categories and the \
            language are those that the configuration gives an event now; the language is shown where localization sends \
            languages separately.

            Examples:
              newswire held
              newswire held --json | jq -r .story

            To keep an event from being sent, recall its story: newswire recall STORY.

            Exit code 1 if the topic cannot be read.
            """)

    @OptionGroup var configurationOption: ConfigurationOption
    @Option(help: .init("Only this story.", valueName: "story")) var story: String?
    @Flag(help: "Print one JSON object per line, for programs.") var json = false

    func run() throws {
        let settings = try configurationOption.settings()
        let stop = Signals.stopFlag()
        let topic = settings.control.topics.held
        let decoder = settings.decoders.make()
        let router = try settings.contentRules().router
        let held = try HeldReading.all(settings.kafkaSettings, topic: topic) { original, held in
            guard let event = try? decoder.decode(original, topic: held.source.partition.topic) else { return nil }
            var content = HeldTable.Content(story: event.orderKey)
            if case .tagged(let routing) = router.route(event) {
                (content.language, content.categories) = (routing.edition, routing.categories)
            }
            return content
        } isStopped: {
            stop.isRaised
        }
        if stop.isRaised { throw CommandFailure("interrupted before all was read") }
        let rows = held.rows.filter { row in story.map { $0 == row.story } ?? true }
        let output = Terminal.standardOutput
        if json {
            for row in rows { try output.line(row.json) }
        } else {
            try show(rows, on: output)
        }
        reportSkipped(held.unreadable, of: topic, "event")
    }

    /// Prints row by row, because there may be a million events.
    private func show(_ rows: [HeldTable.Row], on output: StandardOutput) throws {
        let columns: [TextTable.Column] = [
            "due (UTC)", "because", "categories", "language", "lane", "run", "story", "event",
        ]
        let widths = [19, 11, 20, 8, 12, 16, 42, 42]
        let table = TextTable(columns, hasColours: output.hasColours)
        try output.line(table.line(columns.map { .init($0.title, colour: .bold) }, widths))
        for row in rows where !output.isAbandoned {
            let event = row.event
            let categories = row.categories.isEmpty ? "-" : row.categories.joined(separator: ",")
            let language = row.content?.language ?? "-"
            let cells: [TextTable.Cell] = [
                .init(event.due.short), .init(event.because.rawValue), .init(categories), .init(language),
                .init(event.lane), .init(row.run ?? "-"), .init(row.story), .init(event.eventID),
            ]
            try output.line(table.line(cells, widths))
        }
    }
}

extension HeldTable.Row {
    fileprivate var categories: [String] { content?.categories ?? [] }

    /// The event as one line of JSON for programs.
    fileprivate var json: String {
        JSONLine.object { json in
            json.field("eventId", event.eventID)
            json.field("story", story)
            json.field("due", event.due)
            json.field("because", event.because.rawValue)
            json.array("categories", of: categories)
            json.field("language", content?.language)
            json.field("lane", event.lane)
            json.field("run", run)
        }
    }
}
