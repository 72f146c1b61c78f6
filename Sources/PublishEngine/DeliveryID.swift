/// Names one delivery while its partition is ours: the partition's slot, the record's place in it, the platform.
///
/// Packed into 56 bits it travels through the producer and comes back with the acknowledgement. A slot that is used
/// again has another incarnation, so what comes back late is recognised.
struct DeliveryID: Sendable, Hashable {
    /// Index into the engine's partitions, below 4,096.
    var slot: UInt16
    /// How often the slot was used before, modulo 128.
    var incarnation: UInt8
    /// Counts the partition's records from its assignment, wrapping.
    var sequence: UInt32
    /// Index into the settings' platforms, below 16.
    var platform: UInt8

    static let slotsMax = 4096

    enum Kind: UInt64 {
        case result = 0
        case deadLetter = 1
    }

    func token(_ kind: Kind) -> UInt64 {
        UInt64(slot) << 44 | UInt64(incarnation & 0x7f) << 37 | UInt64(sequence) << 5 | UInt64(platform & 0xf) << 1
            | kind.rawValue
    }

    init(slot: UInt16, incarnation: UInt8, sequence: UInt32, platform: UInt8) {
        self.slot = slot
        self.incarnation = incarnation
        self.sequence = sequence
        self.platform = platform
    }

    init(token: UInt64) {
        slot = UInt16(truncatingIfNeeded: token >> 44) & 0xfff
        incarnation = UInt8(truncatingIfNeeded: token >> 37) & 0x7f
        sequence = UInt32(truncatingIfNeeded: token >> 5)
        platform = UInt8(truncatingIfNeeded: token >> 1) & 0xf
    }

    static func isDeadLetter(token: UInt64) -> Bool { token & 1 == Kind.deadLetter.rawValue }
}
