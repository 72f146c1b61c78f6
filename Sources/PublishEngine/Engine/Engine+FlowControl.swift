import DequeModule
import HeapModule
import KafkaModel
import NewsModel

/// Limits how much may be read: by each lane's window, and by the length of each partition.
extension Engine {
    /// Grants credit to read more as records leave the window.
    mutating func grant(_ turn: inout Turn) {
        guard isRunning else { return }
        for lane in lanes.ids where !lanes[lane].slots.isEmpty && lanes[lane].handover == nil {
            if let (records, bytes) = lanes[lane].grant() {
                turn.actions.append(.kafka(.grant(lane, records: records, bytes: bytes)))
            }
            if lanes[lane].hasHeldPartitions { resumeHeld(lane, &turn) }
        }
    }

    /// Pauses the reading of a partition that has too many records above its low watermark.
    mutating func holdIfLong(_ slot: Int, _ lane: LaneID, _ turn: inout Turn) {
        guard !partitions[slot].isHeld, partitions[slot].entries.count >= lanes[lane].spanMax else { return }
        partitions[slot].hold()
        lanes[lane].hasHeldPartitions = true
        turn.actions.append(.kafka(.hold(partitions[slot].id, lane, partitions[slot].generation)))
    }

    /// Resumes paused partitions that have shrunk to half the bound.
    private mutating func resumeHeld(_ lane: LaneID, _ turn: inout Turn) {
        lanes[lane].hasHeldPartitions = false
        for slot in lanes[lane].slots where partitions[slot].isHeld {
            if partitions[slot].entries.count <= lanes[lane].spanMax / 2 {
                partitions[slot].resume()
                turn.actions.append(.kafka(.resume(partitions[slot].id, lane, lanes[lane].generation)))
            } else {
                lanes[lane].hasHeldPartitions = true
            }
        }
    }

    /// - Parameter bytes: the size of a record whose last delivery is done; `nil` while others are open.
    mutating func leaveWindow(_ lane: LaneID, bytes: Int?) {
        guard let bytes else { return }
        lanes[lane].finished(bytes: bytes)
        lanes[lane].commit.note()
    }

    /// Removes superseded and recalled deliveries from the queues. Normally dispatch drops them at the front. While
    /// nothing is sent they would accumulate without bound.
    mutating func tidy() {
        for lane in lanes.ids {
            let most = 2 * lanes[lane].heldRecords * settings.platforms.count + 32
            if lanes[lane].ready.count > most {
                let live = lanes[lane].ready.filter { partitions.phase(of: $0) == .ready }
                lanes[lane].ready = live
            }
            if lanes[lane].retries.count > most { lanes[lane].retries = live(lanes[lane].retries) }
            if lanes[lane].embargoed.count > most { lanes[lane].embargoed = live(lanes[lane].embargoed) }
            if lanes[lane].stopped.count > most { lanes[lane].stopped = live(lanes[lane].stopped) }
        }
    }

    private func live(_ delayed: Heap<Lane.Delayed>) -> Heap<Lane.Delayed> {
        Heap(delayed.unordered.filter { partitions.phase(of: $0.id) == .delayed })
    }
}
