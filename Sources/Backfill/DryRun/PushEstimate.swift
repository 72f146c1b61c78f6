import ByteText

/// The number of pushes to devices, and their cost.
package struct PushEstimate: Sendable, Hashable {
    /// Deliveries to devices; `nil` if the devices of a category are not known. A reader of several of an event's categories
    /// counts in each, because the hub does not report the overlap.
    package let pushes: Int64?
    package let cost: Money?
    /// Costs for example numbers of devices per category, for use without an audience. Prices fall by steps, so one number
    /// alone would mislead.
    private let examples: [Example]
    /// The categories whose devices are not known, in the order of the settings.
    package let unknown: [String]
    package let prices: PushPrices

    private struct Example: Sendable, Hashable {
        var devices: Int64
        /// The cost; `nil` if the tier does not allow that many pushes.
        var cost: Money?
    }

    /// - Parameters:
    ///   - categories: the category names in the settings.
    ///   - audience: devices by category. A single reader counts as one device.
    package init(_ tally: DryRunTally, categories: [String], audience: [String: Int], prices: PushPrices) {
        self.prices = prices
        unknown = categories.filter { tally.count(of: $0) > 0 && audience[$0] == nil }
        let sum = tally.categories.reduce(Int64(tally.readers)) { sum, events in
            let devices = events.key.reduce(0 as Int64) { Self.add($0, Int64(audience[$1] ?? 0)) }
            return Self.add(sum, Self.multiply(devices, Int64(events.value)))
        }
        pushes = unknown.isEmpty ? sum : nil
        cost = pushes.flatMap(prices.cost)
        let events = categories.reduce(0 as Int64) { Self.add($0, Int64(tally.count(of: $1))) }
        examples = [1_000, 100_000].map { Example(devices: $0, cost: prices.cost(of: Self.multiply(events, $0))) }
    }

    private static func add(_ one: Int64, _ other: Int64) -> Int64 {
        let (sum, overflow) = one.addingReportingOverflow(other)
        return overflow ? .max : sum
    }

    private static func multiply(_ one: Int64, _ other: Int64) -> Int64 {
        let (product, overflow) = one.multipliedReportingOverflow(by: other)
        return overflow ? .max : product
    }

    /// A cost from this amount on comes first in the report.
    private static let large = Money(dollars: 100)

    package var isLarge: Bool {
        let cost = pushes == nil ? examples.last?.cost : cost
        // A tier without a price for that many pushes refuses them.
        return cost.map { $0 >= Self.large } ?? true
    }

    /// The estimate as one sentence for people.
    package var text: String {
        let tier = "tier \(prices.tier.rawValue), prices of \(prices.asOf)"
        if let pushes {
            guard let cost else { return "\(grouped(pushes)) pushes, more than the hub's \(tier) allow" }
            let month = prices.base.millionths > 0 ? ", beside the \(Self.text(prices.base)) of the month" : ""
            return "\(Self.text(cost)) for \(grouped(pushes)) pushes (\(tier)\(month))"
        }
        let each = examples.map { example in
            "\(example.cost.map(Self.text) ?? "more than the tier allows") with \(grouped(example.devices)) devices in every category"
        }
        return "unknown without the number of devices (--audience \(unknown.first ?? "World")=120000): "
            + "\(each.joined(separator: ", ")) (\(tier))"
    }

    private static func text(_ money: Money) -> String {
        let cents = money.cents
        return "\(grouped(money.dollars)).\(cents < 10 ? "0" : "")\(cents) US dollars"
    }
}
