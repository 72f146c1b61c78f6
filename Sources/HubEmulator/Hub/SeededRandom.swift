/// The hub's only source of chance: SplitMix64 from one seed, so that a life of the hub can be repeated.
///
/// Fit for ids and dice, not for secrets.
public struct SeededRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(seed: UInt64) {
        state = seed
    }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// 32 lower-case hexadecimal digits.
    mutating func hex32() -> String {
        let (high, low) = (next(), next())
        return String(unsafeUninitializedCapacity: 32) { buffer in
            for index in 0..<32 {
                let nibble = ((index < 16 ? high : low) >> UInt64(60 - (index % 16) * 4)) & 15
                buffer[index] = UInt8(truncatingIfNeeded: nibble < 10 ? 48 + nibble : 87 + nibble)
            }
            return 32
        }
    }

    /// A version 4 UUID in lower case, as the service writes its tracking ids.
    mutating func guid() -> String {
        let high = next() & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
        let low = next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        return String(unsafeUninitializedCapacity: 36) { buffer in
            var at = 0
            for index in 0..<32 {
                if index == 8 || index == 12 || index == 16 || index == 20 {
                    buffer[at] = UInt8(ascii: "-")
                    at += 1
                }
                let nibble = ((index < 16 ? high : low) >> UInt64(60 - (index % 16) * 4)) & 15
                buffer[at] = UInt8(truncatingIfNeeded: nibble < 10 ? 48 + nibble : 87 + nibble)
                at += 1
            }
            return at
        }
    }
}
