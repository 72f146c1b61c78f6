import CRdkafka
import Foundation
import KafkaModel

/// One librdkafka instance: its threads, connections and queues, destroyed with this object.
///
/// librdkafka's functions are thread-safe on one handle.
final class RdClient: @unchecked Sendable {
    let handle: OpaquePointer

    init(_ handle: OpaquePointer) { self.handle = handle }

    // A consumer is closed by its owner, in the order the shards need, or it was never in a group. Destroying joins
    // librdkafka's threads, and 2.0.2 has been seen to wait for one for ever after a topic was created again twice: no
    // thread of ours waits for that, least of all a shutdown.
    deinit {
        let address = UInt(bitPattern: handle)
        Thread.detachNewThread {
            rd_kafka_destroy_flags(OpaquePointer(bitPattern: address), RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE)
        }
    }

    /// Logs go to the main queue, where they become events.
    func takeLogs() { rd_kafka_set_log_queue(handle, nil) }

    /// librdkafka reports a fatal error under its own code, and the cause beside it.
    func failure(_ error: rd_kafka_resp_err_t, detail: String?) -> KafkaFailure {
        guard error == RD_KAFKA_RESP_ERR__FATAL else { return KafkaFailure(error, detail: detail) }
        var text = [CChar](repeating: 0, count: 512)
        let cause = rd_kafka_fatal_error(handle, &text, text.count)
        return KafkaFailure(cause, detail: String(rd: text), fatal: true)
    }
}
