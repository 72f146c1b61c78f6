import KafkaModel
import NewsModel

/// Delays news for quiet hours that begin while it is queued, as if it had been read in them.
extension Engine {
    /// Delays a delivery that is not due, on the held topic if possible. It ends if a later event of its story would wait too.
    mutating func delay(_ place: Place, until due: Instant, _ turn: inout Turn) {
        if givesWay(place, in: partitions[place].story, turn) {
            settle(place, as: .superseded, .superseded, &turn)
            return advanceStories(&turn)
        }
        lanes[place.lane].embargo(place.id, &partitions[place], until: due)
        holdRest(of: place.on(0), &turn)
    }

    /// Delays a stale delivery instead if it was still news when quiet hours began.
    ///
    /// - Returns: `false` if it is too old for its readers' morning, or some of them may have it.
    mutating func delayStale(_ place: Place, _ content: ExaminedRecord, _ turn: inout Turn) -> Bool {
        guard partitions[place].isCertain,
            let delayed = content.delayed(maxAge: lanes[place.lane].settings.maxAge, turn), let due = delayed.release
        else { return false }
        if due > turn.releaseClock {
            delay(place, until: due, &turn)
        } else {
            partitions[place.slot].examined(delayed, at: place.index)
            makeReady(place)
        }
        return true
    }

    /// Sends what is left of a record to the held topic if all of it is delayed.
    mutating func holdRest(of first: Place, _ turn: inout Turn) {
        guard isRunning else { return }
        holdWaiting(first, &turn)
        advanceStories(&turn)
    }

    /// News that quiet hours delay is still news when they end. The former deadline stays while readers may have the event on another
    /// platform, because a repeat leaves in quiet hours too.
    mutating func prolong(_ first: Place, _ turn: borrowing Turn) {
        guard let content = partitions.content(of: first),
            let delayed = content.delayed(maxAge: lanes[first.lane].settings.maxAge, turn)
        else { return }
        let mayLeave = settings.platforms.indices.contains { platform in
            let delivery = partitions[first.on(platform)]
            return delivery.phase == .inFlight || delivery.isOpen && !delivery.isCertain
        }
        if !mayLeave { partitions[first.slot].examined(delayed, at: first.index) }
    }
}
