/// Log lines that wait for a writer, at most `bytesMax` bytes. Further lines are dropped and counted.
package struct LogQueue: Sendable {
    package static let bytesMax = 1 << 20

    private let bytesMax: Int
    private var lines: [String] = []
    package private(set) var bytes = 0
    /// Unreported lines that were dropped after the last one in `lines`.
    private var dropped = 0

    package init(bytesMax: Int = Self.bytesMax) { self.bytesMax = bytesMax }

    /// - Returns: `false` if there is no room and the line is dropped.
    package mutating func append(_ line: String) -> Bool {
        let count = line.utf8.count
        guard bytes + count <= bytesMax else {
            dropped += 1
            return false
        }
        lines.append(line)
        bytes += count
        return true
    }

    /// Removes all lines.
    ///
    /// - Returns: the lines, and the number of lines dropped after them. Without lines the number is 0, so that a broken
    ///   stream is not retried only to report the loss.
    package mutating func takeAll() -> (lines: [String], dropped: Int) {
        guard !lines.isEmpty else { return ([], 0) }
        defer { self = LogQueue(bytesMax: bytesMax) }
        return (lines, dropped)
    }

    /// Counts lines that could not be written, or whose loss could not be reported.
    package mutating func lost(_ count: Int) { dropped += count }
}
