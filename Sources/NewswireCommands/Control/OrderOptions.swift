import ArgumentParser
import ByteText
import ControlIO
import EditorialControl
import Feeds
import Foundation
import KafkaIO
import KafkaModel
import NewsModel
import NewswireSettings
import PublishEngine

/// The author and the reason of an act, as the audit topic records them.
struct AuthorOptions: ParsableArguments {
    @Option(help: .init("Why, for those who come after; on the audit topic.", valueName: "text")) var reason: String?
    @Option(help: .init("Who does it; by default user@host.", valueName: "name")) var by: String?

    func validate() throws {
        try Self.check(reason, "--reason", bytesMax: Instruction.reasonMax)
        try Self.check(by: by)
    }

    /// The author, self-reported like every field of a record.
    var author: String { by ?? Self.caller }

    static var caller: String {
        "\(NSUserName())@\(ProcessInfo.processInfo.hostName)".cut(toBytes: Instruction.byMax)
    }

    static func check(by name: String?) throws {
        try check(name, "--by", bytesMax: Instruction.byMax)
        guard !Instruction.hasInvisible(name ?? "") else {
            throw ValidationError("--by contains an invisible character.")
        }
    }

    static func check(_ text: String?, _ option: String, bytesMax: Int) throws {
        guard let text else { return }
        guard !text.allSatisfy(\.isWhitespace) else { throw ValidationError("\(option) needs some text.") }
        guard text.utf8.count <= bytesMax else {
            throw ValidationError("\(option) takes at most \(bytesMax) bytes of UTF-8; this has \(text.utf8.count).")
        }
    }
}

/// The options of all commands that give orders.
struct OrderOptions: ParsableArguments {
    @OptionGroup var configurationOption: ConfigurationOption
    @OptionGroup var authorOptions: AuthorOptions
    @Flag(help: "Print the outcome as one JSON object, for programs.") var json = false

    var reason: String? { authorOptions.reason }

    func instruction(_ scope: ControlScope, lifts: Bool = false, replacement: String? = nil) -> Instruction {
        Instruction(
            id: UUID().uuidString.lowercased(), scope: scope, lifts: lifts, at: ServiceClock.wall,
            by: authorOptions.author, reason: reason, replacement: replacement)
    }

    /// The configuration, without the hub's key.
    func settings() throws -> Settings { try configurationOption.settings() }

    /// Gives the order and prints its outcome.
    ///
    /// - Parameter afterwards: runs once the order is in force, even if some processes have not answered. It runs without an
    ///   outcome if there was nothing to lift. Returns the members to add to the JSON object.
    /// - Throws: an exit, after writing the reason to standard error.
    func give(
        _ instruction: Instruction, _ settings: Settings,
        afterwards: (OrderClient, OrderOutcome?) throws(KafkaFailure) -> OrderReport.Members = { _, _ in { _ in } }
    ) throws {
        let instruction = try settings.checked(instruction)
        let clock = ServiceClock()
        var output = ActOutput()
        do {
            let client: OrderClient
            do {
                client = try OrderClient(settings.kafkaSettings, settings.control.topics) { clock.now }
            } catch {
                throw OrderClient.Refusal.failed(error)
            }
            client.onWait = { instruction.lifts ? ControlTable.noteWait() : ControlTable.noteGiven() }
            ControlTable.warn(of: client.view, settings.control.topics.control)
            // Names only, because an order needs no hub in the settings.
            let ours = settings.policy.environment ?? ContentPolicy.production
            if let theirs = client.view.environments.first?.name, theirs != ours {
                throw CommandFailure(
                    "nothing was ordered: the settings are of the environment \(ours), and the control topic "
                        + "\(settings.control.topics.control) is of \(theirs). Use the settings of \(theirs), or a control topic "
                        + "of your own")
            }
            if let approved = Proposal.Deed.approved,
                client.view.order(instruction.scope, at: clock.now.wall)?.id != approved.order
            {
                throw CommandFailure("not carried out: the order was lifted or given again meanwhile; propose it again")
            }
            do {
                let outcome = try client.give(instruction)
                var report = OrderReport(outcome.answers, took: outcome.took)
                // Printed before anything else that takes time, because this line tells an operator that sending has stopped.
                if !json {
                    output.line(report.sentence)
                    if let line = report.replacement { output.line(line) }
                    for order in outcome.alsoEnded { output.line(OrderReport.alsoEnded(order)) }
                }
                report.held = settings.heldCount(stoppedBy: instruction)
                if !json, let line = report.heldSentence { output.line(line) }
                if let line = report.successor { notice(line) }
                if let line = report.doubt(feeds: settings.ingest.feeds.feeds.map(\.name)) {
                    notice(line)
                }
                let missing = report.missing(
                    audit: settings.control.topics.audit, areHidden: outcome.areAnswersHidden)
                for line in missing + report.silent { notice(line) }
                try finish(report, &output) { () throws(KafkaFailure) in try afterwards(client, outcome) }
                if !outcome.answers.isComplete { throw ExitCode.failure }
            } catch OrderClient.Refusal.standsNot {
                let report = OrderReport(OrderAnswers(to: instruction), took: .zero)
                if !json { output.line(report.standsNot) }
                try finish(report, &output) { () throws(KafkaFailure) in try afterwards(client, nil) }
            }
        } catch let refusal as OrderClient.Refusal {
            throw CommandFailure(refusal.sentence)
        }
        try output.end()
    }
}

