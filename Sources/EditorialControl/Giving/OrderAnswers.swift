/// Whether every live process obeys an order: told what comes in on the control topic and on the audit topic after the order
/// was written.
///
/// A process writes its first beat, and sends nothing before it has read that beat back: whoever does not stand on the control
/// topic before the order has read the order before it sends anything, and need not be waited for.
///
/// Whether a process is living is decided by the topic (`LifeSigns`), never by a clock of the machine that gives the order.
public struct OrderAnswers: Sendable, Hashable {
    public let instruction: Instruction
    /// The order about the same that stood before: the instruction takes its place, or ends it. `nil` for none.
    public let former: Order?
    /// The instruction's id, and those of newer orders about the same, which may have been applied in its place.
    private var ids: Set<String>
    /// The last beats of the processes that must answer, by their names; `nil` until the order itself was read back.
    private var awaited: [String: ControlRecord.Beat]?
    private var silent: [LifeSigns.Silent] = []
    private var answers: [String: AppliedOrder] = [:]

    /// - Parameter former: what stands about the same.
    public init(to instruction: Instruction, inPlaceOf former: Order? = nil) {
        self.instruction = instruction
        self.former = former
        ids = [instruction.id]
    }

    /// - Parameter signs: the processes, as the record and those before it say.
    public mutating func take(_ record: ControlRecord, _ signs: LifeSigns) {
        switch record {
        case .stands(let order) where order.scope == instruction.scope && !instruction.lifts:
            if order.id == instruction.id { expect(signs) }
            if awaited != nil { ids.insert(order.id) }
        case .lifted(instruction.scope) where instruction.lifts: if awaited == nil { expect(signs) }
        case .beat(let beat):
            guard awaited != nil else { break }
            let isBack = silent.contains { $0.beat.replica == beat.replica }
            silent.removeAll { $0.beat.replica == beat.replica }
            // One that comes back runs, and must answer.
            if isBack || awaited?[beat.replica] != nil { awaited?[beat.replica] = beat }
        // Only this ends the wait for a process: one that falls silent meanwhile may still send.
        case .ended(let replica):
            awaited?[replica] = nil
            silent.removeAll { $0.beat.replica == replica }
        default: break
        }
    }

    private mutating func expect(_ signs: LifeSigns) {
        awaited = Dictionary(signs.living.map { ($0.replica, $0) }) { $1 }
        silent = signs.silent
    }

    /// A process that started meanwhile counts as soon as it answers.
    public mutating func take(_ entry: AuditEntry) {
        guard let replica = entry.replica, let applied = entry.applied, entry.scope == instruction.scope.key,
            entry.action == instruction.action,
            // The end of an order has no record that could carry an id.
            instruction.lifts || entry.order.map(ids.contains) ?? false
        else { return }
        answers[replica] = applied
    }

    /// The last beats of those that have not answered, in the order of their names.
    public var missing: [ControlRecord.Beat] {
        (awaited ?? [:]).values.filter { answers[$0.replica] == nil }.sorted { $0.replica < $1.replica }
    }

    /// Processes that no longer count as living when the order was given, have not said that they ended, and have not answered.
    /// They are not waited for. One of them that is cut off from Kafka may still send what it has read.
    public var unheard: [LifeSigns.Silent] { silent.filter { answers[$0.beat.replica] == nil } }

    /// Every living process has answered. Without a process that answers, nothing is known: it is not complete.
    public var isComplete: Bool { awaited != nil && missing.isEmpty && applied > 0 }

    /// The order stands, and no process is known that could answer.
    public var isUnheard: Bool { awaited?.isEmpty ?? false && applied == 0 }
    public var applied: Int { answers.count }
    public var processes: Int { applied + missing.count }

    /// What the order met in all processes that have answered.
    public var met: AppliedOrder {
        answers.values.reduce(into: AppliedOrder(order: instruction.id)) { $0.add($1) }
    }
}
