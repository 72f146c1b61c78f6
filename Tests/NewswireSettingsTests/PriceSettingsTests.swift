import Backfill
import NewswireSettings
import Testing

struct PriceSettingsTests {
    private func prices(_ text: String) throws -> PushPrices {
        let loaded = LoadedSettings(minimal() + text + "\n")
        return try #require(loaded.settings, "\(loaded.problems)").prices
    }

    @Test func `prices default to those of the standard tier, with their date`() throws {
        let prices = try prices("")
        #expect(prices == .standard(.standard))
        #expect(prices.asOf == "2026-11")
        #expect(prices.base == Money(dollars: 200))
    }

    @Test func `prices are read as the documentation writes them`() throws {
        let written = try prices(
            "prices: {tier: standard, base: 200, includedMillions: 10, perMillion: [[100, 10.00], [null, 2.50]], asOf: 2026-11}"
        )
        #expect(written == .standard(.standard))
        let ours = try prices("prices: {tier: basic, base: 9.5, perMillion: [[50, 0.9], [~, 0.000001]], asOf: 2027-01}")
        #expect(ours.base == Money(millionths: 9_500_000))
        #expect(ours.includedMillions == 10)
        #expect(
            ours.perMillion == [
                .init(upToMillions: 50, price: Money(millionths: 900_000)),
                .init(upToMillions: nil, price: Money(millionths: 1)),
            ])
        #expect(ours.asOf == "2027-01")
    }

    @Test func `price steps in the environment are one text`() throws {
        let loaded = LoadedSettings(
            minimal(),
            environment: ["NEWSWIRE_PRICES_PER_MILLION": "[[20,1.5],[null,1]]", "NEWSWIRE_PRICES_TIER": "basic"])
        let prices = try #require(loaded.settings, "\(loaded.problems)").prices
        #expect(prices.tier == .basic)
        #expect(prices.perMillion.map(\.upToMillions) == [20, nil])
    }

    @Test(arguments: [
        "perMillion: [[100, 10.00]]", "perMillion: [[null, 1], [100, 2]]", "perMillion: [[100, 1], [50, 2], [null, 3]]",
        "perMillion: [[0, 1], [null, 1]]", "perMillion: []", "perMillion: [1, 2]", "perMillion: [[a, b]]",
        "perMillion: [[null, -1]]", "perMillion: [[null, 1, 2]]", "perMillion: {a: 1}", "base: -1", "base: 1e3",
        "base: 1.2345678", "tier: premium", "includedMillions: -1", "asOf: yesterday", "asOf: 2026-13",
    ])
    func `an invalid price is a problem of its line`(text: String) {
        let loaded = LoadedSettings(minimal() + "prices: {\(text)}\n")
        #expect(loaded.settings == nil)
        #expect(loaded.problems.count == 1 && loaded.problems.allSatisfy { $0.key.hasPrefix("prices.") })
    }

    @Test(arguments: [
        (0, 0), (10_000_000, 0), (11_000_000, 10), (100_000_000, 900), (102_000_000, 905),
        // Five million events to a hundred thousand devices.
        (500_000_000_000, 1_250_650),
    ])
    func `the standard tier's price falls with the number of pushes`(pushes: Int64, dollars: Int64) {
        #expect(PushPrices.standard(.standard).cost(of: pushes) == Money(dollars: dollars))
    }

    @Test func `the basic tier has one price, and the free tier has no price beyond its included pushes`() {
        #expect(PushPrices.standard(.basic).cost(of: 25_500_000) == Money(millionths: 15_500_000))
        #expect(PushPrices.standard(.free).cost(of: 1_000_000) == Money(dollars: 0))
        #expect(PushPrices.standard(.free).cost(of: 1_000_001) == nil)
    }

    @Test func `the largest number of pushes still has a cost`() {
        #expect(PushPrices.standard(.standard).cost(of: .max).map { $0 > Money(dollars: 1_000_000) } == true)
    }
}
