import EditorialControl
import KafkaModel
import NewsModel
import Testing

private let start = Instant(milliseconds: 1_795_255_200_000)

private func instruction(_ scope: ControlScope = .stop(.hub), lifts: Bool = false, id: String = "o1") -> Instruction {
    Instruction(id: id, scope: scope, lifts: lifts, at: start, by: "m", reason: "r")
}

private func signs(_ replicas: [String]) -> LifeSigns {
    var signs = LifeSigns(capacity: 10)
    for replica in replicas { signs.heard(.init(replica: replica, at: start, logTime: .zero)) }
    return signs
}

private func beat(_ replica: String, _ seconds: Int64, clock: Duration = .zero) -> ControlRecord {
    .beat(.init(replica: replica, at: start + clock, logTime: .seconds(seconds)))
}

private func answer(
    _ replica: String?, to instruction: Instruction, order: String? = "o1", waiting: Int = 0, inFlight: Int = 0
) -> AuditEntry {
    AuditEntry(
        at: start, scope: instruction.scope.key, action: instruction.action, order: order, replica: replica,
        applied: replica == nil ? nil : AppliedOrder(order: "o1", waiting: waiting, inFlight: inFlight))
}

struct OrderAnswersTests {
    private func given(_ instruction: Instruction, _ live: String...) -> OrderAnswers {
        var answers = OrderAnswers(to: instruction)
        let record: ControlRecord = instruction.order.map { .stands($0) } ?? .lifted(instruction.scope)
        answers.apply(record, signs(live))
        return answers
    }

    @Test func `an order is applied once every process with an earlier beat has answered`() {
        let stop = instruction()
        var answers = given(stop, "a", "b")
        #expect(!answers.isComplete)
        answers.apply(answer("a", to: stop, waiting: 12, inFlight: 2))
        #expect(answers.missing.map(\.replica) == ["b"])
        answers.apply(answer("b", to: stop, waiting: 1))
        #expect(answers.isComplete)
        #expect((answers.processes, answers.applied) == (2, 2))
        #expect(answers.met == AppliedOrder(order: "o1", waiting: 13, inFlight: 2))
    }

    @Test func `the sender of an order learns of the order that took its place, or of its end`() {
        let recall = instruction(.recall(story: "S"))
        let other = Order(id: "o2", scope: recall.scope, at: start, by: "n", reason: "mine")
        var answers = given(recall, "a")
        #expect(answers.successor == nil)
        answers.apply(.stands(other), signs(["a"]))
        #expect(answers.successor == .stands(other))
        answers.apply(answer("a", to: recall, order: "o2"))
        #expect(answers.isComplete, "a process that obeys the later one obeys this one")
        answers.apply(.lifted(recall.scope), signs(["a"]))
        #expect(answers.successor == .lifted(recall.scope))
    }

    @Test func `an order that reached the topic first is the former one, although its sender was not known`() {
        let recall = instruction(.recall(story: "S"))
        let other = Order(id: "o2", scope: recall.scope, at: start, by: "n")
        var answers = OrderAnswers(to: recall)
        answers.apply(.stands(other), signs(["a"]))
        #expect(answers.former == other)
        answers.apply(.stands(Order(id: "o1", scope: recall.scope, at: start, by: "m")), signs(["a"]))
        #expect(answers.former == other && answers.successor == nil)
        #expect(answers.missing.map(\.replica) == ["a"])
    }

    @Test func `the tombstone of a lapsed order does not undo the order that renews it`() {
        let recall = instruction(.recall(story: "S"))
        let lapsed = Order(id: "o0", scope: recall.scope, at: start, by: "n")
        var answers = OrderAnswers(to: recall, inPlaceOf: lapsed)
        answers.apply(.lapsed(recall.scope, order: "o0"), signs(["a"]))
        #expect(answers.former == nil)
        answers.apply(.stands(Order(id: "o1", scope: recall.scope, at: start, by: "m")), signs(["a"]))
        answers.apply(.lapsed(recall.scope, order: "o0"), signs(["a"]))
        #expect(answers.successor == nil && answers.missing.map(\.replica) == ["a"])
        let lift = instruction(.recall(story: "S"), lifts: true)
        var ended = OrderAnswers(to: lift)
        ended.apply(.lapsed(lift.scope, order: "o0"), signs(["a"]))
        #expect(ended.missing.isEmpty, "the lift itself follows")
    }

    @Test func `a process whose beat follows the order must answer if the topic was recreated`() {
        for lacksBeats in [true, false] {
            var answers = given(instruction())
            answers.lacksBeats = lacksBeats
            answers.apply(beat("running", 100), signs([]))
            answers.apply(.beat(.init(replica: "started", at: start)), signs([]))
            #expect(answers.missing.map(\.replica) == (lacksBeats ? ["running"] : []))
        }
    }

