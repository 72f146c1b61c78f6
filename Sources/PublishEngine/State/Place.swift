import KafkaModel

/// A delivery's id holds the partition's slot, the record's place in it and the platform.
///
/// Each use of a slot has another occupancy, so the engine recognises late replies.
extension DeliveryID {
    /// The number of distinguishable slots.
    static let slotsMax = 4096

    /// - Parameters:
    ///   - slot: index into the partition table, below `slotsMax`.
    ///   - occupancy: the number of earlier uses of the slot, modulo 128.
    ///   - sequence: counts the partition's records from its assignment, wrapping.
    ///   - platform: index into the settings' platforms, below 16.
    init(slot: Int, occupancy: UInt8, sequence: UInt32, platform: Int) {
        self.init(
            rawValue: UInt64(truncatingIfNeeded: slot & 0xfff) << 43 | UInt64(occupancy & 0x7f) << 36
                | UInt64(sequence) << 4 | UInt64(truncatingIfNeeded: platform & 0xf))
    }

    var slot: Int { Int(truncatingIfNeeded: rawValue >> 43) & 0xfff }
    var occupancy: UInt8 { UInt8(truncatingIfNeeded: rawValue >> 36) & 0x7f }
    var sequence: UInt32 { UInt32(truncatingIfNeeded: rawValue >> 4) }
    var platform: Int { Int(truncatingIfNeeded: rawValue) & 0xf }

    /// The same record's delivery on another platform.
    func on(_ platform: Int) -> DeliveryID {
        DeliveryID(slot: slot, occupancy: occupancy, sequence: sequence, platform: platform)
    }
}

/// A delivery's place in the partition table. Looked up for every input, because indices move when records finish.
struct Place: Sendable {
    let id: DeliveryID
    let lane: LaneID
    /// The record's index in its partition.
    let index: Int

    var slot: Int { id.slot }
    var platform: Int { id.platform }

    /// The same record's delivery on another platform.
    func on(_ platform: Int) -> Place { Place(id: id.on(platform), lane: lane, index: index) }
}
