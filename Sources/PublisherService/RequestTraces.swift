import NewsModel
import NotificationHub
import PublishEngine
import Tracing

/// A span for every request to the hub. It continues the trace of its event, and the result continues the span's.
///
/// Confined to a shard's loop; absent while nobody traces.
final class RequestTraces {
    private let tracer: any Tracer
    private let attributes: SpanAttributes
    private let name: String
    /// By the request's token: as many as requests are in flight.
    private var open: [UInt64: Open] = [:]
    /// The requests whose replies are being carried out, by the result's token.
    private var landed: [UInt64: Open] = [:]
    /// By the result's token: traces that began here and whose delivery is to be tried again.
    private var begun: [UInt64: InstrumentationContext] = [:]
    /// Deliveries given up in a rebalance never settle here: beyond it all are forgotten.
    private static let begunMax = 4096

    private struct Open {
        var span: any Tracing.Span
        var result: UInt64
        /// Nobody before us traces the event.
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

    func departed(_ token: UInt64, _ request: DepartedRequest, at now: Instant) {
        var context = begun.removeValue(forKey: request.result) ?? .topLevel
        let isFirst = RecordHeaders().extract(key: HeaderName.traceParent, from: request.headers) == nil
        if !isFirst { tracer.extract(request.headers, into: &context, using: RecordHeaders()) }
        let span = tracer.startSpan(name, context: context, ofKind: .client, at: SpanTime(now))
        open[token] = Open(span: span, result: request.result, isFirst: isFirst)
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

    /// Until the next replies, results of these deliveries go on from here.
    func landed(_ landings: [Landing], at now: Instant) {
        landed.removeAll(keepingCapacity: true)
        for landing in landings {
            guard let request = open.removeValue(forKey: landing.token) else { continue }
            landed[request.result] = request
            if request.isFirst {
                if begun.count >= Self.begunMax { begun.removeAll() }
                begun[request.result] = request.span.context
            }
            end(request.span, landing.reply, at: now)
        }
    }

    private func end(_ span: any Tracing.Span, _ reply: Reply, at now: Instant) {
        guard span.isRecording else { return }
        var failure: String?
        switch reply {
        case .replied(let reply):
            span.updateAttributes {
                $0["http.response.status_code"] = reply.status
                $0["newswire.hub.tracking_id"] = reply.trackingID
            }
            if reply.status >= 400 { failure = "\(reply.status)" }
        case .notSent(let obstacle, _): failure = "\(obstacle)"
        case .unanswered: failure = "unanswered"
        }
        if let failure {
            span.updateAttributes { $0["error.type"] = failure }
            span.setStatus(SpanStatus(code: .error))
        }
        span.end(at: SpanTime(now))
    }

    /// The headers that a result carries on, from the request that settled it where there was one.
    func carried(_ request: StoreRequest) -> [RecordHeader] {
        if !begun.isEmpty { begun[request.token] = nil }
        guard let span = landed[request.token]?.span, span.isRecording else { return request.carried }
        var headers = request.carried
        tracer.inject(span.context, into: &headers, using: RecordHeaders())
        return headers
    }
}

/// Trace headers as they stand on a record.
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