    @Test func `held events count by the highest number that any process reports`() {
        let recall = instruction(.recall(story: "S"))
        var answers = given(recall, "a", "b")
        for (replica, held) in [("a", 0), ("b", 1)] {
            var line = answer(replica, to: recall)
            line.applied?.held = held
            answers.apply(line)
        }
        #expect(answers.met == AppliedOrder(order: "o1", held: 1))
    }

    @Test func `an instruction names the former order that it replaces or ends`() {
        let former = Order(id: "o0", scope: .stop(.hub), at: start, by: "n", reason: "flood")
        let stop = instruction()
        #expect(OrderAnswers(to: stop, inPlaceOf: former).former == former)
        #expect(stop.auditEntry(inPlaceOf: former).former == FormerOrder(former))
        let resume = instruction(lifts: true)
        #expect(OrderAnswers(to: resume, inPlaceOf: former).former == former)
        #expect(resume.auditEntry(inPlaceOf: former).former == FormerOrder(former))
    }

    @Test func `an order is not complete before it was read back`() {
        let stop = instruction()
        var answers = OrderAnswers(to: stop)
        #expect(!answers.isComplete)
        answers.apply(answer("a", to: stop))
        #expect(!answers.isComplete)
    }

    @Test func `an order that no process has confirmed is not complete`() {
        let stop = instruction()
        var answers = given(stop)
        #expect(!answers.isComplete && answers.isUnheard)
        #expect(answers.processes == 0)
        answers.apply(answer("a", to: stop))
        #expect(answers.isComplete && !answers.isUnheard)
    }

    @Test func `only an answer to this order counts`() {
        let stop = instruction()
        var answers = given(stop, "a")
        answers.apply(answer(nil, to: stop))
        answers.apply(answer("a", to: stop, order: "an older order"))
        answers.apply(answer("a", to: instruction(.stop(.lane("live")))))
        answers.apply(answer("a", to: instruction(lifts: true)))
        #expect(!answers.isComplete)
        #expect(answers.applied == 0)
    }

    @Test func `when two editors order the same, the answer to the later order counts for both`() {
        let stop = instruction()
        var answers = given(stop, "a")
        answers.apply(.stands(Order(id: "o2", scope: .stop(.hub), at: start, by: "n")), signs(["a"]))
        answers.apply(answer("a", to: stop, order: "o2"))
        #expect(answers.isComplete)
    }

    @Test func `a lift is answered by its scope because its record carries no id`() {
        let lift = instruction(.recall(story: "S"), lifts: true)
        var answers = given(lift, "a")
        answers.apply(answer("a", to: lift, order: "recall/story/S"))
        #expect(answers.isComplete)
    }

    @Test func `a process that ends is not waited for, and a new one counts when it answers`() {
        let stop = instruction()
        var answers = given(stop, "a", "b")
        answers.apply(answer("a", to: stop))
        answers.apply(answer("c", to: stop))
        answers.apply(.ended(replica: "b"), signs(["a", "c"]))
        #expect(answers.isComplete)
        #expect(answers.processes == 2)
    }
}

extension Instruction {
    /// The record written to the control topic.
    fileprivate var written: ControlRecord { order.map { .stands($0) } ?? .lifted(scope) }
}

/// Frozen processes and wrong clocks, both on the sender's machine and on those that obey.
struct OrderLivenessTests {
    /// The control topic as read by the sender of the order.
    private struct Reader {
        var view = ControlView()
        var answers: OrderAnswers
        private var offset: Int64 = 0

        init(_ instruction: Instruction) { answers = OrderAnswers(to: instruction) }

        mutating func read(_ records: ControlRecord...) {
            for record in records {
                let written = record.record(on: "c")
                offset += 1
                guard
                    let record = view.apply(SourceRecord(offset: offset, key: written.key, value: written.value))
                else { continue }
                answers.apply(record, view.signs)
            }
        }
    }

    private static let errors = [Duration.zero, .seconds(40), .seconds(-40), .seconds(3_600), .seconds(-3_600)]

    private func stop(desk: Duration) -> Instruction {
        Instruction(id: "o1", scope: .stop(.hub), at: start + desk, by: "m", reason: "r")
    }

    @Test(arguments: errors, errors)
    func `a frozen process is waited for and named whatever the clocks say`(desk: Duration, process: Duration) {
        let stop = stop(desk: desk)
        var reader = Reader(stop)
        reader.read(beat("a", 100), beat("frozen", 95, clock: process), beat("a", 110), beat("a", 120))
        reader.read(stop.written)
        reader.answers.apply(answer("a", to: stop))
        #expect(!reader.answers.isComplete)
        #expect(reader.answers.missing.map(\.replica) == ["frozen"])
    }

