import KafkaModel

/// Which items of a file are on a topic, so that the same command can continue: those up to a number, with some exceptions.
///
/// The file may change behind that number and where the exceptions are (a bad line is mended); the rest must stay as it was,
/// which a fingerprint tells.
package struct PublishProgress: Codable, Hashable, Sendable {
    /// The topic of the events.
    var topic: String
    /// The Kafka cluster; `nil` if it has no name.
    var cluster: String?
    /// All items up to this number, from 1, are on the topic, or absent, or skipped for good.
    package private(set) var items = 0
    /// Of those, the ones that are not on the topic: bad, or refused by the broker. The same command tries them again.
    package private(set) var absent: [ClosedRange<Int>] = []
    /// Bad items beyond what `absent` has room for. They are not tried again.
    private(set) var skipped = 0
    /// Over all items up to `items` but the absent ones. A sum, so that an item can be added later.
    private(set) var fingerprint: UInt64 = 0

    /// The most ranges in `absent`: with the longest numbers they fit into the file that keeps them.
    package static let absentMax = 200

    package init(topic: String, cluster: String? = nil) {
        self.topic = topic
        self.cluster = cluster
    }

    /// The items that are on the topic.
    package var published: Int { items - skipped - absent.reduce(0) { $0 + $1.count } }

    /// The item is one that the same command need not publish.
    package func isDone(_ number: Int) -> Bool { number <= items && absentIndex(number) == nil }

    /// The item can be published now, and that can be recorded: in the middle of a range it takes room for another one.
    package func canPublish(_ number: Int) -> Bool {
        guard absent.count >= Self.absentMax, let index = absentIndex(number) else { return true }
        return absent[index].lowerBound == number || absent[index].upperBound == number
    }

    /// The item is on the topic: the next one, or an absent one.
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

    /// The items are not on the topic. They are the next ones; what is known already changes nothing.
    ///
    /// - Parameters:
    ///   - fingerprint: the sum over them.
    /// - Returns: `false`, and nothing has changed, if there is no room for them.
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

    /// Bad items for which there is no room are not tried again.
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

extension EventFileItem {
    /// Tells the item at this place from others.
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

/// The records under way, in the order of their items, and what follows from the broker's answers.
struct PublishWalk {
    private enum Step {
        case sent(index: Int, number: Int, line: Int, UInt64)
        case bad(ClosedRange<Int>, UInt64)
    }

    private(set) var progress: PublishProgress
    /// Bounded by the publisher's own queue: neighbouring bad items are one step.
    private var steps: [Step] = []
    /// The steps before this index are done; they are removed in bulk.
    private var done = 0
    /// Indexes of records that the broker refused.
    private var refused: Set<Int> = []

    init(_ progress: PublishProgress) {
        self.progress = progress
    }

    mutating func sent(index: Int, number: Int, line: Int, _ fingerprint: UInt64) {
        steps.append(.sent(index: index, number: number, line: line, fingerprint))
    }

    mutating func bad(_ number: Int, _ fingerprint: UInt64) {
        if done < steps.count, case .bad(let range, let sum) = steps[steps.count - 1], range.upperBound + 1 == number {
            steps[steps.count - 1] = .bad(range.lowerBound...number, sum &+ fingerprint)
        } else {
            steps.append(.bad(number...number, fingerprint))
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

    /// All records with a smaller index are answered for.
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
            case .bad(let range, let fingerprint): addBad(range, fingerprint)
            }
            done += 1
        }
        trim()
    }

    private mutating func addBad(_ range: ClosedRange<Int>, _ fingerprint: UInt64) {
        if !progress.add(absent: range, fingerprint) { progress.add(skipped: range, fingerprint) }
    }

    private mutating func trim() {
        // In bulk, as removing from the front moves all the others.
        guard done > 1024 || done == steps.count else { return }
        steps.removeFirst(done)
        done = 0
    }

    /// The last word: no answer will come any more. Items behind an unanswered one count too, as far as there is room to
    /// name the unanswered ones.
    ///
    /// - Returns: the number of stored records that cannot be recorded as such, so that the same command repeats them.
    mutating func conclude(_ isAcknowledged: (Int) -> Bool) -> Int {
        var isFull = false
        var repeated = 0
        let lastStored = steps.indices.last { $0 >= done && isStored(steps[$0], isAcknowledged) } ?? done - 1
        for step in steps[done..<max(lastStored + 1, done)] {
            switch step {
            case .sent(let index, let number, _, let fingerprint):
                if refused.contains(index) || !isAcknowledged(index) {
                    if !isFull { isFull = !progress.add(absent: number...number, fingerprint) }
                } else if isFull, number > progress.items {
                    repeated += 1
                } else {
                    progress.add(published: number, fingerprint)
                }
            case .bad(let range, let fingerprint):
                if !isFull { addBad(range, fingerprint) }
            }
        }
        steps = []
        done = 0
        return repeated
    }

    private func isStored(_ step: Step, _ isAcknowledged: (Int) -> Bool) -> Bool {
        guard case .sent(let index, _, _, _) = step else { return false }
        return !refused.contains(index) && isAcknowledged(index)
    }
}
