import KafkaModel
import NewsModel

/// Handles a standstill of the process: nothing leaves until the current orders and assignment are confirmed.
///
/// While the process was frozen, an editor may have stopped the hub. The editor did not wait for this process, because it
/// wrote no beats. Other owners may have sent the events of its partitions.
extension Engine {
    mutating func standStill(_ turn: inout Turn) {
        standstill = Standstill(number: askForOrders(&turn), since: standstill?.since ?? turn.now)
        for lane in lanes.ids {
            lanes[lane].owned.standStill(in: &partitions, at: turn.now)
            for slot in lanes[lane].slots { partitions[slot].forgetEnd() }
        }
        // The monotonic clock, by which the hub's time advances, may have stood still too.
        clock.forgetHub()
        witnesses.forget()
        if inquiry == .over { inquiry = .none }
        turn.look(clock, witnesses)
    }

    /// Records that all orders given up to the question have been applied.
    mutating func confirmOrders(_ number: UInt64) {
        if let asked = standstill?.number, asked <= number { standstill?.areOrdersKnown = true }
        if replacements.confirm(number) { _ = resumeStopped() }
    }

    /// Ends the standstill once orders and assignments are confirmed.
    mutating func endStandstill(_ turn: inout Turn) {
        guard let standstill, standstill.areOrdersKnown, !lanes.contains(where: \.owned.isUnconfirmed) else { return }
        self.standstill = nil
        for lane in lanes.ids {
            for slot in lanes[lane].slots { takeBackEnded(slot, &turn) }
        }
    }
}

/// A standstill of the process that still prevents sending.
struct Standstill: Sendable {
    /// The number of the question about orders.
    let number: UInt64
    /// The time at which the standstill was noticed, by the monotonic clock.
    let since: Instant
    var areOrdersKnown = false
}
