import ByteText
import ControlIO
package import EditorialControl
import KafkaModel
package import NewsModel

/// The outcome of an order, for people and for programs.
package struct OrderReport {
    private let instruction: Instruction
    private let answers: OrderAnswers
    private let took: Duration

    package init(_ answers: OrderAnswers, took: Duration) {
        instruction = answers.instruction
        self.answers = answers
        self.took = took
    }

    /// The outcome in one line, without characters that a terminal obeys.
    package var sentence: String {
        let done =
            switch instruction.scope {
            case .recall(let story): instruction.lifts ? "lifted the recall of \(story)" : "recalled \(story)"
            case .stop(let gate): "\(instruction.lifts ? "resumed" : "stopped") \(gate.phrase)"
            }
        return "\(done): \(application)".plain
    }

    private var application: String {
        guard answers.processes > 0 else {
            return instruction.lifts
                ? "no process has confirmed; the order is lifted"
                : "no process has confirmed; the order is in force. A process that starts reads it before it sends anything"
        }
        return
            "applied by \(grouped(answers.applied)) of \(counted(answers.processes, "process", plural: "processes")) "
            + "in \(grouped(took.nanoseconds / 1_000_000)) ms\(encounter)"
    }

    /// The deliveries that the order met in the processes that answered. Nothing is known about other processes.
    private var encounter: String {
        guard !instruction.lifts, answers.applied > 0 else { return "" }
        let met = answers.met
        var found: [String] = []
        switch instruction.scope {
        case .recall:
            if met.waiting > 0 {
                found.append("\(counted(met.waiting, "waiting delivery", plural: "waiting deliveries")) ended")
            }
            if met.held > 0 { found.append("\(grouped(met.held)) \(met.held == 1 ? "was" : "were") held") }
            if found.isEmpty { found.append("nothing of it was waiting") }
        case .stop: found.append(counted(met.waiting, "delivery waits", plural: "deliveries wait"))
        }
        if met.inFlight > 0 {
            found.append("\(grouped(met.inFlight)) \(met.inFlight == 1 ? "was on its way" : "were on their way")")
        }
        let share = answers.missing.isEmpty ? "" : " in those that answered"
        return "; \(found.joined(separator: ", "))\(share)"
    }

    /// The earlier order that this one replaces or ends; `nil` if there was no earlier order.
    package var replacement: String? {
        guard let former = answers.former.map({ FormerOrder($0) }) else { return nil }
        let kind =
            switch instruction.scope {
            case .recall: "recall"
            case .stop: "stop"
            }
        return "\(instruction.lifts ? "it ends" : "it takes the place of") the \(kind) \(former.phrase)".plain
    }

    /// A sentence about a stop of the same category or interest under another name, which the instruction has ended too.
    package static func alsoEnded(_ order: Order) -> String {
        guard case .stop(let gate) = order.scope else { return "" }
        return "it also ends the stop of \(gate.phrase) \(FormerOrder(order).phrase)".plain
    }

    /// The later order that has taken the place of this one, or its end; `nil` if this one is in force.
    package var successor: String? {
        answers.successor.map { "in the meantime \($0.undoing(instruction.scope))".plain }
    }

    /// A warning that the name may be a typing mistake, because nothing matches it; `nil` otherwise.
    ///
    /// - Parameter feeds: the feeds of the configuration.
    package func doubt(feeds: [String]) -> String? {
        guard case .stop(let gate) = instruction.scope, !instruction.lifts else { return nil }
        var doubts: [String] = []
        switch gate {
        case .hub, .lane, .category, .interest: return nil
        case .feed(let name) where !feeds.contains(name):
            let hint = Spelling.nearest(to: name, among: feeds).map { " (did you mean \($0)?)" } ?? ""
            doubts.append("the configuration has no such feed\(hint)")
        case .feed, .run: break
        }
        let met = answers.met
        if answers.applied > 0, met.waiting + met.inFlight == 0 { doubts.append("no process has anything of it") }
        guard !doubts.isEmpty else { return nil }
        return
            "warning: \(gate.phrase) stands stopped, but \(doubts.joined(separator: ", and ")). If the name is wrong: "
            .plain + "newswire resume --config FILE \(gate.word)".plain
    }

    /// The message if there is no order to lift.
    package var standsNot: String {
        switch instruction.scope {
        case .recall(let story): "\(story) is not recalled: there is nothing to lift".plain
        case .stop(let gate): "\(gate.phrase) is not stopped: there is nothing to resume".plain
        }
    }

    /// A line for each process that has not answered, followed by possible reasons. Empty if all have answered.
    ///
    /// - Parameters:
    ///   - audit: the topic on which answers are expected.
    ///   - areHidden: true if an open transaction hides answers.
    package func missing(audit: String, areHidden: Bool = false) -> [String] {
        if answers.isComplete { return [] }
        let lines = answers.missing.map { beat in
            "\(beat.replica) has not answered; last heard at \(beat.at.short) UTC by its own clock".plain
        }
        let outlook =
            instruction.lifts
            ? "It is lifted all the same: a process resumes as soon as it reads that. "
            : "The order stands: a process obeys it as soon as it reads it, and sends nothing if it has ended. "
        let cause =
            areHidden
            ? "They may have answered: \(KafkaFailure.heldUp(topic: audit)) "
            : "One that is well and does not answer may not see \(audit), or not write to it: its /readyz says so. "
        return lines + [outlook + cause + "Look again: newswire control --config FILE"]
    }

    /// A warning for each process that was not awaited because it has been silent for long. Empty if the order is a lift.
    package var silent: [String] {
        if instruction.lifts { return [] }
        return answers.unheard.map { silent in
            ("warning: \(silent.beat.replica) fell silent \(Self.phrase(silent.since)) ago and has not said that it ended: it "
                + "is not waited for. If it still runs but is cut off from Kafka, it may send what it had read before; "
                + "make sure that it has ended").plain
        }
    }

    private static func phrase(_ time: Duration) -> String {
        let seconds = time.components.seconds
        return seconds < 120 ? "\(seconds) s" : "\(grouped(seconds / 60)) min"
    }

    /// Writes further members of the JSON object.
    package typealias Members = (inout JSONWriter) -> Void

    package func json(_ more: Members = { _ in }) -> String {
        JSONLine.text { answers.list(after: took, into: &$0, more) }
    }
}

