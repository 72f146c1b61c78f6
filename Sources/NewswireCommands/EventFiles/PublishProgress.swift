import ByteText
import KafkaModel

/// The items of a file that are on a topic, so that the same command can continue. These are the items up to a number, with
/// some exceptions, and some items after it.
///
/// The file may change after that number and at the exceptions, where a bad line is mended. A fingerprint proves that the rest
/// is unchanged.
package struct PublishProgress: Codable, Hashable, Sendable {
    /// The topic of the events.
    var topic: String
    /// The Kafka cluster; `nil` if it has no name.
    var cluster: String?
    /// The run that the events belong to; `nil` if an earlier version wrote this.
    package var run: String?
    /// The time at which the run began, in milliseconds since 1970.
    package var begunAt: Int64?
    /// Every record written before this time is among the items below. In milliseconds since 1970; `nil` before the first save.
    var coveredUntil: Int64?
    /// The file as it was when it was opened last.
    package var input: FileStamp?
    /// All items up to this number, from 1, are on the topic, or absent, or skipped for good.
    package private(set) var items = 0
    /// Items up to `items` that are not on the topic: bad, or refused by the broker. The same command retries them.
    package private(set) var absent: [ClosedRange<Int>] = []
    /// Items beyond a bound of the command, and bad ones beyond the room of `absent`. They are not retried.
    private(set) var skipped = 0
    /// Items after `items` that are on the topic too, because one broker answered while another did not.
    private var ahead = ItemSet()
    /// The fingerprint of all items on the topic and of skipped ones. It is a sum, so that an item can be added later.
    package private(set) var fingerprint: UInt64 = 0

    /// Maximum number of ranges in `absent` after a range is appended.
    package static let absentMax = 200
    /// Maximum number of ranges in `absent` at all. Mending a line in the middle of a range makes two ranges of it.
    static let splitMax = 2 * absentMax

    package init(topic: String, cluster: String? = nil, run: RunID? = nil, begunAt: Int64? = nil) {
        self.topic = topic
        self.cluster = cluster
        self.run = run?.text
        self.begunAt = begunAt
    }

    /// True if the numbers are consistent. Inconsistent ones come from a file that someone has changed.
    package var isSound: Bool {
        let starts = absent.map(\.lowerBound), ends = absent.map(\.upperBound)
        guard run.map({ RunID($0) != nil }) ?? true else { return false }
        return 0...Self.itemsMax ~= items && 0...items ~= skipped && ahead.isSound
            && starts.first ?? 1 >= 1 && ends.last ?? 0 <= items && zip(ends, starts.dropFirst()).allSatisfy { $0 < $1 }
    }

    /// Maximum number of an item. No file gets this far, and no sum of such numbers overflows.
    fileprivate static let itemsMax = 1 << 50

    /// The number of items that are on the topic.
    package var published: Int {
        items - skipped - absent.reduce(0) { $0 + $1.count } + ahead.count(after: items)
    }

    /// The number of the last item that is on the topic, absent or skipped.
    var last: Int { max(items, ahead.last) }

    /// True if the same command does not need to publish the item.
    package func isDone(_ number: Int) -> Bool {
        number <= items ? absentIndex(number) == nil : ahead.contains(number)
    }

    /// True if publishing the item would split a range of `absent`.
    package func splits(_ number: Int) -> Bool {
        absentIndex(number).map { absent[$0].lowerBound < number && number < absent[$0].upperBound } ?? false
    }

    /// Records that an item is on the topic. It must be the next item or an absent one.
    package mutating func add(published number: Int, _ fingerprint: UInt64) {
        if number > items {
            items = number
        } else if let index = absentIndex(number) {
            let range = absent.remove(at: index)
            if range.upperBound > number { absent.insert(number + 1...range.upperBound, at: index) }
            if range.lowerBound < number { absent.insert(range.lowerBound...number - 1, at: index) }
        } else {
            return
        }
        self.fingerprint &+= fingerprint
    }

    /// Records that an item is on the topic although earlier items are not accounted for.
    ///
    /// - Returns: `false`, without any change, if that cannot be recorded.
    package mutating func add(ahead number: Int, _ fingerprint: UInt64) -> Bool {
        guard number > items, !isDone(number) else { return true }
        if ahead.last <= items { ahead = ItemSet(after: items) }
        let room = ItemSet.bytesMax - absent.count * 40
        guard ahead.insert(number, bytesMax: room) else { return false }
        self.fingerprint &+= fingerprint
        return true
    }

    /// Records that the next items are not on the topic. Items that are already accounted for change nothing.
    ///
    /// - Parameters:
    ///   - fingerprint: the sum over the items.
    /// - Returns: `false`, without any change, if there is no room for the items.
    package mutating func add(absent range: ClosedRange<Int>, _ fingerprint: UInt64) -> Bool {
        guard range.lowerBound > items else { return true }
        if let last = absent.last, last.upperBound + 1 == range.lowerBound {
            absent[absent.count - 1] = last.lowerBound...range.upperBound
        } else if absent.count < Self.absentMax {
            absent.append(range)
        } else {
            return false
        }
        items = range.upperBound
        return true
    }

    /// Records that the next items are skipped, and not retried.
    package mutating func add(skipped range: ClosedRange<Int>, _ fingerprint: UInt64) {
        items = range.upperBound
        skipped += range.count
        self.fingerprint &+= fingerprint
    }

    private func absentIndex(_ number: Int) -> Int? {
        var (low, high) = (0, absent.count)
        while low < high {
            let middle = (low + high) / 2
            if absent[middle].upperBound < number { low = middle + 1 } else { high = middle }
        }
        return low < absent.count && absent[low].contains(number) ? low : nil
    }
}