    @Test(arguments: errors, errors)
    func `a process that crashed long ago is named but not waited for`(desk: Duration, process: Duration) {
        let stop = stop(desk: desk)
        var reader = Reader(stop)
        reader.read(beat("crashed", 100, clock: process), beat("a", 110), beat("a", 140), stop.written)
        reader.answers.apply(answer("a", to: stop))
        #expect(reader.answers.isComplete)
        #expect(reader.answers.unheard.map(\.beat.replica) == ["crashed"])
    }

    @Test func `a process that falls silent while it is waited for stays missing`() {
        let stop = stop(desk: .zero)
        var reader = Reader(stop)
        reader.read(beat("frozen", 100), beat("a", 125), stop.written)
        reader.answers.apply(answer("a", to: stop))
        reader.read(beat("a", 135))
        #expect(reader.view.signs.silent.count == 1)
        #expect(reader.answers.missing.map(\.replica) == ["frozen"] && !reader.answers.isComplete)
    }

    @Test func `a silent process whose beat appears must answer`() {
        let stop = stop(desk: .zero)
        var reader = Reader(stop)
        reader.read(beat("back", 100), beat("a", 140), stop.written)
        reader.answers.apply(answer("a", to: stop))
        reader.read(beat("back", 141))
        #expect(reader.answers.missing.map(\.replica) == ["back"])
        #expect(reader.answers.unheard.isEmpty)
        reader.answers.apply(answer("back", to: stop))
        #expect(reader.answers.isComplete)
    }

    @Test func `a process that starts after the order is not waited for`() {
        let stop = stop(desk: .zero)
        var reader = Reader(stop)
        reader.read(beat("a", 100), stop.written, .beat(.init(replica: "new", at: start)))
        reader.answers.apply(answer("a", to: stop))
        #expect(reader.answers.isComplete && reader.answers.unheard.isEmpty)
    }
}

/// The processes that have confirmed an order, for the list and the dashboard.
struct ConfirmationTests {
    private func view(_ records: ControlRecord...) -> ControlView {
        var view = ControlView()
        for (offset, record) in records.enumerated() {
            let written = record.record(on: "c")
            view.apply(SourceRecord(offset: Int64(offset), key: written.key, value: written.value))
        }
        return view
    }

    private func applied(_ replica: String, to offset: Int64?) -> ControlRecord {
        .beat(.init(replica: replica, at: start, logTime: .seconds(10), appliedTo: offset))
    }

    private let order = Order(id: "o1", scope: .stop(.hub), at: start, by: "m")

    @Test func `a process confirms an order by its answer or by a beat with a later offset`() {
        let view = view(
            applied("answers", to: nil), applied("frozen", to: -1), .stands(order), applied("beats", to: 2),
            applied("later", to: 1))
        #expect(view.unconfirmed(order, ["o1": ["answers"], "o0": ["frozen"]]).map(\.replica) == ["frozen", "later"])
    }

    @Test func `a newer order of the same scope must be confirmed again`() {
        var newer = order
        newer.id = "o2"
        let view = view(applied("a", to: 0), .stands(order), applied("a", to: 1), .stands(newer))
        #expect(view.unconfirmed(newer, ["o1": ["a"]]).map(\.replica) == ["a"])
    }

    @Test func `the audit topic shows which processes have applied an order`() {
        var trail = AuditTrail()
        let stop = instruction()
        for line in [stop.auditEntry(), answer("a", to: stop), answer("b", to: instruction(lifts: true))] {
            trail.apply(line)
        }
        #expect(trail.confirmations == ["o1": ["a"]])
    }
}

struct InstructionTests {
    @Test(arguments: [
        (ControlScope.recall(story: "S"), false, AuditEntry.Action.recall), (.recall(story: "S"), true, .lift),
        (.stop(.hub), false, .stop), (.stop(.feed("dpa")), true, .resume),
    ])
    func `the audit line of an instruction names its action`(
        scope: ControlScope, lifts: Bool, action: AuditEntry.Action
    ) {
        let line = instruction(scope, lifts: lifts).auditEntry()
        #expect(line.action == action)
        #expect((line.scope, line.order, line.by, line.reason) == (scope.key, "o1", "m", "r"))
        #expect(line.replica == nil)
    }

    @Test func `a recall lapses after a week, a stop never lapses`() {
        #expect(instruction(.recall(story: "S")).order?.until == start + .seconds(7 * 86_400))
        // The editor's clock is behind, so the week begins with the time of the processes.
        var late = instruction(.recall(story: "S"))
        late.processTime = start + .seconds(8 * 86_400)
        #expect(late.order?.until == start + .seconds(15 * 86_400))
        #expect(instruction().order?.until == nil)
        #expect(instruction().order != nil)
        #expect(instruction(lifts: true).order == nil)
    }
}
