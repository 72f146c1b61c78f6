import ByteText
import ControlIO
package import EditorialControl
import KafkaModel
package import NewsModel

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
                ? "no process is running" : "no process is running; one that starts obeys before it sends anything"
        }
        return
            "applied by \(grouped(answers.applied)) of \(counted(answers.processes, "process", plural: "processes")) "
            + "in \(grouped(took.nanoseconds / 1_000_000)) ms\(encounter)"
    }

    private var encounter: String {
        let met = answers.met
        let under =
            met.inFlight > 0
            ? ", \(grouped(met.inFlight)) \(met.inFlight == 1 ? "was on its way" : "were on their way")" : ""
        switch (instruction.scope, instruction.lifts) {
        case (.recall, false):
            guard met.waiting + met.inFlight > 0 else { return "; nothing of it was waiting" }
            return "; \(counted(met.waiting, "waiting delivery", plural: "waiting deliveries")) ended\(under)"
        case (.stop, false):
            guard met.waiting + met.inFlight > 0 else { return "" }
            return "; \(counted(met.waiting, "delivery waits", plural: "deliveries wait"))\(under)"
        case (_, true): return ""
        }
    }

    /// Nothing was to be lifted.
    package var standsNot: String {
        switch instruction.scope {
        case .recall(let story): "\(story) is not recalled: there is nothing to lift".plain
        case .stop(let gate): "\(gate.phrase) is not stopped: there is nothing to resume".plain
        }
    }

    /// Who has not answered, line by line; none if all have.
    package func missing(at wall: Instant) -> [String] {
        if answers.isComplete { return [] }
        let lines = answers.missing.map { beat in
            "\(beat.replica) has not answered; last heard \(Self.ago(wall - beat.at))"
        }
        return lines + [
            "The order stands: a process obeys it as soon as it reads it, and sends nothing if it has ended. "
                + "Look again: newswire control --config FILE --list"
        ]
    }

    static func ago(_ age: Duration) -> String {
        let seconds = max(0, age.components.seconds)
        return seconds < 120 ? "\(seconds) s ago" : "\(seconds / 60) min ago"
    }

    package func json(replaced: [String]? = nil) -> String {
        JSONLine.text { answers.list(after: took, replaced: replaced, into: &$0) }
    }
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
