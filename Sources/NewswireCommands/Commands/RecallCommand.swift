import ArgumentParser
import ControlIO
import EditorialControl
import KafkaIO
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

            NAME is a story, or the id of an event, whose story is then recalled. A name that is not found in the \
            results of the last 7 days, on the held topic or on the lanes is refused.

            Examples:
              newswire recall quake-1 --reason "agency kill"
              newswire recall quake-1 --reason kill --replace "Withdrawn: quake report"
              newswire recall quake-1 --lift
              newswire recall quake-1 --lift --republish

            It returns when every live process has applied the order, and says what readers already have. The \
            replacement goes, once, to the categories and single readers that the story went to in the last 7 days. It \
            is quiet where a notification can be: in template mode that needs payload.templates. It expires after a \
            day. Readers for whom all outcomes are unknown get none, because it is not known if they have anything to \
            replace. Neither do readers of other groups' hubs, of which the command warns. With control.approval.replace, another person approves it first (newswire approve); the recall is \
            in force at once.

            --lift ends the recall. What the recall has ended does not come back: the command lists it, and \
            --republish puts it on its lane again, for the platforms that did not get it, as far as the originals are \
            still on some topic. If several people do this, it is sent once. A text without a version stays ended if later \
            news of its story has left, waits, is held or is put back.

            Exit code 1 if a process has not answered within 5 seconds, or none at all (the order stands all the \
            same), if the name was never seen, if readers may have the story who get no replacement, if another recall \
            of the story has taken the place of this one before its replacement left, if an event is not put back, \
            or if Kafka fails.
            """)

    @OptionGroup var options: OrderOptions
    @Argument(help: .init("The story, or the id of one of its events.", valueName: "name")) var story: String
    @Option(help: .init("Put this text in its place on the phones that have it.", valueName: "text"))
    var replace: String?
    @Flag(help: "Recall the name at once, whether anything of it was seen or not.") var unseen = false
    @Flag(help: "Lift the recall.") var lift = false
    @Flag(help: "With --lift: put what the recall has ended on its lane again.") var republish = false

    func validate() throws {
        try AuthorOptions.check(story, "NAME", bytesMax: EventLimits.story)
        try AuthorOptions.check(replace, "--replace", bytesMax: Instruction.replacementMax)
        if lift, replace != nil { throw ValidationError("Choose one of --lift and --replace.") }
        if republish, !lift { throw ValidationError("--republish needs --lift: what is recalled is not sent.") }
        if lift, unseen { throw ValidationError("--unseen cannot go with --lift.") }
        if !lift, options.reason == nil {
            throw ValidationError("A recall needs --reason: those who come later must know why.")
        }
    }

    func run() throws {
        let settings = try options.settings()
        let target = try RecallTarget(story, settings, isLift: lift, isUnseen: unseen)
        if let line = target.sentence, !options.json { notice(line) }
        if lift { return try end(target, settings) }
        guard let replace, settings.needsApproval(.replace) else {
            return try give(target, settings, replacement: replace)
        }
        let result = Result { try give(target, settings, replacement: nil) }
        // The recall is in force even if a process has not answered, or if readers get no replacement.
        if case .failure(let error) = result, error as? ExitCode != .failure { throw error }
        let desk = ProposalDesk(settings)
        let deed = try Self.deed(replace, of: target.story, settings, desk.view())
        try desk.propose(deed, options.authorOptions, isJSON: options.json)
        try result.get()
    }

    /// The deed that `recall --replace` proposes.
    ///
    /// - Parameter story: the one that was found.
    static func deed(
        _ replacement: String, of story: String, _ settings: Settings, _ view: ControlView
    ) throws -> Proposal.Deed {
        guard let order = view.order(.recall(story: story), at: ServiceClock.wall) else {
            throw CommandFailure("the recall of \(story) was lifted, so nothing is replaced")
        }
        return Proposal.Deed(
            .replace, arguments: ["recall", "--replace=\(replacement)", "--unseen", "--", story],
            effect: "replace \(story) for the readers \(settings.ofHub) who have it; it was recalled "
                + FormerOrder(order).phrase,
            text: replacement, order: order.id)
    }

    private func give(_ target: RecallTarget, _ settings: Settings, replacement: String?) throws {
        if replacement != nil, let ringing = settings.payload.ringing {
            notice("warning: the replacement will ring: \(ringing.cause); \(ringing.remedy)")
        }
        let instruction = options.instruction(.recall(story: target.story), replacement: replacement)
        let rules = try? settings.contentRules()
        var (leavesDoubt, output) = (false, ActOutput())
        try options.give(instruction, settings) { client, outcome throws(KafkaFailure) in
            let results = settings.engine.resultsTopic
            var history = try client.history(of: target.story, results: results)
            // Lanes that cannot be read must not keep back a replacement.
            let wasProcessed =
                !history.hasResults
                && (try? NameLookup.wasProcessed(
                    target.story, settings.kafkaSettings, settings.namedTopics, client.view, at: ServiceClock.wall))
                    ?? false
            if wasProcessed {
                // Its result may have been stored since the results were read.
                history = try client.history(of: target.story, results: results)
                history.lacksResults = history.lacksResults || !history.hasResults
            }
            var doubts = outcome.map { StoryDoubts($0.answers) } ?? StoryDoubts(isUnheard: true)
            doubts.inFlight += history.sends.inFlight
            doubts.lacksResults = history.lacksResults
            if !options.json {
                for line in RecallReport(history, doubts).lines { output.line(line) }
                if replacement == nil { warnOfOthers(client, settings) }
            }
            var replaced: WrittenReplacement?
            var unreached: [String] = []
            if let replacement, let order = instruction.order {
                let written = try client.replace(
                    replacement, for: order, results: results, lanes: settings.engine.lanes.flatMap(\.topics),
                    inFlight: outcome?.answers.met.inFlight ?? 0, environment: settings.policy.environment,
                    decoders: settings.decoders)
                unreached = rules.map { written.unreached(by: $0) } ?? []
                if doubts.inFlight > 0 {
                    let former = history
                    history = try client.history(of: target.story, results: results)
                    if !options.json { for line in RecallReport(history).lines(since: former) { output.line(line) } }
                }
                if !options.json {
                    let lanes = settings.engine.lanes.filter { !written.topics.isDisjoint(with: $0.topics) }
                    let report = ReplacementReport(
                        written, of: target.story, lanes: Set(lanes.map(\.name)), client.view,
                        isConfirmed: outcome?.answers.applied ?? 0 > 0, doubts, unreached: unreached,
                        reachesAnybody: rules.map { written.reachesAnybody(by: $0) } ?? true, at: ServiceClock.wall)
                    notice(report.sentence)
                    warnOfOthers(client, settings, replaced: written)
                }
                leavesDoubt = written.leavesDoubt(doubts) || !unreached.isEmpty
                doubts = written.remaining(doubts)
                doubts.inFlight += history.sends.inFlight
                replaced = written
            }
            return { json in
                json.field("found", target.found.rawValue)
                history.list(into: &json)
                doubts.list(into: &json)
                replaced?.list(into: &json)
                if !unreached.isEmpty { json.array("notReached", of: unreached) }
            }
        }
        if leavesDoubt { throw ExitCode.failure }
        try output.end()
    }

    private func warnOfOthers(_ client: OrderClient, _ settings: Settings, replaced: WrittenReplacement? = nil) {
        let others = client.view.groups(besides: settings.kafkaSettings.group)
        if let line = RecallReport.others(others, replaced) { notice(line) }
    }

    // MARK: The end of a recall

    private func end(_ target: RecallTarget, _ settings: Settings) throws {
        let instruction = options.instruction(.recall(story: target.story), lifts: true)
        var areAllBack = true
        try options.give(instruction, settings) { client, outcome throws(KafkaFailure) in
            // Nothing was lifted, and nothing is to be sent.
            if outcome == nil, !republish { return { _ in } }
            let history = try client.history(
                of: target.story, results: settings.engine.resultsTopic,
                waitingOn: republish ? settings.namedTopics : nil)
            var republication = Republication(history, settings)
            if republish { areAllBack = try republication.run(client) }
            if !options.json {
                if outcome?.answers.former?.replacement != nil {
                    notice("its replacement is not sent any more, if it still waits")
                }
                republication.show(isDone: republish, story: target.story)
                warnOfOthers(client, settings)
            }
            let done = republication
            return { done.list(isDone: republish, into: &$0) }
        }
        if !areAllBack { throw ExitCode.failure }
    }
}