extension OrderChange {
    /// A sentence that says how this change has undone an order of the scope.
    fileprivate func undoing(_ scope: ControlScope) -> String {
        let kind = scope.verb
        return switch self {
        case .stands(let order): "another \(kind) has taken its place: \(FormerOrder(order).phrase)"
        case .lifted: kind == "recall" ? "the recall was lifted" : "it was resumed"
        }
    }
}

extension FormerOrder {
    /// The order's author, time and reason, as in a sentence that names its kind.
    var phrase: String { "by \(by), \(at.short) UTC" + (reason.map { ": \($0)" } ?? "") }
}

extension Gate {
    /// The name of the gate, as in a sentence.
    package var phrase: String {
        switch self {
        case .hub: "the hub"
        case .lane(let name): "lane \(name)"
        case .category(let name): "category \(name)"
        case .interest(let name): "interest \(name)"
        case .feed(let name): "feed \(name)"
        case .run(let id): "run \(id)"
        }
    }
}

/// Reports what readers already have of a recalled story, and what is not known about it.
package struct RecallReport {
    private let history: StoryHistory
    private let doubts: StoryDoubts

    private static let shownMax = 20

    package init(_ history: StoryHistory, _ doubts: StoryDoubts = StoryDoubts()) {
        (self.history, self.doubts) = (history, doubts)
    }

    /// The lines about what has become known since an earlier reading of the results.
    package func lines(since former: StoryHistory) -> [String] {
        let (accepted, unknown) = (Set(former.accepted), Set(former.unknown))
        let lines =
            history.accepted.filter { !accepted.contains($0) }.map { "accepted meanwhile: \($0.phrase)" }
            + history.unknown.filter { !unknown.contains($0) }.map { "the outcome is unknown: \($0.phrase)" }
        return lines.suffix(Self.shownMax).map(\.plain)
    }

    /// The lines for people, without characters that a terminal obeys.
    package var lines: [String] {
        let (accepted, unknown) = (history.accepted, history.unknown)
        var lines = accepted.suffix(Self.shownMax).map { "already accepted: \($0.phrase)" }
        lines += unknown.suffix(Self.shownMax).map { "may have been accepted, the outcome is unknown: \($0.phrase)" }
        if lines.isEmpty, history.dropped == 0 { lines.append(nothing) }
        let more = max(accepted.count - Self.shownMax, 0) + max(unknown.count - Self.shownMax, 0) + history.dropped
        if more > 0 { lines.append("and \(counted(more, "event")) more: newswire results has all") }
        if let sentence = doubts.sentence { lines.append(sentence) }
        return lines.map(\.plain)
    }

    /// A warning that this concerns the hub of one group only; `nil` if the control topic shows no other group.
    ///
    /// - Parameter replacement: the replacement of the recall, if it has one. It may have reached nobody.
    package static func others(_ groups: [String], _ replacement: WrittenReplacement? = nil) -> String? {
        if groups.isEmpty { return nil }
        let their = replacement == nil ? "" : ", and get no replacement"
        let remedy =
            replacement?.reach.isEmpty ?? true
            ? "" : ", once this replacement has left: a later recall ends one that waits"
        return
            ("warning: the readers of the hub of \(groups.joined(separator: ", ")) are not counted\(their): these results are those "
            + "of one group. Repeat the command with that group's settings\(remedy)").plain
    }

    private var nothing: String {
        doubts.isEmpty
            ? "the hub took nothing of it in the last 7 days"
            : "no result of the last 7 days says that the hub took any of it"
    }
}

