import ByteText

/// `{number}-{number}-{shard}`, for example `2582603058510987091-6288692135058353266-3`.
struct RegistrationID: Hashable, Sendable, CustomStringConvertible {
    var first: UInt64
    var second: UInt64
    var shard: UInt16

    init(first: UInt64, second: UInt64, shard: UInt16) {
        (self.first, self.second, self.shard) = (first, second, shard)
    }

    init(using random: inout SeededRandom) {
        self.init(first: random.next() >> 1, second: random.next() >> 1, shard: UInt16(1 + random.next() % 8))
    }

    /// The id of what an installation makes: always the same for the same installation and template.
    init(of installation: String, template: String?) {
        // FNV-1a, which spreads well enough for ids and is the same in every process.
        var (first, second): (UInt64, UInt64) = (0xCBF2_9CE4_8422_2325, 0x9E37_79B9_7F4A_7C15)
        for byte in (installation + "\n" + (template ?? "")).utf8 {
            first = (first ^ UInt64(byte)) &* 0x100_0000_01B3
            second = (second ^ UInt64(byte)) &* 0x100_0000_01B3 &+ first
        }
        self.init(first: first >> 1, second: second >> 1, shard: template == nil ? 1 : 2)
    }

    /// Clients may choose ids of their own in this form; `nil` for any other, and for numbers with signs or leading
    /// zeros.
    init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let first = UInt64(parts[0]), let second = UInt64(parts[1]),
            let shard = UInt16(parts[2])
        else { return nil }
        self.init(first: first, second: second, shard: shard)
        guard description == text else { return nil }
    }

    var description: String { "\(first)-\(second)-\(shard)" }
}
