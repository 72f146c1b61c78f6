/// Tracks which living processes obey an order. Its inputs are the records on the control topic and on the audit topic after the
/// order was written.
///
/// A process writes its first beat and sends nothing before it has read that beat back. If the order precedes that beat on the
/// topic, the process reads the order before it sends anything, so nobody has to wait for it.
///
/// The topic decides which processes are living (`LifeSigns`), never a clock of the sender's machine.
public struct OrderAnswers: Sendable, Hashable {
    public let instruction: Instruction
    /// The order of the same scope that the instruction replaces or ends; `nil` if there was no such order.
    public private(set) var former: Order?
    /// The change of the same scope that followed the instruction on the topic and undid it; `nil` if it took effect last. Only
    /// orders have one.
    public private(set) var successor: OrderChange?
    /// The instruction's id and those of newer orders of the same scope, which may have been applied instead.
    private var ids: Set<String>
    /// The last beats of the processes that must answer, by name; `nil` until the order was read back.
    private var awaited: [String: ControlRecord.Beat]?
    private var silent: [LifeSigns.Silent] = []
    /// True if processes were running without a beat on the topic when the order was read back, because the topic was recreated. A
    /// process whose beat is read later must answer too.
    public var lacksBeats = false
    private var answers: [String: AppliedOrder] = [:]

    /// - Parameter former: the order of the same scope that is in force.
    public init(to instruction: Instruction, inPlaceOf former: Order? = nil) {
        self.instruction = instruction
        self.former = former
        ids = [instruction.id]
    }

    /// - Parameter signs: the processes known from this record and those before it.
    public mutating func apply(_ record: ControlRecord, _ signs: LifeSigns) {
        switch record {
        case .stands(let order) where order.scope == instruction.scope: note(order, signs)
        case .lifted(instruction.scope):
            if instruction.lifts {
                if awaited == nil { expect(signs) }
            } else if awaited == nil {
                former = nil
            } else {
                successor = .lifted(instruction.scope)
            }
        // Another order's tombstone has no effect on this one.
        case .lapsed(instruction.scope, let id, let until):
            if awaited == nil, former?.ends(withLapseOf: id, until: until) == true { former = nil }
        case .beat(let beat):
            guard awaited != nil else { break }
            let isBack = silent.contains { $0.beat.replica == beat.replica }
            silent.removeAll { $0.beat.replica == beat.replica }
            // A silent process whose beat is read runs again and must answer.
            // The first beat of a process that has just started carries no time of the log.
            let wasRunning = lacksBeats && beat.logTime != nil
            if isBack || wasRunning || awaited?[beat.replica] != nil { awaited?[beat.replica] = beat }
        // Only a process's end stops the wait for it: a process that falls silent may still send.
        case .ended(let replica):
            awaited?[replica] = nil
            silent.removeAll { $0.beat.replica == replica }
        default: break
        }
    }

    private mutating func note(_ order: Order, _ signs: LifeSigns) {
        let isOurs = order.id == instruction.id
        if isOurs { expect(signs) }
        // Another desk's order was not yet on the topic when this one was written.
        guard awaited != nil else { return former = order }
        guard !instruction.lifts else { return }
        ids.insert(order.id)
        // A process may write ours again after an invalid record.
        successor = isOurs ? nil : .stands(order)
    }

    private mutating func expect(_ signs: LifeSigns) {
        awaited = Dictionary(signs.living.map { ($0.replica, $0) }) { $1 }
        silent = signs.silent
    }

    /// Counts an answer. A process that started meanwhile counts as soon as it answers.
    public mutating func apply(_ entry: AuditEntry) {
        guard let replica = entry.replica, let applied = entry.applied, entry.scope == instruction.scope.key,
            entry.action == instruction.action,
            // A lift has no record that could carry an id.
            instruction.lifts || entry.order.map(ids.contains) ?? false
        else { return }
        answers[replica] = applied
    }

    /// The last beats of the processes that have not answered, sorted by name.
    public var missing: [ControlRecord.Beat] {
        (awaited ?? [:]).values.filter { answers[$0.replica] == nil }.sorted { $0.replica < $1.replica }
    }

    /// Processes that did not count as living when the order was given, have not reported their end and have not answered. They
    /// are not waited for. Such a process may be cut off from Kafka and still send events that it has read.
    public var unheard: [LifeSigns.Silent] { silent.filter { answers[$0.beat.replica] == nil } }

    /// True if every living process has answered and there is at least one answer. Without an answer, nothing is known.
    public var isComplete: Bool { awaited != nil && missing.isEmpty && applied > 0 }

    /// True if the order is in force and no known process could answer.
    public var isUnheard: Bool { awaited?.isEmpty ?? false && applied == 0 }
    public var applied: Int { answers.count }
    public var processes: Int { applied + missing.count }

    /// The sum of the effects reported by all processes that have answered.
    public var met: AppliedOrder {
        answers.values.reduce(into: AppliedOrder(order: instruction.id)) { $0.add($1) }
    }
}
