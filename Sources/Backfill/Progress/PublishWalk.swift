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

    var progress: PublishProgress
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

    mutating func there(_ number: Int, _ fingerprint: UInt64) {
        steps.append(.there(number: number, fingerprint))
        lastSent = number
    }

    /// Records that the item is bad. A mended item that is bad again stays absent, and must not join the range of new ones.
    mutating func bad(_ number: Int, _ fingerprint: UInt64) {
        guard number > progress.items else { return }
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
        if !progress.add(absent: range) { progress.add(skipped: range, fingerprint) }
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
