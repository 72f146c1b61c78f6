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
    /// Number of events on the held topic that a stop of a feed or a run concerns; `nil` if they were not counted.
    package var held: Int?

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
        if answers.applied > 0, met.waiting + met.inFlight + (held ?? 0) == 0 {
            doubts.append("no process has anything of it")
        }
        guard !doubts.isEmpty else { return nil }
        return
            "warning: \(gate.phrase) stands stopped, but \(doubts.joined(separator: ", and ")). If the name is wrong: "
            .plain + "newswire resume --config FILE \(gate.word)".plain
    }

    /// A sentence about the held events that a stop concerns, which its answers do not count; `nil` without such events.
    package var heldSentence: String? {
        guard let held, held > 0 else { return nil }
        return
            "\(counted(held, "event")) of it \(held == 1 ? "is" : "are") held, and \(held == 1 ? "does" : "do") not leave before it is resumed"
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
        JSONLine.text { json in
            answers.list(after: took, into: &json) { json in
                if let held { json.field("heldEvents", held) }
                more(&json)
            }
        }
    }
}

extension OrderChange {
    /// A sentence that says how this change has undone an order of the scope.
    func undoing(_ scope: ControlScope) -> String {
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
