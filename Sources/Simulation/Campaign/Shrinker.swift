/// Removes the parts of a failing life that it does not need to break the same promise. The result has fewer and shorter faults
/// and orders, and less news.
public struct Shrinker {
    private let promise: Promise
    private let fails: (Scenario) -> Violation?
    /// Number of lives tried.
    public private(set) var tries = 0
    private let triesMax: Int

    /// - Parameter fails: runs a life; returns its violation, or `nil` if it has no violation.
    public init(promise: Promise, triesMax: Int = 1_000, fails: @escaping (Scenario) -> Violation?) {
        self.promise = promise
        self.triesMax = triesMax
        self.fails = fails
    }

    /// Returns the smallest life found that breaks the same promise.
    public mutating func shrink(_ life: Scenario) -> Scenario {
        var smallest = life
        var size = 0
        // Removing a fault may make some news superfluous, and vice versa.
        while size != smallest.parts, tries < triesMax {
            size = smallest.parts
            smallest = reduce(smallest, \.faults)
            smallest = reduce(smallest, \.orders)
            smallest = reduce(smallest, \.news)
            smallest = shorten(smallest)
        }
        return smallest
    }

    /// Halves the duration of each fault and order repeatedly, as long as the life still fails.
    private mutating func shorten(_ life: Scenario) -> Scenario {
        var smallest = life
        for index in smallest.faults.indices { halve(\.faults[index].lasts, of: &smallest) }
        for index in smallest.orders.indices where smallest.orders[index].lasts != nil {
            halve(\.orders[index].lasting, of: &smallest)
        }
        return smallest
    }

    private mutating func halve(_ duration: WritableKeyPath<Scenario, Duration>, of life: inout Scenario) {
        while life[keyPath: duration] > .milliseconds(1), tries < triesMax {
            var candidate = life
            candidate[keyPath: duration] = candidate[keyPath: duration] / 2
            guard isStillFailing(candidate) else { return }
            life = candidate
        }
    }

    private mutating func isStillFailing(_ life: Scenario) -> Bool {
        tries += 1
        return fails(life)?.promise == promise
    }

    /// Delta debugging: removes ever smaller parts as long as the life still fails without them.
    private mutating func reduce<Part>(_ life: Scenario, _ parts: WritableKeyPath<Scenario, [Part]>) -> Scenario {
        var smallest = life
        var length = max(life[keyPath: parts].count / 2, 1)
        while !smallest[keyPath: parts].isEmpty, tries < triesMax {
            var start = 0
            while start < smallest[keyPath: parts].count, tries < triesMax {
                var candidate = smallest
                let end = min(start + length, candidate[keyPath: parts].count)
                candidate[keyPath: parts].removeSubrange(start..<end)
                if isStillFailing(candidate) { smallest = candidate } else { start = end }
            }
            if length == 1 { break }
            length /= 2
        }
        return smallest
    }
}

extension Scenario {
    fileprivate var parts: Int { faults.count + orders.count + news.count }
}

extension EditorOrder {
    /// The value of `lasts` for an order that ends.
    fileprivate var lasting: Duration {
        get { lasts ?? .zero }
        set { lasts = newValue }
    }
}
