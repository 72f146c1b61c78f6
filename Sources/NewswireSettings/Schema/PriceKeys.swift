/// The prices that `newswire publish --dry-run` uses.
extension SettingsKey {
    static let prices = [
        SettingsKey(
            "prices.tier", .choice(PushPrices.Tier.allCases.map(\.rawValue)),
            default: PushPrices.Tier.standard.rawValue,
            """
            The hub's pricing tier, for the cost that `newswire publish --dry-run` shows. The other prices default to what \
            Azure's price list had for it in November 2026.
            """
        ),
        SettingsKey("prices.base", .money, "The price of a month of the tier, in US dollars."),
        SettingsKey(
            "prices.includedMillions", .integer(0...1_000_000), "The millions of pushes a month that the base includes."
        ),
        SettingsKey(
            "prices.perMillion", .priceSteps,
            """
            The price of each further million: up to how many millions in the month (null for the rest), and how many US \
            dollars.
            """
        ),
        SettingsKey("prices.asOf", .text, "The month of the price list, e.g. 2026-11; shown with every cost."),
    ]
}
