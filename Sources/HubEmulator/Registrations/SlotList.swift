/// Slot numbers in ascending order.
struct SlotList: Sendable {
    /// Almost every handle has one registration, so one slot needs no array.
    private enum Storage: Sendable {
        case one(UInt32)
        case many([UInt32])
    }

    private var storage = Storage.many([])

    var all: [UInt32] {
        switch storage {
        case .one(let slot): [slot]
        case .many(let slots): slots
        }
    }

    var count: Int {
        switch storage {
        case .one: 1
        case .many(let slots): slots.count
        }
    }

    var isEmpty: Bool { count == 0 }

    mutating func insert(_ slot: UInt32) {
        guard case .many(var slots) = storage else {
            if case .one(let other) = storage, other != slot {
                storage = .many([min(other, slot), max(other, slot)])
            }
            return
        }
        guard !slots.isEmpty else {
            storage = .one(slot)
            return
        }
        // Replacing the storage keeps the array uniquely referenced, so that it is changed in place.
        storage = .one(slot)
        if let last = slots.last, last >= slot {
            let index = Self.position(of: slot, in: slots)
            if slots[index] != slot { slots.insert(slot, at: index) }
        } else {
            slots.append(slot)
        }
        storage = .many(slots)
    }

    mutating func remove(_ slot: UInt32) {
        switch storage {
        case .one(let held): if held == slot { storage = .many([]) }
        case .many(var slots):
            storage = .one(slot)
            let index = Self.position(of: slot, in: slots)
            if index < slots.count, slots[index] == slot { slots.remove(at: index) }
            storage = .many(slots)
        }
    }

    /// The index at which `slot` is, or at which it would be inserted.
    private static func position(of slot: UInt32, in slots: [UInt32]) -> Int {
        var (low, high) = (0, slots.count)
        while low < high {
            let middle = (low + high) / 2
            if slots[middle] < slot { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
