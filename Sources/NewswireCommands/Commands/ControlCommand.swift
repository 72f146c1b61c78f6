import ArgumentParser
import ControlIO
import EditorialControl
import KafkaIO
import KafkaModel
import NewsModel
import NewswireSettings

struct ControlCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "control",
        abstract: "Shows the standing orders, and the processes that obey them.",
        discussion: """
            A recall stands until it is lifted or lapses, a stop until newswire resume. The author of an order is \
            self-reported; the ACL of the control topic decides who may give orders. A process that runs and has not \
            confirmed an order is named beside it: until it does, it may not obey. A process counts until it says that \
            it has ended, or until others have gone on for 30 seconds without it; after that it is named as silent. A \
            recall ends by the clocks of the processes that live; if none does, one that has ended by this machine's \
            clock is listed all the same, and may have lapsed.

            Examples:
              newswire control
              newswire control --json | jq .scope

            Exit code 1 if the control topic cannot be read.
            """)

    @OptionGroup var configurationOption: ConfigurationOption
    /// Accepted for scripts. The command always lists the orders.
    @Flag(help: .hidden) var list = false
    @Flag(help: "Print one JSON object per order, for programs.") var json = false

    func run() throws {
        let settings = try configurationOption.settings()
        let reading = ControlReading(settings.kafkaSettings, settings.control.topics)
        let view = try ControlTable.view(settings)
        // Read after the orders, because processes confirm only orders that are on the control topic.
        let confirmations = confirmations(reading)
        let now = ServiceClock.wall
        let output = Terminal.standardOutput
        let orders = view.standing(at: now)
        func mayHaveLapsed(_ order: Order) -> Bool { view.mayHaveLapsed(order, at: now) }
        func unconfirmed(_ order: Order) -> [ControlRecord.Beat] { view.unconfirmed(order, confirmations) }
        if json {
            for order in orders {
                try output.line(
                    JSONLine.text {
                        order.list(unconfirmed: unconfirmed(order), mayHaveLapsed: mayHaveLapsed(order), into: &$0)
                    })
            }
            for key in view.unknownOrders {
                try output.line(JSONLine.text { ControlView.list(unknown: key, into: &$0) })
            }
        } else {
            if !orders.isEmpty {
                try output.write(
                    ControlTable.orders(
                        orders, hasColours: output.hasColours, unconfirmed: unconfirmed, mayHaveLapsed: mayHaveLapsed))
            }
            let living = view.signs.living
            let behind = Set(orders.flatMap(unconfirmed).map(\.replica))
            try output.line(
                ControlTable.summary(
                    orders: orders.count, processes: living.count, obeying: living.count - behind.count,
                    unknown: view.unknownOrders.count))
            for silent in view.signs.silent { try output.line(ControlTable.silence(silent).plain) }
        }
        ControlTable.warn(of: view, settings.control.topics.control)
        reportSkipped(view.unreadable, of: settings.control.topics.control, "order")
    }

    /// The processes that have applied each order, by order id, according to the last lines of the audit topic.
    private func confirmations(_ reading: ControlReading) -> [String: Set<String>] {
        do throws(KafkaFailure) {
            return try reading.recentTrail().confirmations
        } catch {
            notice(
                "warning: an order of the last seconds may count as unconfirmed, as its answers cannot be read. \(error)"
            )
            return [:]
        }
    }
}