extension StoryDoubts {
    /// Says which results may be missing; `nil` without a doubt.
    package var sentence: String? {
        var reasons: [String] = []
        if inFlight > 0 {
            reasons.append(
                inFlight == 1
                    ? "the outcome of 1 request was not stored when the recall arrived"
                    : "the outcomes of \(grouped(inFlight)) requests were not stored when the recall arrived")
        }
        if unanswered > 0 {
            reasons.append(
                "\(counted(unanswered, "process", plural: "processes")) \(unanswered == 1 ? "has" : "have") not answered"
            )
        } else if isUnheard {
            reasons.append("no process has answered")
        }
        if silent > 0 {
            reasons.append(
                "\(counted(silent, "process that has", plural: "processes that have")) fallen silent "
                    + "\(silent == 1 ? "was" : "were") not waited for")
        }
        if lacksResults { reasons.append("results of the last 7 days are missing on their topic") }
        if reasons.isEmpty { return nil }
        // Removed results do not come back.
        let remedy =
            lacksResults && reasons.count == 1
            ? "Publish a text as news if their readers must know of it" : "newswire results shows what is known later"
        return "more may have been accepted: \(reasons.joined(separator: ", and ")). \(remedy)"
    }
}

extension StoryHistory.Sent {
    fileprivate var phrase: String { "\(eventID), \(at.short) UTC, for \(readers)" }

    private var readers: String {
        let all = categories + (hasSingleReaders ? [Replacement.singleReaders] : [])
        return (isTest ? "testers of " : "") + (all.isEmpty ? "no category" : all.joined(separator: ", "))
    }
}

