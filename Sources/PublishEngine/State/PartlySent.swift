import KafkaModel
import NewsModel
import NotificationHub

/// The progress of a partition's deliveries that need several sends. It is committed beside the watermark.
struct PartlySent: Sendable {
    private var entries: [Entry] = []
    /// The progress that the last owner committed, of records that were not read again yet. It is committed again.
    private(set) var inherited: [SendProgress] = []
    /// Progress was made since the last commit.
    private(set) var hasMoved = false

    private struct Entry: Sendable {
        /// The index of the progress's platform.
        let platform: Int
        var progress: SendProgress

        func isOf(_ offset: Int64, _ platform: Int) -> Bool { progress.offset == offset && self.platform == platform }
    }

    mutating func inherit(_ last: [SendProgress]) { inherited = last }

    /// Removes and returns what the last owner committed of a delivery whose record is read again; `nil` for another record.
    mutating func resume(
        _ record: RecordIdentity, at offset: Int64, _ platform: Platform, index platformIndex: Int
    ) -> SendProgress? {
        guard let index = inherited.firstIndex(where: { $0.offset == offset && $0.platform == platform }) else {
            return nil
        }
        let last = inherited.remove(at: index)
        guard last.isOf(record) else { return nil }
        entries.append(Entry(platform: platformIndex, progress: last))
        return last
    }

    /// Forgets the inherited progress of a record that was read again, because its deliveries have resumed.
    mutating func forgetInherited(at offset: Int64) {
        if !inherited.isEmpty { inherited.removeAll { $0.offset == offset } }
    }

    /// Keeps the progress of a delivery for the next commit. The oldest ones come first, because a note may have no room for all.
    mutating func note(_ next: SendProgress, platform: Int) {
        hasMoved = true
        if let index = entries.firstIndex(where: { $0.isOf(next.offset, platform) }) {
            entries[index].progress = next
        } else {
            entries.append(Entry(platform: platform, progress: next))
        }
    }

    /// The delivery needs no progress any more: the ledger has its result.
    mutating func close(_ offset: Int64, _ platform: Int) {
        if !entries.isEmpty { entries.removeAll { $0.isOf(offset, platform) } }
    }

    /// What to commit beside the watermark.
    mutating func take(above watermark: Int64) -> [SendProgress] {
        hasMoved = false
        inherited.removeAll { $0.offset < watermark }
        return inherited + entries.map(\.progress)
    }
}
