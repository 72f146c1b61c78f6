import ByteText

/// The faults that are set, oldest first.
struct FaultPlan: Sendable {
    /// Faults held at most; the oldest gives way.
    static let countMax = 100

    private(set) var faults: [Fault] = []

    mutating func add(_ fault: Fault) {
        if faults.count == Self.countMax { faults.removeFirst() }
        faults.append(fault)
    }

    mutating func removeAll() { faults = [] }

    /// The faults that strike this call, counted as used. Chance is drawn only for faults that have a share.
    mutating func strike(isSend: Bool, using random: inout SeededRandom) -> [Fault] {
        guard !faults.isEmpty else { return [] }
        var struck: [Fault] = []
        for index in faults.indices where isSend || faults[index].everyCall {
            if let share = faults[index].shareMillionths, random.next() % 1_000_000 >= share { continue }
            struck.append(faults[index])
            if let next = faults[index].next { faults[index].next = next - 1 }
        }
        faults.removeAll { $0.next == 0 }
        return struck
    }
}
