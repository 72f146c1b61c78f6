import CRdkafka
import Foundation
import KafkaModel

extension RdClient {
    /// Forwards a client's errors, log lines and statistics.
    ///
    /// - Parameter lane: the consumer's lane; `nil` for the producer.
    func report(_ event: OpaquePointer, lane: LaneID?, _ statistics: StatisticsReader, _ notify: (KafkaNotice) -> Void)
    {
        switch rd_kafka_event_type(event) {
        case RD_KAFKA_EVENT_ERROR:
            let text = rd_kafka_event_error_string(event).map { String(cString: $0) }
            notify(.error(failure(rd_kafka_event_error(event), text: text)))
        case RD_KAFKA_EVENT_STATS:
            guard let text = rd_kafka_event_stats(event) else { return }
            let json = UnsafeBufferPointer(start: UnsafePointer<UInt8>(OpaquePointer(text)), count: strlen(text))
            guard let read = statistics.read(json, isConsumer: lane != nil) else { return }
            notify(.statistics(lane: lane, read))
        case RD_KAFKA_EVENT_LOG:
            var facility: UnsafePointer<CChar>?
            var text: UnsafePointer<CChar>?
            var severity: Int32 = 0
            guard rd_kafka_event_log(event, &facility, &text, &severity) == 0, let facility, let text else { return }
            let word = String(cString: facility)
            // Producer and consumers share one set of properties, so each warns of those for the other.
            guard word != "CONFWARN" else { return }
            // Errors of connections are reported as such too, in our words.
            let isRepeated = word == "FAIL" || word == "ERROR"
            notify(.log(severity: isRepeated ? 7 : Int(severity), text: "\(word): \(String(cString: text))"))
        default: break
        }
    }

    /// Makes the failure of a call, for a client whose main queue has no other reader. A timeout explains little. The
    /// connections' errors give the cause, e.g. refused credentials or an unknown name.
    ///
    /// - Parameter action: what failed; `nil` if the cause says enough.
    func explained(_ error: rd_kafka_resp_err_t, during action: String? = nil) -> KafkaFailure {
        let isVague = error == RD_KAFKA_RESP_ERR__TIMED_OUT || error == RD_KAFKA_RESP_ERR__TRANSPORT
        guard isVague, var cause = worstError() else { return KafkaFailure(error, during: action) }
        if let action { cause.detail = "\(action): \(cause.detail.prefix(1).lowercased() + cause.detail.dropFirst())" }
        return cause
    }

    /// Empties the main queue and returns its most useful error for an operator.
    func worstError() -> KafkaFailure? {
        guard let queue = rd_kafka_queue_get_main(handle) else { return nil }
        defer { rd_kafka_queue_destroy(queue) }
        var worst: KafkaFailure?
        while let event = rd_kafka_queue_poll(queue, 0) {
            if rd_kafka_event_type(event) == RD_KAFKA_EVENT_ERROR {
                let text = rd_kafka_event_error_string(event).map { String(cString: $0) }
                let found = failure(rd_kafka_event_error(event), text: text)
                if worst.map({ $0.isRetriable && !found.isRetriable }) ?? true { worst = found }
            }
            rd_kafka_event_destroy(event)
        }
        return worst
    }
}
