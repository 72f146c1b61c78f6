package import Hummingbird
package import NIOCore
import Synchronization

/// Limits on large request bodies while they arrive. A stalled client loses its connection, and the total size is
/// bounded.
package struct UploadLimits: Sendable {
    /// Bytes of all uploads in progress.
    package var bytesMax = 128 * 1024 * 1024
    /// The time in which an upload must bring `bytesPerPeriod`. A slower one loses its connection.
    package var period = Duration.seconds(10)
    package var bytesPerPeriod = 5 * 1024

    package init() {}
}

package final class Uploads: Sendable {
    package enum Refusal: Error {
        case tooLong
        case noRoom
    }

    /// Counts the bytes that arrive in a period.
    private final class Pace: Sendable {
        let arrived = Atomic(0)
    }

    private let limits: UploadLimits
    private let held = Mutex(0)

    package init(_ limits: UploadLimits) { self.limits = limits }

    /// Reads a body to its end.
    /// - Throws: `Refusal`, or the connection's error if it ended early.
    package func collect(_ body: RequestBody, upTo lengthMax: Int, on channel: any Channel) async throws -> [UInt8] {
        let pace = Pace()
        let period = TimeAmount(limits.period)
        let watch = channel.eventLoop.scheduleRepeatedTask(initialDelay: period, delay: period) { [limits] _ in
            if pace.arrived.exchange(0, ordering: .relaxed) < limits.bytesPerPeriod { channel.close(promise: nil) }
        }
        var bytes: [UInt8] = []
        defer {
            watch.cancel()
            held.withLock { $0 -= bytes.count }
        }
        for try await piece in body {
            guard bytes.count + piece.readableBytes <= lengthMax else { throw Refusal.tooLong }
            guard hold(piece.readableBytes) else { throw Refusal.noRoom }
            bytes += piece.readableBytesView
            pace.arrived.add(piece.readableBytes, ordering: .relaxed)
        }
        return bytes
    }

    private func hold(_ count: Int) -> Bool {
        held.withLock { held in
            guard held + count <= limits.bytesMax else { return false }
            held += count
            return true
        }
    }
}