extension OrderOptions {
    /// Runs `afterwards` and prints the JSON object.
    private func finish(
        _ report: OrderReport, _ output: inout ActOutput, _ afterwards: () throws(KafkaFailure) -> OrderReport.Members
    ) throws {
        let more = Result(catching: afterwards)
        if json { output.line(report.json((try? more.get()) ?? { _ in })) }
        if case .failure(let failure) = more {
            throw CommandFailure("it was ordered, but what follows has failed. \(failure)")
        }
    }
}

extension Settings {
    func orderRules() throws -> OrderRules {
        OrderRules(lanes: engine.lanes.map(\.name), try categoryTable(), policy.interests)
    }

    /// The order after the checks of `OrderRules`.
    ///
    /// - Throws: an exit with 64, after writing the problem to standard error.
    fileprivate func checked(_ instruction: Instruction) throws -> Instruction {
        let rules = try orderRules()
        do throws(OrderProblem) {
            return try rules.checked(instruction)
        } catch {
            if case .unknown(let name, let kind, let known) = error {
                throw ExitCode.wrongUsage(name, isNot: kind, known: known)
            }
            throw ExitCode.wrongUsage(ValidationError(error.sentence))
        }
    }

    /// Returns the number of events on the held topic that the stop of a feed or a run concerns. Processes count what waits on lanes
    /// only.
    ///
    /// - Returns: `nil` for other orders, and if the topic cannot be read in a few seconds.
    fileprivate func heldCount(stoppedBy instruction: Instruction) -> Int? {
        guard !instruction.lifts, case .stop(let gate) = instruction.scope else { return nil }
        switch gate {
        case .feed, .run: break
        case .hub, .lane, .category, .interest: return nil
        }
        let deadline = ServiceClock.steady + .seconds(5)
        var isLate = false
        let table = try? HeldReading.all(
            kafkaSettings, topic: control.topics.held,
            isStopped: {
                isLate = ServiceClock.steady >= deadline
                return isLate
            })
        guard let table, !isLate else { return nil }
        return table.rows.count { row in
            switch gate {
            case .feed(let name): row.feed == name
            case .run(let id): row.run == id
            case .hub, .lane, .category, .interest: false
            }
        }
    }

    /// The control and audit topics as the dashboard uses them.
    var controlRoom: ControlMonitor {
        let clock = ServiceClock()
        return ControlMonitor(kafkaSettings, control.topics, names: namedTopics, approval: control.approval) {
            clock.now
        }
    }
}
