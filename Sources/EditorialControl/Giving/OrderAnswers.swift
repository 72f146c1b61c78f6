/// Whether every live process obeys an order: told what comes in on the control topic and on the audit topic after the order
/// was written.
///
/// A process writes its first beat, and sends nothing before it has read that beat back: whoever does not stand on the control
/// topic before the order has read the order before it sends anything, and need not be waited for.
public struct OrderAnswers: Sendable, Hashable {
    public let instruction: Instruction
    /// The order about the same that stood before, and whose place it takes; `nil` for none.
    public let former: Order?
    /// The instruction's id, and those of newer orders about the same, which may have been applied in its place.
    private var ids: Set<String>
    /// `nil` until the order itself was read back.
    private var awaited: [ControlRecord.Beat]?
    private var answers: [String: AppliedOrder] = [:]

    /// - Parameter former: what stands about the same. It is lifted by the end of an order, and no longer of interest then.
    public init(to instruction: Instruction, inPlaceOf former: Order? = nil) {
        self.instruction = instruction
        self.former = instruction.lifts ? nil : former
        ids = [instruction.id]
    }

    /// - Parameter live: the processes that live, as the record and those before it say.
    public mutating func take(_ record: ControlRecord, live: [ControlRecord.Beat]) {
        switch record {
        case .stands(let order) where order.scope == instruction.scope && !instruction.lifts:
            if order.id == instruction.id { awaited = live }
            if awaited != nil { ids.insert(order.id) }
        case .lifted(instruction.scope) where instruction.lifts: awaited = awaited ?? live
        // What has ended sends nothing, and what stays is heard again.
        case .beat, .ended:
            let heard = Dictionary(live.map { ($0.replica, $0) }) { $1 }
            awaited = awaited?.compactMap { heard[$0.replica] }
        default: break
        }
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
        (awaited ?? []).filter { answers[$0.replica] == nil }.sorted { $0.replica < $1.replica }
    }

    public var isComplete: Bool { awaited != nil && missing.isEmpty }
    public var applied: Int { answers.count }
    public var processes: Int { applied + missing.count }

    /// What the order met in all processes that have answered.
    public var met: AppliedOrder {
        answers.values.reduce(into: AppliedOrder(order: instruction.id)) { $0.add($1) }
    }
}
