/// Distinguishes a file from another one in its place by its size, its time of change, and its two ends. The published events
/// themselves are compared one by one.
package struct FileStamp: Codable, Hashable, Sendable {
    package var size: Int
    /// The time of change, in nanoseconds since 1970.
    var changedAt: Int64
    /// The hash of the first 64 KiB, or of all bytes if there are fewer.
    var head: UInt64
    /// The hash of the last 64 KiB, or of all bytes if there are fewer.
    var tail: UInt64

    package init(size: Int, changedAt: Int64, head: UInt64, tail: UInt64) {
        (self.size, self.changedAt, self.head, self.tail) = (size, changedAt, head, tail)
    }

    /// The reason why a file cannot be this one with something appended; `nil` if it can.
    ///
    /// - Parameters:
    ///   - now: the stamp of the file; `nil` if it cannot be read.
    ///   - beginning: the stamp of the file's bytes up to this stamp's size.
    package func difference(from now: FileStamp?, beginning: () -> FileStamp?) -> String? {
        guard let now else { return "cannot be read as a file any more" }
        if now.size == size, now.changedAt == changedAt { return nil }
        if now.size < size { return "is smaller than it was" }
        guard let then = beginning(), then.head == head, then.tail == tail else {
            return "is another file, or was changed elsewhere than at its end"
        }
        return nil
    }
}
