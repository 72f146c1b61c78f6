import ArgumentParser
import ByteText
import ControlIO
import EditorialControl
import KafkaModel
import NewsModel
import NewswireSettings
import PublisherService

struct ControlCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "control",
        abstract: "Shows the standing orders, and the processes that obey them.",
        discussion: """
            A recall stands until it is lifted or lapses, a stop until newswire resume. BY is what the order says about who \
            gave it; who may give orders at all, the ACL of the control topic decides.

            Examples:
              newswire control --config newswire.yaml --list
              newswire control --config newswire.yaml --list --json | jq .scope

            Exit code 1 if the control topic cannot be read.
            """)

    @OptionGroup var configurationOption: ControlConfigurationOption
    @Flag(help: "List the standing orders; so it does without this word.")
    var list = false
    @Flag(help: "Print one JSON object per order, for programs.")
    var json = false

    func run() throws {
        let settings = try configurationOption.settings()
        do {
            let view = try ControlReading(settings.kafkaSettings, settings.control.topics).view()
            let now = ServiceClock().now.wall
            let output = Terminal.standardOutput
            let orders = view.standing(at: now)
            if json {
                for order in orders { try output.line(JSONLine.text { order.list(into: &$0) }) }
            } else {
                if !orders.isEmpty { try output.write(ControlTable.orders(orders, hasColours: output.hasColours)) }
                try output.line(ControlTable.summary(orders: orders.count, processes: view.live(at: now).count))
            }
            if view.unreadable > 0 {
                Terminal.standardError.line(
                    "skipped \(counted(view.unreadable, "record")) of \(settings.control.topics.control) that no order can be read from"
                )
            }
        } catch let failure as KafkaFailure {
            Terminal.standardError.line("error: \(failure)")
            throw ExitCode.failure
        }
    }
}
