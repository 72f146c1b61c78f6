import ArgumentParser
import EditorialControl
import KafkaIO
import NewsModel

struct StopCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop",
        abstract: "Stops sending: everything, a lane, a category, an interest, a feed or a run.",
        discussion: """
            A gate closes in front of the hub, in every process. Nothing is skipped and nothing is lost: what is \
            stopped waits on its topic or in a bounded window, retries included, until newswire resume lets it go on; \
            once a lane's window is full of it, the rest of the lane waits behind it. News that grows too old \
            meanwhile (expiresAt, maxAge) ends as expired. What is on its way to the hub cannot be stopped.

            What to stop:
              hub               everything
              lane:LANE         a lane of the configuration
              category:NAME     a category of the configuration; an event of several waits for all of them
              interest:KIND:ID  what readers may follow, e.g. interest:team:bvb; likewise
              feed:FEED         what newswire ingest writes from this feed
              run:ID            events with the header nw-run: ID

            Examples:
              newswire stop hub --reason "wrong alert is going out"
              newswire stop lane:backfill
              newswire stop feed:agency --reason "repeats yesterday's news"

            It returns when every live process has applied the order, and says how many deliveries wait, and \
            of a feed or a run also how many events are held; a warning follows if the name \
            of a feed or a run fits nothing. stop hub needs --reason.

            Exit code 1 if a process has not answered within 5 seconds, or none at all (the order stands all the \
            same), or if Kafka fails.
            """)

    @OptionGroup var options: OrderOptions
    @OptionGroup var gateArgument: GateArgument

    func validate() throws {
        if gateArgument.gate == .hub, options.reason == nil {
            throw ValidationError("Stopping the hub needs --reason: those who come later must know why.")
        }
    }

    func run() throws {
        let settings = try options.settings()
        try options.give(options.instruction(.stop(gateArgument.gate)), settings)
    }
}

struct ResumeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Resumes what newswire stop has stopped.",
        discussion: """
            Examples:
              newswire resume hub
              newswire resume lane:backfill

            newswire control shows what is stopped. A lane that an operator has paused on the dashboard of a \
            process, and one that the flood guard has stopped (newswire release), are other matters.

            With control.approval.resumeHub the hub is resumed when another person approves it: newswire approve.

            It returns when every live process has applied the order, and says whose stop it ends. What is not stopped \
            stays as it is; exit code 0.

            Exit code 1 if a process has not answered within 5 seconds, or none at all (the stop is over all the same), or \
            if Kafka fails.
            """)

    @OptionGroup var options: OrderOptions
    @OptionGroup var gateArgument: GateArgument

    func run() throws {
        let settings = try options.settings()
        if gateArgument.gate == .hub, settings.needsApproval(.resumeHub) {
            let desk = ProposalDesk(settings)
            let deed = try Self.deed(desk.view())
            return try desk.propose(deed, options.authorOptions, isJSON: options.json)
        }
        try options.give(options.instruction(.stop(gateArgument.gate), lifts: true), settings)
    }

    /// The deed that `resume hub` proposes.
    static func deed(_ view: ControlView) throws -> Proposal.Deed {
        guard let order = view.order(.stop(.hub), at: ServiceClock.wall) else {
            throw CommandFailure("the hub is not stopped, so there is nothing to resume")
        }
        return Proposal.Deed(
            .resumeHub, arguments: ["resume", "hub"],
            effect: "resume the hub, which was stopped \(FormerOrder(order).phrase)", order: order.id)
    }
}

struct GateArgument: ParsableArguments {
    @Argument(
        help: .init("hub, lane:LANE, category:NAME, interest:KIND:ID, feed:FEED or run:ID.", valueName: "what"),
        completion: ConfiguredNames.gates,
        transform: { word in
            guard let gate = Gate(word: word) else {
                throw ValidationError(
                    "'\(word.plain)' is not hub, lane:LANE, category:NAME, interest:KIND:ID, feed:FEED or run:ID.")
            }
            return gate
        })
    var gate: Gate

    func validate() throws {
        guard gate.path.utf8.count <= EventLimits.story else {
            throw ValidationError("A name has at most \(EventLimits.story) bytes.")
        }
    }
}
