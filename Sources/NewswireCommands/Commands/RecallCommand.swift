import ArgumentParser
import ControlIO
import EditorialControl
import KafkaModel
import NewsModel
import NewswireSettings
import PublishEngine

struct RecallCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recall",
        abstract: "Recalls a story: nothing of it is sent any more, by any process.",
        discussion: """
            What waits of the story ends as canceled. What is on its way to the hub cannot be stopped: it is awaited, \
            never tried again, and reported as accepted with afterRecall, or as unknown. What comes later, in any lane \
            and by any way, ends as canceled too, until the recall is lifted or lapses after 7 days. Readers who have \
            the notification keep it; --replace puts another text in its place where it can still be seen.

            STORY is the story of the event, or its id if it has none, as newswire results shows it.

            Examples:
              newswire recall --config newswire.yaml quake-1 --reason "agency kill"
              newswire recall --config newswire.yaml quake-1 --reason "agency kill" --replace "Withdrawn: earthquake report"
              newswire recall --config newswire.yaml quake-1 --lift

            It returns when every live process has applied the order, and says how long that took. The replacement goes, \
            once, to the categories that the story went to, and to the single readers that its events name, as \
            long as these events are on their topics. It is quiet where a notification \
            can be: in template mode that needs payload.templates, and a warning says so. It expires after a day; nothing \
            is sent if the hub took nothing of \
            the story in the last 7 days.

            Exit code 1 if a process has not answered within 5 seconds (the order stands all the same) or Kafka fails.
            """)

    @OptionGroup var options: OrderOptions
    @Argument(help: ArgumentHelp("The story.", valueName: "story"))
    var story: String
    @Option(help: ArgumentHelp("Put this text in its place on the phones that have it.", valueName: "text"))
    var replace: String?
    @Flag(help: "Lift the recall.")
    var lift = false

    func validate() throws {
        try OrderOptions.check(story, "STORY", bytesMax: EventLimits.story)
        try OrderOptions.check(replace, "--replace", bytesMax: Instruction.replacementMax)
        if lift, replace != nil { throw ValidationError("Choose one of --lift and --replace.") }
        if !lift, options.reason == nil {
            throw ValidationError("A recall needs --reason: whoever comes after must know why.")
        }
    }

    func run() throws {
        let settings = try options.configurationOption.settings()
        if replace != nil, let ringing = settings.payload.ringing {
            Terminal.standardError.line("warning: the replacement will ring: \(ringing.cause); \(ringing.remedy)")
        }
        let instruction = options.instruction(.recall(story: story), lifts: lift, replacement: replace)
        try options.give(instruction, settings) { desk, outcome throws(KafkaFailure) in
            guard let replace, let order = instruction.order else { return nil }
            let reached = try desk.replace(
                replace, for: order, results: settings.engine.resultsTopic, inFlight: outcome.answers.met.inFlight,
                environment: settings.policy.environment)
            if !options.json {
                Terminal.standardError.plainLine(
                    reached.isEmpty
                        ? "nothing to replace: the hub took nothing of \(story) in the last 7 days"
                        : "the replacement is on its way to \(Self.phrase(reached))")
            }
            return reached
        }
    }

    private static func phrase(_ reached: [String]) -> String {
        let categories = reached.filter { $0 != Replacement.singleReaders }.joined(separator: ", ")
        if categories.isEmpty { return Replacement.singleReaders }
        return "the readers of \(categories)"
            + (reached.contains(Replacement.singleReaders) ? " and to \(Replacement.singleReaders)" : "")
    }
}
