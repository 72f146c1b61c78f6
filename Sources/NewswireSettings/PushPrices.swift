/// The prices of a hub's pushes, from the settings or from Azure's price list.
///
/// A push is a delivery to one device. Prices are per month and subscription. Other pushes of the same month are not known
/// here.
package struct PushPrices: Sendable, Hashable {
    package enum Tier: String, Sendable, CaseIterable {
        case free, basic, standard
    }

    /// The price of each further million, up to a number of millions in the month.
    package struct Step: Sendable, Hashable {
        /// The upper bound in millions a month; `nil` for all further millions.
        package var upToMillions: Int?
        package var price: Money

        package init(upToMillions: Int?, price: Money) {
            self.upToMillions = upToMillions
            self.price = price
        }
    }

    package var tier: Tier
    /// The price of a month of the tier, independent of its pushes.
    package var base: Money
    /// Millions of pushes a month without a further price.
    package var includedMillions: Int
    /// The steps in ascending order. The last one is for all further millions.
    package var perMillion: [Step]
    /// The month of the price list, e.g. `2026-11`.
    package var asOf: String

    package init(tier: Tier, base: Money, includedMillions: Int, perMillion: [Step], asOf: String) {
        self.tier = tier
        self.base = base
        self.includedMillions = includedMillions
        self.perMillion = perMillion
        self.asOf = asOf
    }

    /// The prices as of November 2026. The free tier ends at its included million: further pushes are refused, not billed.
    package static func standard(_ tier: Tier) -> PushPrices {
        let (base, included, steps): (Int64, Int, [Step]) =
            switch tier {
            case .free: (0, 1, [])
            case .basic: (10, 10, [Step(upToMillions: nil, price: Money(dollars: 1))])
            case .standard:
                (
                    200, 10,
                    [
                        Step(upToMillions: 100, price: Money(dollars: 10)),
                        Step(upToMillions: nil, price: Money(millionths: 2_500_000)),
                    ]
                )
            }
        return PushPrices(
            tier: tier, base: Money(dollars: base), includedMillions: included, perMillion: steps, asOf: "2026-11")
    }

    /// The price of a number of pushes in a month without other pushes, excluding the month's base. It is `nil` if the tier has
    /// no price for that number.
    package func cost(of pushes: Int64) -> Money? {
        let million: Int64 = 1_000_000
        var from = Int64(includedMillions) * million
        guard pushes > from else { return Money(millionths: 0) }
        var cost = Money(millionths: 0)
        for step in perMillion {
            let end = step.upToMillions.map { Int64($0) * million } ?? .max
            if end > from {
                cost = cost + step.price.times(min(pushes, end) - from, per: million)
                from = end
            }
            if pushes <= end { return cost }
        }
        return nil
    }
}

/// An amount of US dollars, in millionths. Arithmetic saturates.
package struct Money: Sendable, Hashable, Comparable {
    package var millionths: Int64

    package init(millionths: Int64) {
        self.millionths = millionths
    }

    package init(dollars: Int64) {
        let (product, overflow) = dollars.multipliedReportingOverflow(by: 1_000_000)
        millionths = overflow ? .max : product
    }

    /// Reads an amount such as `10`, `2.5` or `10.00`: at most six digits after the point, no sign.
    package init?(parsing text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard let whole = parts.first.flatMap({ SettingsValue.integer(String($0)) }), parts.count <= 2,
            whole <= 1_000_000_000
        else { return nil }
        var fraction: Int64 = 0
        if parts.count == 2 {
            guard (1...6).contains(parts[1].count), let digits = SettingsValue.integer(String(parts[1])) else {
                return nil
            }
            fraction = Int64(digits)
            for _ in parts[1].count..<6 { fraction *= 10 }
        }
        millionths = Int64(whole) * 1_000_000 + fraction
    }

    package static func < (lhs: Money, rhs: Money) -> Bool { lhs.millionths < rhs.millionths }

    package static func + (lhs: Money, rhs: Money) -> Money {
        let (sum, overflow) = lhs.millionths.addingReportingOverflow(rhs.millionths)
        return Money(millionths: overflow ? .max : sum)
    }

    /// The amount for `count` units, if this amount is for each `per` units.
    func times(_ count: Int64, per: Int64) -> Money {
        let product = Int128(millionths) * Int128(count) / Int128(per)
        return Money(millionths: Int64(clamping: product))
    }

    /// The whole dollars, rounded down.
    package var dollars: Int64 { millionths / 1_000_000 }
    /// The cents after the whole dollars, 0 to 99.
    package var cents: Int64 { millionths / 10_000 % 100 }
}

// MARK: Reading

extension PushPrices {
    init(_ reader: inout SettingsReader) {
        self = .standard(reader.text("prices.tier").flatMap(Tier.init(rawValue:)) ?? .standard)
        if reader.isGiven("prices.base"), let base = reader.money("prices.base") { self.base = base }
        if reader.isGiven("prices.includedMillions") { includedMillions = reader.integer("prices.includedMillions") }
        if reader.isGiven("prices.perMillion"), let steps = reader.priceSteps("prices.perMillion") {
            perMillion = steps
        }
        if let month = reader.text("prices.asOf") {
            if Self.isMonth(month) {
                asOf = month
            } else {
                reader.report("prices.asOf", "is not a month", "write the month of the price list, e.g. 2026-11")
            }
        }
    }

    private static func isMonth(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        return parts.count == 2 && parts[0].count == 4 && parts[1].count == 2
            && SettingsValue.integer(String(parts[0])) != nil
            && SettingsValue.integer(String(parts[1])).map { (1...12).contains($0) } == true
    }

    /// Reads steps such as `[[100, 10.00], [null, 2.50]]`, which must ascend and end with one without an upper bound.
    static func steps(_ text: String) -> [Step]? {
        let bare = text.filter { !$0.isWhitespace }
        guard bare.hasPrefix("[["), bare.hasSuffix("]]") else { return nil }
        var steps: [Step] = []
        for part in bare.dropFirst(2).dropLast(2).replacing("],[", with: ";").split(separator: ";") {
            let pair = part.split(separator: ",", omittingEmptySubsequences: false)
            guard pair.count == 2, let price = Money(parsing: String(pair[1])),
                steps.last?.upToMillions != nil || steps.isEmpty
            else { return nil }
            var end: Int?
            if pair[0] != "null" {
                guard let millions = SettingsValue.integer(String(pair[0])), millions <= 1_000_000_000,
                    millions > steps.last?.upToMillions ?? 0
                else { return nil }
                end = millions
            }
            steps.append(Step(upToMillions: end, price: price))
        }
        guard let last = steps.last, last.upToMillions == nil else { return nil }
        return steps
    }
}