/// A set of item numbers greater than `base`, as bits.
private struct ItemSet: Codable, Hashable, Sendable {
    /// The number before that of the first bit.
    private var base: Int
    private var bits: [UInt8] = []

    /// Maximum length of `bits`, with one bit for each record that a publisher has in flight by default.
    static let bytesMax = 100_000 / 8

    init(after base: Int = 0) {
        self.base = base
    }

    /// The largest number; 0 if it is empty.
    var last: Int {
        bits.last.map { base + bits.count * 8 - $0.leadingZeroBitCount } ?? 0
    }

    var isSound: Bool { 0...PublishProgress.itemsMax ~= base && bits.count <= Self.bytesMax }

    func contains(_ number: Int) -> Bool {
        let index = number - base - 1
        return index >= 0 && index / 8 < bits.count && bits[index / 8] & 1 << UInt8(index % 8) != 0
    }

    func count(after number: Int) -> Int {
        guard last > number else { return 0 }
        if number <= base { return bits.reduce(0) { $0 + $1.nonzeroBitCount } }
        return (number + 1...last).count(where: contains)
    }

    mutating func insert(_ number: Int, bytesMax: Int) -> Bool {
        let index = number - base - 1
        guard index >= 0, index / 8 < bytesMax else { return false }
        if index / 8 >= bits.count { bits += [UInt8](repeating: 0, count: index / 8 + 1 - bits.count) }
        bits[index / 8] |= 1 << UInt8(index % 8)
        return true
    }

    private enum CodingKeys: CodingKey { case after, bits }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        base = try values.decode(Int.self, forKey: .after)
        bits = Base64.decode(try values.decode(String.self, forKey: .bits)) ?? []
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(base, forKey: .after)
        try values.encode(Base64.encode(bits), forKey: .bits)
    }
}

extension EventFileItem {
    /// A fingerprint that distinguishes the item at this place from others.
    func fingerprint(_ number: Int) -> UInt64 {
        var fingerprint = Fingerprint()
        fingerprint.mix(UInt64(clamping: number))
        switch content {
        case .event(let bytes): fingerprint.mix(bytes)
        case .bad(let reason), .broken(let reason): fingerprint.mix(reason)
        }
        return fingerprint.value
    }
}

/// The records in flight, in the order of their items, and the progress that follows from the broker's answers.
struct PublishWalk {
    private enum Step {
        case sent(index: Int, number: Int, line: Int, UInt64)
        case bad(ClosedRange<Int>, UInt64)
        /// An item that a command wrote to the topic, but could not record before it was killed.
        case there(number: Int, UInt64)
        /// Items beyond a bound of the command.
        case skipped(ClosedRange<Int>, UInt64)
    }

    private(set) var progress: PublishProgress
    /// Bounded by the publisher's own queue, because neighbouring bad or skipped items are one step.
    private var steps: [Step] = []
    /// The steps before this index are done; they are removed in bulk.
    private var done = 0
    /// Indexes of records that the broker refused.
    private var refused: Set<Int> = []
    private var lastSent = 0
    /// Maximum number of absent ranges once everything is answered for.
    private var rangesExpected: Int

    init(_ progress: PublishProgress) {
        self.progress = progress
        rangesExpected = progress.absent.count
    }

    /// Sets the file's stamp in the progress.
    mutating func identify(_ stamp: FileStamp?) { progress.input = stamp }

