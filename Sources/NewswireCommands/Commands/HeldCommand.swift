import ArgumentParser
import ControlIO
import EditorialControl
import NewsModel
import NewswireSettings

struct HeldCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "held",
        abstract: "Shows the events that wait for their time: id, story, due when, why.",
        discussion: """
            An event that is under embargo for more than a minute, or that quiet hours delay, waits on the held topic. \
            This command reads that topic to its current end. It never shows what an event says.

            Examples:
              newswire held
              newswire held --json | jq -r .story

            To keep an event from being sent, recall its story: newswire recall STORY.

            Exit code 1 if the topic cannot be read.
            """)

    @OptionGroup var configurationOption: ConfigurationOption
    @Flag(help: "Print one JSON object per line, for programs.") var json = false

    func run() throws {
        let settings = try configurationOption.settings()
        let stop = Signals.stopFlag()
        let topic = settings.control.topics.held
        let held = try HeldReading.all(settings.kafkaSettings, topic: topic) { stop.isRaised }
        let output = Terminal.standardOutput
        if json {
            for event in held.events { try output.line(event.json) }
        } else {
            try show(held.events, on: output)
        }
        reportSkipped(held.unreadable, of: topic, "event")
    }

    /// Prints row by row, because there may be a million events.
    private func show(_ events: [HeldEvent], on output: StandardOutput) throws {
        let columns: [TextTable.Column] = ["due", "story", "event", "because", "lane"]
        let widths = [24, 42, 42, 11, 12]
        let table = TextTable(columns, hasColours: output.hasColours)
        try output.line(table.line(columns.map { .init($0.title, colour: .bold) }, widths))
        for event in events where !output.isAbandoned {
            let row: [TextTable.Cell] = [
                .init(event.due.description), .init(event.story), .init(event.eventID), .init(event.because.rawValue),
                .init(event.lane),
            ]
            try output.line(table.line(row, widths))
        }
    }
}

extension HeldEvent {
    /// The event as one line of JSON for programs.
    var json: String {
        JSONLine.object { json in
            json.field("eventId", eventID)
            json.field("story", story)
            json.field("due", due)
            json.field("because", because.rawValue)
        }
    }
}
