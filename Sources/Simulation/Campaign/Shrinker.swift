/// Takes out of a failing life what it does not need to fail: fewer and shorter faults and orders, less news, the same broken
/// promise.
public struct Shrinker {
    private let promise: Promise
    private let fails: (Scenario) -> Violation?
    /// The number of lives tried.
    public private(set) var tries = 0
    private let triesMax: Int

    /// - Parameter fails: lives a life; the violation, if there is one.
    public init(promise: Promise, triesMax: Int = 1_000, fails: @escaping (Scenario) -> Violation?) {
        self.promise = promise
        self.triesMax = triesMax
        self.fails = fails
    }

    /// The smallest life found that breaks the same promise.
    public mutating func shrink(_ life: Scenario) -> Scenario {
        var smallest = life
        var size = 0
        // Without a fault some news becomes superfluous, and the other way round.
        while size != smallest.parts, tries < triesMax {
            size = smallest.parts
            smallest = reduce(smallest, \.faults)
            smallest = reduce(smallest, \.orders)
            smallest = reduce(smallest, \.news)
            smallest = shorten(smallest)
        }
        return smallest
    }

    /// Halves how long each fault and each order lasts, as often as the life still fails.
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

    /// Delta debugging: leaves out ever smaller parts as long as the life still fails without them.
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
    /// `lasts`, of an order that ends.
    fileprivate var lasting: Duration {
        get { lasts ?? .zero }
        set { lasts = newValue }
    }
}