    /// True if there is room to record that the item is published.
    mutating func canPublish(_ number: Int) -> Bool {
        // Answers are applied in order, so after a published neighbour the item is the first of its range and splits nothing.
        guard number <= progress.items, lastSent != number - 1, progress.splits(number) else { return true }
        rangesExpected += 1
        return rangesExpected <= PublishProgress.splitMax
    }

    mutating func sent(index: Int, number: Int, line: Int, _ fingerprint: UInt64) {
        steps.append(.sent(index: index, number: number, line: line, fingerprint))
        lastSent = number
    }

    /// Records that everything written before this time is among the items of the progress.
    mutating func covers(until milliseconds: Int64) { progress.coveredUntil = milliseconds }

    mutating func there(_ number: Int, _ fingerprint: UInt64) {
        steps.append(.there(number: number, fingerprint))
        lastSent = number
    }

    mutating func bad(_ number: Int, _ fingerprint: UInt64) {
        if done < steps.count, case .bad(let range, let sum) = steps[steps.count - 1], range.upperBound + 1 == number {
            steps[steps.count - 1] = .bad(range.lowerBound...number, sum &+ fingerprint)
        } else {
            steps.append(.bad(number...number, fingerprint))
        }
    }

    /// Records that the item is beyond a bound of the command. A mended item stays absent.
    mutating func skipped(_ number: Int, _ fingerprint: UInt64) {
        guard number > progress.items else { return }
        if done < steps.count, case .skipped(let range, let sum) = steps[steps.count - 1],
            range.upperBound + 1 == number
        {
            steps[steps.count - 1] = .skipped(range.lowerBound...number, sum &+ fingerprint)
        } else {
            steps.append(.skipped(number...number, fingerprint))
        }
    }

    /// - Returns: the line of the refused record.
    mutating func refused(index: Int) -> Int? {
        for step in steps[done...] {
            if case .sent(index, _, let line, _) = step {
                refused.insert(index)
                return line
            }
        }
        return nil
    }

    /// Applies the steps before the first unanswered record: all records with an index below `contiguous` are answered for.
    mutating func settle(before contiguous: Int) {
        while done < steps.count {
            switch steps[done] {
            case .sent(let index, let number, _, let fingerprint):
                if index >= contiguous { return trim() }
                if refused.remove(index) == nil {
                    progress.add(published: number, fingerprint)
                } else {
                    addBad(number...number, fingerprint)
                }
            case .there(let number, let fingerprint): progress.add(published: number, fingerprint)
            case .bad(let range, let fingerprint): addBad(range, fingerprint)
            case .skipped(let range, let fingerprint): progress.add(skipped: range, fingerprint)
            }
            done += 1
        }
        trim()
    }

    private mutating func addBad(_ range: ClosedRange<Int>, _ fingerprint: UInt64) {
        if !progress.add(absent: range, fingerprint) { progress.add(skipped: range, fingerprint) }
    }

    private mutating func trim() {
        // Removes in bulk, because removing from the front moves all other steps.
        guard done > 1024 || done == steps.count else { return }
        steps.removeFirst(done)
        done = 0
    }

    /// Applies all steps when no answer will come any more. Items after an unanswered one count too.
    ///
    /// - Returns: the number of stored records that cannot be recorded as such, so that the same command repeats them.
    mutating func conclude(_ isAcknowledged: (Int) -> Bool) -> Int {
        var isContiguous = true
        var repeated = 0
        for step in steps[done...] {
            switch step {
            case .sent(let index, let number, _, let fingerprint):
                if refused.contains(index) || !isAcknowledged(index) {
                    // An item that an earlier command has passed stays absent.
                    if number > progress.items { isContiguous = false }
                } else if !add(published: number, fingerprint, isContiguous: isContiguous) {
                    repeated += 1
                }
            case .there(let number, let fingerprint):
                if !add(published: number, fingerprint, isContiguous: isContiguous) { repeated += 1 }
            case .bad(let range, let fingerprint):
                // The same command reads items after an unanswered one again.
                if isContiguous { addBad(range, fingerprint) }
            case .skipped(let range, let fingerprint):
                if isContiguous { progress.add(skipped: range, fingerprint) }
            }
        }
        steps = []
        done = 0
        return repeated
    }

    private mutating func add(published number: Int, _ fingerprint: UInt64, isContiguous: Bool) -> Bool {
        guard isContiguous || number <= progress.items else { return progress.add(ahead: number, fingerprint) }
        progress.add(published: number, fingerprint)
        return true
    }
}