/// Reports the fate of a replacement that was written. It is sent like all news, so a stop delays it too.
package struct ReplacementReport {
    private let written: WrittenReplacement
    private let story: String
    private let stops: [Order]
    private let isConfirmed: Bool
    private let doubts: StoryDoubts
    private let unreached: [String]
    private let reachesAnybody: Bool

    /// - Parameters:
    ///   - unreached: the reasons why not everybody who has the story gets it.
    ///   - reachesAnybody: false if nobody gets it for these reasons.
    ///   - doubts: what was not known when the recall had been answered.
    ///   - lanes: the names of the lanes that the replacement was written to.
    ///   - view: the control topic, read after the recall.
    package init(
        _ written: WrittenReplacement, of story: String, lanes: Set<String>, _ view: ControlView, isConfirmed: Bool,
        _ doubts: StoryDoubts, unreached: [String] = [], reachesAnybody: Bool = true, at wall: Instant
    ) {
        (self.unreached, self.reachesAnybody) = (unreached, reachesAnybody)
        self.doubts = written.remaining(doubts)
        self.written = written
        self.story = story
        self.isConfirmed = isConfirmed
        let audiences = Set(written.reach.map { $0.lowercased() })
        stops = view.standing(at: wall).filter { order in
            switch order.scope {
            case .stop(.hub): true
            case .stop(.lane(let name)): lanes.contains(name)
            case .stop(.category(let name)), .stop(.interest(let name)): audiences.contains(name.lowercased())
            case .stop, .recall: false
            }
        }
    }

    package var sentence: String {
        if let successor = written.successor {
            let fate =
                written.topics.isEmpty
                ? "the replacement does not leave"
                : "what has not left of the replacement for \(readers) does not leave any more"
            return "\(fate): \(successor.undoing(.recall(story: story)))".plain
        }
        if written.reach.isEmpty { return nothing.plain }
        let doubt =
            written.doubtful.isEmpty
            ? ""
            : ". It is not known if the hub took \(story) for \(written.doubtful.joined(separator: ", ")) too: nothing is "
                + "replaced there\(again)"
        return fate + doubt.plain
    }

    private var nothing: String {
        if written.doubtful.contains(Replacement.unnamedReaders) {
            return
                "nothing was replaced: the hub took \(story), but its result was too large for its topic and names no readers"
        }
        if !written.doubtful.isEmpty {
            return "nothing was replaced, because it is not known if the hub took \(story): the outcome is unknown for "
                + written.doubtful.joined(separator: ", ") + again
        }
        guard let sentence = doubts.sentence else {
            return "nothing to replace: the hub took nothing of \(story) in the last 7 days"
        }
        return
            "nothing was replaced: no result of the last 7 days says that the hub took any of \(story), but \(sentence)\(again)"
    }

    /// The remedy if an outcome may still become known.
    private var again: String {
        guard doubts.inFlight > 0 || written.doubtful.contains(Replacement.openSends) else { return "" }
        return ". Recall it again with --replace once newswire results shows the outcome"
    }

    private var fate: String {
        guard unreached.isEmpty else {
            let (whom, others) = reachesAnybody ? ("all who have \(story)", " for the others") : ("anybody", "")
            return
                ("by these settings, the replacement for \(readers) does not reach \(whom): "
                + "\(unreached.joined(separator: "; ")). Publish the text as news\(others), or restore the settings and "
                + "recall \(story) again").plain
        }
        guard let stop = stops.first, case .stop(let gate) = stop.scope else {
            return
                (isConfirmed
                ? "the replacement is on its way to \(readers)"
                : "the replacement for \(readers) waits on its lane: no process has confirmed that it runs. It expires after a day")
                .plain
        }
        return
            ("the replacement for \(readers) waits on its lane: \(gate.phrase) was stopped \(FormerOrder(stop).phrase). It is sent "
            + "once that is resumed, and expires after a day").plain
    }

    private var readers: String {
        let categories = written.reach.filter { $0 != Replacement.singleReaders }.joined(separator: ", ")
        if categories.isEmpty { return Replacement.singleReaders }
        let readers = NewsEvent.story(ofTestKey: story) == nil ? "readers" : "testers"
        return "the \(readers) of \(categories)"
            + (written.reach.contains(Replacement.singleReaders) ? " and to \(Replacement.singleReaders)" : "")
    }
}
