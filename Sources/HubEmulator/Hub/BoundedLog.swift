import DequeModule

/// The newest entries of an endless log, numbered from 1. Beyond the limit on count or weight, the oldest ones are
/// dropped.
public struct BoundedLog<Entry: Sendable>: Sendable {
    private var kept: Deque<(entry: Entry, weight: Int)> = []
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
    public var count: Int { kept.count }

    /// The number of the oldest entry that is kept.
    public var first: Int { total - kept.count + 1 }

    public mutating func append(_ entry: Entry, weight added: Int = 1) {
        while !kept.isEmpty, kept.count == countMax || weight > weightMax - min(added, weightMax) {
            weight -= kept.removeFirst().weight
        }
        kept.append((entry, added))
        weight += added
        total += 1
    }

    /// The entry with this number; `nil` if it was dropped or not appended yet.
    public subscript(number: Int) -> Entry? {
        get { number >= first && number <= total ? kept[number - first].entry : nil }
        set {
            guard let newValue, number >= first, number <= total else { return }
            kept[number - first].entry = newValue
        }
    }

    /// The entries with numbers above `number`, oldest first, at most `limit`.
    public func entries(after number: Int, limit: Int) -> [(number: Int, entry: Entry)] {
        let start = max(number >= total ? total + 1 : number + 1, first)
        guard start <= total, limit > 0 else { return [] }
        let end = min(total, start + min(limit, kept.count) - 1)
        return (start...end).map { ($0, kept[$0 - first].entry) }
    }

    /// Makes this the next entry's number; those in between count as dropped. Does nothing if the number is not ahead.
    mutating func skip(to number: Int) {
        guard number > total + 1 else { return }
        (kept, weight, total) = ([], 0, number - 1)
    }
}
