import ByteText

/// The items of a file that are on a topic, so that the same command can continue. These are the items up to a number, with
/// some exceptions, and some items after it.
///
/// The file may change after that number and at the exceptions, where a bad line is mended. A fingerprint proves that the rest
/// is unchanged.
package struct PublishProgress: Codable, Hashable, Sendable {
    package var topic: String
    /// The Kafka cluster; `nil` if it has no name.
    package var cluster: String?
    /// The run that the events belong to; `nil` if an earlier version wrote this.
    package var run: String?
    /// The time at which the run began, in milliseconds since 1970.
    package var begunAt: Int64?
    /// The options that leave events out, as on the command line; `nil` if an earlier version wrote this.
    package var bounds: String?
    /// Every record written before this time is among the items below. In milliseconds since 1970; `nil` before the first save.
    package var coveredUntil: Int64?
    /// The file as it was when it was opened last.
    package var input: FileStamp?
    /// The place of one record of the run, which the broker has acknowledged; `nil` if an earlier version wrote this.
    package var stored: Place?
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

    /// The place of a record on the topic.
    package struct Place: Codable, Hashable, Sendable {
        package var partition: Int32
        package var offset: Int64

        package init(partition: Int32, offset: Int64) { (self.partition, self.offset) = (partition, offset) }

        /// A place that no topic reaches. No command continues a progress with it.
        package static let gone = Place(partition: 0, offset: .max)
    }

    /// Maximum number of ranges in `absent` after a range is appended.
    package static let absentMax = 200
    /// Maximum number of ranges in `absent` at all. Mending a line in the middle of a range makes two ranges of it.
    static let splitMax = 2 * absentMax

    package init(
        topic: String, cluster: String? = nil, run: RunID? = nil, begunAt: Int64? = nil, bounds: String? = nil
    ) {
        self.topic = topic
        self.cluster = cluster
        self.run = run?.text
        self.begunAt = begunAt
        self.bounds = bounds
    }

    /// True if the numbers are consistent. Inconsistent ones come from a file that someone has changed.
    package var isSound: Bool {
        let starts = absent.map(\.lowerBound), ends = absent.map(\.upperBound)
        guard run.map({ RunID($0) != nil }) ?? true, stored.map({ $0.partition >= 0 && $0.offset >= 0 }) ?? true else {
            return false
        }
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
    package var last: Int { max(items, ahead.last) }

    /// The progress from which the next command continues; `nil` if no event can be on the topic.
    package var continuation: PublishProgress? {
        if published > 0 { return self }
        // A command that was killed may have written events of the run, for which the next one searches.
        guard coveredUntil != nil else { return nil }
        var beginning = PublishProgress(topic: topic, cluster: cluster, begunAt: begunAt, bounds: bounds)
        (beginning.run, beginning.coveredUntil) = (run, coveredUntil)
        return beginning
    }

    /// The reason why a command must not continue from this progress; `nil` if it may.
    ///
    /// - Parameters:
    ///   - fresh: the progress of a file that the command begins.
    ///   - other: the only run that may be continued; `nil` for any.
    package func obstacle(to fresh: PublishProgress, run other: String?) -> String? {
        let isElsewhere = cluster != nil && fresh.cluster != nil && cluster != fresh.cluster
        if topic != fresh.topic || isElsewhere {
            let place = "topic \(topic)" + (isElsewhere ? " of another Kafka cluster" : "")
            return "was partly published to \(place) by a command that did not finish; finish it first"
        }
        if let run, let other, other != run {
            return "was partly published as run \(run), and not \(other); finish that run first"
        }
        // What one command left out for good, another one would miss.
        guard let bounds, let ours = fresh.bounds, bounds != ours else { return nil }
        let former = bounds.isEmpty ? "without bounds" : "with \(bounds)"
        return "was partly published \(former) by a command that did not finish; finish it in the same way first"
    }

    /// True if the topic is not the one that has the items, because it was deleted and made again, or cut back.
    ///
    /// - Parameters:
    ///   - ends: the ends of the topic's partitions.
    ///   - runs: the runs of the records on the topic, by their places. Records that are gone are missing.
    package func isOfFormerTopic(ends: [Int32: Int64], runs: [Place: String]) -> Bool {
        guard let stored else { return false }
        return stored.offset >= ends[stored.partition] ?? 0 || runs[stored].map { $0 != run } ?? false
    }

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
    /// - Returns: `false`, without any change, if there is no room for the items.
    package mutating func add(absent range: ClosedRange<Int>) -> Bool {
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

    init(after base: Int = 0) { self.base = base }

    /// The largest number; 0 if it is empty.
    var last: Int { bits.last.map { base + bits.count * 8 - $0.leadingZeroBitCount } ?? 0 }

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
