/// The newest entries of an endless log, numbered from 1. Beyond the limit on count or weight, the oldest ones are
/// dropped.
public struct BoundedLog<Entry: Sendable>: Sendable {
    private var slots: [(entry: Entry, weight: Int)?] = []
    private var head = 0
    private var held = 0
    private var weight = 0
    private let countMax: Int
    private let weightMax: Int

    /// The number of entries ever appended, which is also the number of the newest.
    public private(set) var total = 0

    /// - Parameters:
    ///   - countMax: the most entries kept, at least 1.
    ///   - weightMax: the largest sum of weights; the newest entry is kept whatever its weight.
    public init(countMax: Int, weightMax: Int = .max) {
        self.countMax = max(1, countMax)
        self.weightMax = weightMax
    }

    /// The number of entries that are kept.
    public var count: Int { held }

    /// The number of the oldest entry that is kept.
    public var first: Int { total - held + 1 }

    public mutating func append(_ entry: Entry, weight added: Int = 1) {
        while held > 0, held == countMax || weight > weightMax - min(added, weightMax) { dropOldest() }
        if held == slots.count { grow() }
        slots[(head + held) % slots.count] = (entry, added)
        held += 1
        weight += added
        total += 1
    }

    /// The entry with this number; `nil` if it was dropped or not appended yet.
    public subscript(number: Int) -> Entry? {
        get {
            guard number >= first, number <= total else { return nil }
            return slots[(head + number - first) % slots.count]?.entry
        }
        set {
            guard let newValue, number >= first, number <= total else { return }
            let index = (head + number - first) % slots.count
            if let weight = slots[index]?.weight { slots[index] = (newValue, weight) }
        }
    }

    /// The entries with numbers above `number`, oldest first, at most `limit`.
    public func entries(after number: Int, limit: Int) -> [(number: Int, entry: Entry)] {
        let start = max(number >= total ? total + 1 : number + 1, first)
        guard start <= total, limit > 0 else { return [] }
        let end = min(total, start + min(limit, held) - 1)
        return (start...end).compactMap { number in self[number].map { (number, $0) } }
    }

    /// Makes this the next entry's number; those in between count as dropped. Does nothing if the number is not ahead.
    mutating func skip(to number: Int) {
        guard number > total + 1 else { return }
        while held > 0 { dropOldest() }
        total = number - 1
    }

    private mutating func dropOldest() {
        weight -= slots[head]?.weight ?? 0
        slots[head] = nil
        head = (head + 1) % slots.count
        held -= 1
    }

    private mutating func grow() {
        let ordered = (0..<held).map { slots[(head + $0) % slots.count] }
        let room = min(countMax, max(16, held * 2)) - held
        slots = ordered + Array(repeating: nil, count: room)
        head = 0
    }
}
