import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine
import Tracing

/// Makes a span for every request to the hub. It continues the event's trace, and the result continues the span's.
///
/// Confined to a shard's loop; absent without a tracer.
final class RequestTraces {
    private let tracer: any Tracer
    private let attributes: SpanAttributes
    private let name: String
    /// The spans of the requests in flight.
    private var open: [RequestID: Open] = [:]
    /// The requests whose replies are being processed.
    private var arrived: [DeliveryID: Open] = [:]
    /// Headers for results that wait for their dead letters to be stored.
    private var kept: [DeliveryID: [RecordHeader]] = [:]
    /// New traces whose deliveries may be retried.
    private var begun: [DeliveryID: InstrumentationContext] = [:]
    /// The limit of `begun` and `kept`, which are then emptied. Deliveries revoked in a rebalance never settle here.
    private static let begunMax = 4096

    private struct Open {
        var span: any Tracing.Span
        var delivery: DeliveryID
        /// True if the event arrived without a trace.
        var isFirst: Bool
    }

    init(_ tracer: any Tracer, connection: ConnectionString, hub: HubName) {
        self.tracer = tracer
        let endpoint = connection.endpoint
        name = "POST /\(hub)/messages"
        attributes = [
            "http.request.method": "POST", "url.full": .string("\(endpoint)\(hub)/messages"),
            "server.address": .string(endpoint.host), "server.port": .int64(Int64(endpoint.port)),
        ]
    }

    func departed(_ id: RequestID, _ request: InFlightRequest, at now: Instant) {
        var context = begun.removeValue(forKey: request.delivery) ?? .topLevel
        let isFirst = RecordHeaders().extract(key: HeaderName.traceParent, from: request.headers) == nil
        if !isFirst { tracer.extract(request.headers, into: &context, using: RecordHeaders()) }
        let span = tracer.startSpan(name, context: context, ofKind: .client, at: SpanTime(now))
        open[id] = Open(span: span, delivery: request.delivery, isFirst: isFirst)
        guard span.isRecording else { return }
        var attributes = attributes
        attributes["newswire.event.id"] = request.eventID
        attributes["newswire.lane"] = request.lane
        attributes["newswire.platform"] = request.platform.rawValue
        attributes["messaging.destination.name"] = request.source.partition.topic
        attributes["messaging.destination.partition.id"] = "\(request.source.partition.partition)"
        attributes["messaging.kafka.offset"] = request.source.offset
        if request.attempt > 1 { attributes["http.request.resend_count"] = request.attempt - 1 }
        span.attributes = attributes
    }

    /// Ends the requests' spans. Results of these deliveries continue the spans until the next replies.
    func settled(_ requests: [SettledRequest], at now: Instant) {
        arrived.removeAll(keepingCapacity: true)
        for settled in requests {
            guard let request = open.removeValue(forKey: settled.id) else { continue }
            arrived[request.delivery] = request
            if request.isFirst {
                if begun.count >= Self.begunMax { begun.removeAll() }
                begun[request.delivery] = request.span.context
            }
            end(request.span, settled.result, at: now)
        }
    }

    private func end(_ span: any Tracing.Span, _ result: SendResult, at now: Instant) {
        guard span.isRecording else { return }
        var failure: String?
        switch result {
        case .replied(let reply):
            span.updateAttributes {
                $0["http.response.status_code"] = reply.status
                $0["newswire.hub.tracking_id"] = reply.trackingID
            }
            if reply.status >= 400 { failure = "\(reply.status)" }
        case .notSent: failure = "\(result.meaning)"
        case .unknown: failure = "unanswered"
        }
        if let failure {
            span.updateAttributes { $0["error.type"] = failure }
            span.setStatus(SpanStatus(code: .error))
        }
        span.end(at: SpanTime(now))
    }

    /// Keeps the headers of a result that is written after its dead letter.
    func keep(_ request: StoreRequest) {
        if kept.count >= Self.begunMax { kept.removeAll() }
        kept[request.delivery] = carried(request)
    }

    /// The headers that a result carries, from the request that settled it if there was one.
    func carried(_ request: StoreRequest) -> [RecordHeader] {
        if let headers = kept.removeValue(forKey: request.delivery) { return headers }
        if !begun.isEmpty { begun[request.delivery] = nil }
        guard let span = arrived[request.delivery]?.span, span.isRecording else { return request.carried }
        var headers = request.carried
        tracer.inject(span.context, into: &headers, using: RecordHeaders())
        return headers
    }
}

/// Reads and writes trace headers of a record.
private struct RecordHeaders: Extractor, Injector {
    func extract(key: String, from carrier: [RecordHeader]) -> String? {
        carrier.isEmpty ? nil : carrier.last { $0.name == key }?.text
    }

    func inject(_ value: String, forKey key: String, into carrier: inout [RecordHeader]) {
        carrier.removeAll { $0.name == key }
        carrier.append(RecordHeader(key, value))
    }
}

private struct SpanTime: TracerInstant {
    var nanosecondsSinceEpoch: UInt64

    init(_ instant: Instant) { nanosecondsSinceEpoch = UInt64(clamping: instant.nanoseconds) }

    static func < (lhs: SpanTime, rhs: SpanTime) -> Bool { lhs.nanosecondsSinceEpoch < rhs.nanosecondsSinceEpoch }
}
