import CRdkafka
import Foundation
import KafkaModel

extension RdClient {
    /// Passes on what any client reports beside its work: errors, log lines, statistics.
    ///
    /// - Parameter lane: `nil` for the producer.
    func report(_ event: OpaquePointer, lane: LaneID?, _ statistics: StatisticsReader, _ notify: (KafkaNotice) -> Void)
    {
        switch rd_kafka_event_type(event) {
        case RD_KAFKA_EVENT_ERROR:
            let text = rd_kafka_event_error_string(event).map { String(cString: $0) }
            notify(.error(failure(rd_kafka_event_error(event), detail: text)))
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
            // One set of properties serves producer and consumers; each warns of the other's.
            guard word != "CONFWARN" else { return }
            notify(.log(severity: Int(severity), text: "\(word): \(String(cString: text))"))
        default: break
        }
    }

    /// The failure of a call, for a client whose main queue nobody else reads. A time-out explains little; the
    /// connections' errors meanwhile (refused credentials, an unknown name) say why.
    func explained(_ error: rd_kafka_resp_err_t, detail: String) -> KafkaFailure {
        let isVague = error == RD_KAFKA_RESP_ERR__TIMED_OUT || error == RD_KAFKA_RESP_ERR__TRANSPORT
        guard isVague, let cause = worstError() else { return KafkaFailure(error, detail: detail) }
        return KafkaFailure(
            code: cause.code, isFatal: cause.isFatal, isRetriable: cause.isRetriable,
            detail: "\(detail): \(cause.detail)", remedy: cause.remedy)
    }

    /// Empties the main queue and returns the error that an operator can do most about.
    func worstError() -> KafkaFailure? {
        guard let queue = rd_kafka_queue_get_main(handle) else { return nil }
        defer { rd_kafka_queue_destroy(queue) }
        var worst: KafkaFailure?
        while let event = rd_kafka_queue_poll(queue, 0) {
            if rd_kafka_event_type(event) == RD_KAFKA_EVENT_ERROR {
                let text = rd_kafka_event_error_string(event).map { String(cString: $0) }
                let found = failure(rd_kafka_event_error(event), detail: text)
                if worst.map({ $0.isRetriable && !found.isRetriable }) ?? true { worst = found }
            }
            rd_kafka_event_destroy(event)
        }
        return worst
    }
}
