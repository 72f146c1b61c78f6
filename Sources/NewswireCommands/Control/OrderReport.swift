import ByteText
import ControlIO
package import EditorialControl
import KafkaModel
package import NewsModel
import NewswireSettings

/// What came of an order, for people and for programs.
package struct OrderReport {
    private let instruction: Instruction
    private let answers: OrderAnswers
    private let took: Duration

    package init(_ answers: OrderAnswers, took: Duration) {
        instruction = answers.instruction
        self.answers = answers
        self.took = took
    }

    /// One line, without characters that a terminal obeys.
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

    /// What the order met in those that answered; nothing is known of the others.
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

    /// Whose order it takes the place of, or ends; `nil` for nobody's.
    package var replacement: String? {
        guard let former = answers.former.map({ FormerOrder($0) }) else { return nil }
        let kind =
            switch instruction.scope {
            case .recall: "recall"
            case .stop: "stop"
            }
        return "\(instruction.lifts ? "it ends" : "it takes the place of") the \(kind) \(former.phrase)".plain
    }

    /// A name that nothing answers to may be a typing mistake; `nil` unless it may.
    ///
    /// - Parameter feeds: those of the configuration.
    package func doubt(feeds: [String]) -> String? {
        guard case .stop(let gate) = instruction.scope, !instruction.lifts else { return nil }
        var doubts: [String] = []
        switch gate {
        case .hub, .lane, .category: return nil
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

    /// Nothing was to be lifted.
    package var standsNot: String {
        switch instruction.scope {
        case .recall(let story): "\(story) is not recalled: there is nothing to lift".plain
        case .stop(let gate): "\(gate.phrase) is not stopped: there is nothing to resume".plain
        }
    }

    /// Processes that have not answered, line by line, and why that may be; none if all have.
    ///
    /// - Parameter audit: the topic where answers are looked for.
    package func missing(audit: String) -> [String] {
        if answers.isComplete { return [] }
        let lines = answers.missing.map { beat in
            "\(beat.replica) has not answered; last heard at \(beat.at.short) UTC by its own clock".plain
        }
        let outlook =
            instruction.lifts
            ? "It is lifted all the same: a process goes on as soon as it reads that. "
            : "The order stands: a process obeys it as soon as it reads it, and sends nothing if it has ended. "
        let cause =
            "One that is well and does not answer may not see \(audit), or not write to it: its /readyz says so. "
        return lines + [outlook + cause + "Look again: newswire control --config FILE --list"]
    }

    /// A warning for each process that was not waited for, as it has been silent for long; none for the end of an order.
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

extension FormerOrder {
    /// As in a sentence that names its kind: who gave it, when and why.
    var phrase: String { "by \(by), \(at.short) UTC" + (reason.map { ": \($0)" } ?? "") }
}

extension Gate {
    /// As in a sentence.
    package var phrase: String {
        switch self {
        case .hub: "the hub"
        case .lane(let name): "lane \(name)"
        case .category(let name): "category \(name)"
        case .feed(let name): "feed \(name)"
        case .run(let id): "run \(id)"
        }
    }
}

/// One JSON object as a line.
enum JSONLine {
    static func text(_ write: (inout JSONWriter) -> Void) -> String {
        var bytes: [UInt8] = []
        JSONWriter.write(into: &bytes, write)
        return String(decoding: bytes, as: UTF8.self)
    }
}
