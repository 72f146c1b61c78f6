package import Backfill
import ByteText

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
            && Int(digits: parts[0]) != nil
            && Int(digits: parts[1]).map { (1...12).contains($0) } == true
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
                guard let millions = Int(digits: pair[0]), millions <= 1_000_000_000,
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

extension Money {
    /// Reads an amount such as `10`, `2.5` or `10.00`: at most six digits after the point, no sign.
    package init?(parsing text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard let whole = parts.first.flatMap({ Int(digits: $0) }), parts.count <= 2,
            whole <= 1_000_000_000
        else { return nil }
        var fraction: Int64 = 0
        if parts.count == 2 {
            guard (1...6).contains(parts[1].count), let digits = Int(digits: parts[1]) else { return nil }
            fraction = Int64(digits)
            for _ in parts[1].count..<6 { fraction *= 10 }
        }
        self.init(millionths: Int64(whole) * 1_000_000 + fraction)
    }
}

/// The prices that `newswire publish --dry-run` uses.
extension SettingsKey {
    static let prices = [
        SettingsKey(
            "prices.tier", .choice(PushPrices.Tier.allCases.map(\.rawValue)),
            default: PushPrices.Tier.standard.rawValue,
            """
            The hub's pricing tier, for the cost that `newswire publish --dry-run` shows. The other prices default to what \
            Azure's price list had for it in November 2026.
            """),
        SettingsKey("prices.base", .money, "The price of a month of the tier, in US dollars."),
        SettingsKey(
            "prices.includedMillions", .integer(0...1_000_000), "The millions of pushes a month that the base includes."
        ),
        SettingsKey(
            "prices.perMillion", .priceSteps,
            """
            The price of each further million: up to how many millions in the month (null for the rest), and how many US \
            dollars.
            """),
        SettingsKey("prices.asOf", .text, "The month of the price list, e.g. 2026-11; shown with every cost."),
    ]
}
