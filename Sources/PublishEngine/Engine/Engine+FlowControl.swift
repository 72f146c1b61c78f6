import DequeModule
import KafkaModel
import NewsModel

/// Limits how much may be read: by each lane's window, and by the length of each partition.
extension Engine {
    /// Grants credit to read more as records leave the window, and resumes paused partitions that have shrunk to half
    /// the bound.
    mutating func grant(_ turn: inout Turn) {
        guard isRunning else { return }
        for lane in lanes.ids where !lanes[lane].slots.isEmpty && lanes[lane].owned.handover == nil {
            if let (records, bytes) = lanes[lane].grant() {
                turn.actions.append(.kafka(.grant(lane, records: records, bytes: bytes)))
            }
            for id in lanes[lane].owned.resumePaused(upTo: lanes[lane].spanMax / 2, in: &partitions) {
                turn.actions.append(.kafka(.resume(id, lane, lanes[lane].owned.generation)))
            }
        }
    }

    /// Pauses the reading of a partition that has too many records above its low watermark.
    mutating func pauseIfLong(_ slot: Int, _ lane: LaneID, _ turn: inout Turn) {
        guard partitions[slot].pause(from: lanes[lane].spanMax) else { return }
        lanes[lane].owned.notePaused()
        turn.actions.append(.kafka(.pause(partitions[slot].id, lane, partitions[slot].generation)))
    }

    mutating func tidy() {
        for lane in lanes.ids { lanes[lane].tidy(platforms: settings.platforms.count, in: partitions) }
        replacements.tidy(in: partitions)
    }
}
