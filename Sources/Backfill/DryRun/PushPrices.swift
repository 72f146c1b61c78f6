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

        package init(upToMillions: Int?, price: Money) { (self.upToMillions, self.price) = (upToMillions, price) }
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

    package init(millionths: Int64) { self.millionths = millionths }

    package init(dollars: Int64) {
        let (product, overflow) = dollars.multipliedReportingOverflow(by: 1_000_000)
        millionths = overflow ? .max : product
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
