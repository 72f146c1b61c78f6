import ByteText
import PublishEngine

/// Draws from a seeded source.
extension SeededRandom {
    /// A source for one thing, whatever was drawn for others before: taking a fault out of a life must not change the
    /// draws for everything else.
    init(seed: UInt64, _ first: Int, _ second: Int = 0, _ third: Int = 0) {
        self.init(seed: seed)
        for part in [first, second, third] {
            self.init(seed: next() ^ UInt64(bitPattern: Int64(part)) &* 0xD6E8_FEB8_6659_FD93)
        }
    }

    mutating func chance(percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }

    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }

    mutating func milliseconds(_ range: ClosedRange<Int>) -> Duration {
        .microseconds(Int.random(in: (range.lowerBound * 1000)...(range.upperBound * 1000), using: &self))
    }

    /// One of `choices`; `fallback` when there is none.
    mutating func pick<Choice>(_ choices: [Choice], or fallback: Choice) -> Choice {
        choices.randomElement(using: &self) ?? fallback
    }
}
