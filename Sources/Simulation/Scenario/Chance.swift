import ByteText

/// Draws of random values from a seed.
extension SeededRandom {
    /// Creates an independent source for one purpose, so that removing a fault from a life does not change the other draws.
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

    /// Returns one of `choices`; `fallback` if they are empty.
    mutating func pick<Choice>(_ choices: [Choice], or fallback: Choice) -> Choice {
        choices.randomElement(using: &self) ?? fallback
    }
}
