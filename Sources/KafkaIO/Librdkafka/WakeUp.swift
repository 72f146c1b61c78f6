import CRdkafka
import Glibc
package import KafkaModel

/// Wakes one thread from any other: an eventfd that librdkafka's queues write to as well.
///
/// librdkafka writes only when a queue changes from empty to non-empty. A woken thread must therefore read every queue it is
/// ready for. A thread that becomes ready for a queue must read it without waiting.
package final class WakeUp: Sendable {
    let descriptor: Int32

    package init() throws(KafkaFailure) {
        descriptor = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
        guard descriptor >= 0 else {
            throw KafkaFailure(
                code: "_SYSTEM", detail: "No file descriptor is left for a wake-up",
                remedy: "Raise the limit (ulimit -n).")
        }
    }

    deinit { Glibc.close(descriptor) }

    package func signal() {
        var one: UInt64 = 1
        // Fails only if 2^64 signals are pending.
        _ = write(descriptor, &one, 8)
    }

    /// Returns when signaled, or after `milliseconds`.
    package func wait(milliseconds: Int32) {
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard Glibc.poll(&poll, 1, milliseconds) > 0 else { return }
        clear()
    }

    private func clear() {
        var count: UInt64 = 0
        _ = read(descriptor, &count, 8)
    }
}
