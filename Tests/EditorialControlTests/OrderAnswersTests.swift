import EditorialControl
import NewsModel
import Testing

private let start = Instant(milliseconds: 1_795_255_200_000)

private func instruction(_ scope: ControlScope = .stop(.hub), lifts: Bool = false, id: String = "o1") -> Instruction {
    Instruction(id: id, scope: scope, lifts: lifts, at: start, by: "m", reason: "r")
}

private func beats(_ replicas: String...) -> [ControlRecord.Beat] { replicas.map { .init(replica: $0, at: start) } }

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
        answers.take(record, live: live.map { .init(replica: $0, at: start) })
        return answers
    }

    @Test func `an order is applied once every process that stood on the topic before it has said so`() {
        let stop = instruction()
        var answers = given(stop, "a", "b")
        #expect(!answers.isComplete)
        answers.take(answer("a", to: stop, waiting: 12, inFlight: 2))
        #expect(answers.missing.map(\.replica) == ["b"])
        answers.take(answer("b", to: stop, waiting: 1))
        #expect(answers.isComplete)
        #expect((answers.processes, answers.applied) == (2, 2))
        #expect(answers.met == AppliedOrder(order: "o1", waiting: 13, inFlight: 2))
    }

    @Test func `every process knows all that is held, so the one who knows most counts`() {
        let recall = instruction(.recall(story: "S"))
        var answers = given(recall, "a", "b")
        for (replica, held) in [("a", 0), ("b", 1)] {
            var line = answer(replica, to: recall)
            line.applied?.held = held
            answers.take(line)
        }
        #expect(answers.met == AppliedOrder(order: "o1", held: 1))
    }

    @Test func `an order says whose place it takes, and the end of one does not`() {
        let former = Order(id: "o0", scope: .stop(.hub), at: start, by: "n", reason: "flood")
        let stop = instruction()
        #expect(OrderAnswers(to: stop, inPlaceOf: former).former == former)
        #expect(stop.auditEntry(inPlaceOf: former).former == FormerOrder(former))
        let resume = instruction(lifts: true)
        #expect(OrderAnswers(to: resume, inPlaceOf: former).former == nil)
        #expect(resume.auditEntry(inPlaceOf: former).former == nil)
    }

    @Test func `nothing is complete before the order itself was read back`() {
        let stop = instruction()
        var answers = OrderAnswers(to: stop)
        #expect(!answers.isComplete)
        answers.take(answer("a", to: stop))
        #expect(!answers.isComplete)
    }

    @Test func `with no process alive nobody is waited for`() {
        #expect(given(instruction()).isComplete)
        #expect(given(instruction()).processes == 0)
    }

    @Test func `only an answer to this order counts`() {
        let stop = instruction()
        var answers = given(stop, "a")
        answers.take(answer(nil, to: stop))
        answers.take(answer("a", to: stop, order: "an older order"))
        answers.take(answer("a", to: instruction(.stop(.lane("live")))))
        answers.take(answer("a", to: instruction(lifts: true)))
        #expect(!answers.isComplete)
        #expect(answers.applied == 0)
    }

    @Test func `when two editors order the same, the answer to the later order counts for both`() {
        let stop = instruction()
        var answers = given(stop, "a")
        answers.take(.stands(Order(id: "o2", scope: .stop(.hub), at: start, by: "n")), live: beats("a"))
        answers.take(answer("a", to: stop, order: "o2"))
        #expect(answers.isComplete)
    }

    @Test func `the end of an order is answered by its scope, as it has no record that carries an id`() {
        let lift = instruction(.recall(story: "S"), lifts: true)
        var answers = given(lift, "a")
        answers.take(answer("a", to: lift, order: "recall/story/S"))
        #expect(answers.isComplete)
    }

    @Test func `a process that ends is no longer waited for, and one that starts counts when it answers`() {
        let stop = instruction()
        var answers = given(stop, "a", "b")
        answers.take(answer("a", to: stop))
        answers.take(answer("c", to: stop))
        answers.take(.ended(replica: "b"), live: beats("a", "c"))
        #expect(answers.isComplete)
        #expect(answers.processes == 2)
    }
}

struct InstructionTests {
    @Test(arguments: [
        (ControlScope.recall(story: "S"), false, AuditEntry.Action.recall), (.recall(story: "S"), true, .lift),
        (.stop(.hub), false, .stop), (.stop(.feed("dpa")), true, .resume),
    ])
    func `what is announced on the audit topic names the deed`(
        scope: ControlScope, lifts: Bool, action: AuditEntry.Action
    ) {
        let line = instruction(scope, lifts: lifts).auditEntry()
        #expect(line.action == action)
        #expect((line.scope, line.order, line.by, line.reason) == (scope.key, "o1", "m", "r"))
        #expect(line.replica == nil)
    }

    @Test func `a recall lapses after a week, a stop never`() {
        #expect(instruction(.recall(story: "S")).order?.until == start + .seconds(7 * 86_400))
        #expect(instruction().order?.until == nil)
        #expect(instruction().order != nil)
        #expect(instruction(lifts: true).order == nil)
    }
}
