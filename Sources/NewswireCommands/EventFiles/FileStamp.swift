import Foundation
import KafkaModel

/// Distinguishes a file from another one in its place by its size, its time of change, and its two ends. The published events
/// themselves are compared one by one.
package struct FileStamp: Codable, Hashable, Sendable {
    /// The size in bytes.
    var size: Int
    /// The time of change, in nanoseconds since 1970.
    var changedAt: Int64
    /// The hash of the first 64 KiB, or of all bytes if there are fewer.
    var head: UInt64
    /// The hash of the last 64 KiB, or of all bytes if there are fewer.
    var tail: UInt64

    private static let endLength = 64 << 10

    /// - Parameter size: the number of bytes that count, from the first on; `nil` for all.
    /// - Returns: `nil` if the file is not a plain file, is shorter than `size`, or cannot be read.
    package init?(of path: String, size: Int? = nil) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        let whole = Int(status.st_size)
        let size = size ?? whole
        let length = min(size, Self.endLength)
        guard size >= 0, size <= whole, let head = Self.hash(descriptor, at: 0, length),
            let tail = Self.hash(descriptor, at: size - length, length)
        else { return nil }
        self.size = size
        changedAt =
            Int64(status.st_mtim.tv_sec).multipliedReportingOverflow(by: 1_000_000_000).partialValue
            &+ Int64(status.st_mtim.tv_nsec)
        self.head = head
        self.tail = tail
    }

    private static func hash(_ descriptor: Int32, at offset: Int, _ length: Int) -> UInt64? {
        var bytes = [UInt8](repeating: 0, count: length)
        var done = 0
        while done < length {
            let count = bytes.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress.map { $0 + done }, length - done, off_t(offset + done))
            }
            guard count > 0 else { return nil }
            done += count
        }
        var fingerprint = Fingerprint()
        fingerprint.mix(bytes)
        return fingerprint.value
    }

    /// The reason why the file at the path cannot be this one with something appended; `nil` if it can.
    package func difference(_ path: String) -> String? {
        guard let now = FileStamp(of: path) else { return "cannot be read as a file any more" }
        if now.size == size, now.changedAt == changedAt { return nil }
        if now.size < size { return "is smaller than it was" }
        guard let then = FileStamp(of: path, size: size), then.head == head, then.tail == tail else {
            return "is another file, or was changed elsewhere than at its end"
        }
        return nil
    }
}
