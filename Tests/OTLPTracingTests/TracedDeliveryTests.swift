import Foundation
import HubEmulator
import HubIO
import HubModel
import HubServer
import KafkaIO
import KafkaModel
import Logging
import NewsModel
import NotificationHub
import OTLPTracing
import PublishEngine
import PublisherService
import TestSupport
import Testing

private struct Export: Decodable {
    var resourceSpans: [ResourceSpans]
    struct ResourceSpans: Decodable { var scopeSpans: [ScopeSpans] }
    struct ScopeSpans: Decodable { var spans: [Span] }
    struct Span: Decodable {
        var traceId: String
        var spanId: String
        var parentSpanId: String?
        var attributes: [Attribute]
        var status: Status?

        func value(_ key: String) -> String? {
            attributes.first { $0.key == key }.flatMap { $0.value.stringValue ?? $0.value.intValue }
        }
    }
    struct Attribute: Decodable {
        var key: String
        var value: Value
    }
    struct Value: Decodable { var stringValue: String?, intValue: String? }
    struct Status: Decodable { var code: Int }
}

@Test func `an event's trace continues through each of its requests to its result`() async throws {
    let newsroom = try await Newsroom(partitions: 1)
    let collector = try await Collector()
    let exporter = SpanExporter(try CollectorAddress(collector.url), resource: [])
    let settings = try newsroom.settings {
        // One connection, so that the refusal below meets the first event, whose span is recorded.
        $0.engine.connections = 1
        $0.limits.connections = 1
    }
    let publisher = try newsroom.publisher(settings, tracer: OTLPTracer(exporter, sampledPercent: 100))

    let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    let headers = [
        "traced": [
            RecordHeader("traceparent", "00-\(trace)-00f067aa0ba902b7-01"), RecordHeader("tracestate", "vendor=1"),
        ],
        "unwatched": [RecordHeader("traceparent", "00-\(trace)-00f067aa0ba902b7-00")],
        "fresh": [], "nowhere": [RecordHeader("traceparent", "00-\(trace)-00f067aa0ba902b7-01")],
    ]
    try newsroom.topics.publish(
        headers.sorted { $0.key < $1.key }.map { id, headers in
            let category = id == "nowhere" ? "Nowhere" : "World"
            let json = #"{"id":"\#(id)","headline":"H","category":"\#(category)"}"#
            return (Array(id.utf8), Array(json.utf8), headers)
        })
    // The first request is refused temporarily, so its delivery takes two.
    var refusal = HubFault()
    refusal.status = 503
    refusal.callsLeft = 1
    newsroom.hub.add(refusal)
    try await publisher.run(untilCaughtUp: true)
    await exporter.close()
    await collector.close()

    var spans: [Export.Span] = []
    for await export in collector.exports {
        let decoded = try JSONDecoder().decode(Export.self, from: export.body)
        spans += decoded.resourceSpans.flatMap(\.scopeSpans).flatMap(\.spans)
    }
    var carried: [String: [RecordHeader]] = [:]
    for result in try newsroom.topics.read(Topics.results) {
        carried[String(decoding: result.record.key ?? [], as: UTF8.self)] = result.record.headers.filter {
            $0.name.hasPrefix("trace")
        }
    }
    #expect(Set(spans.compactMap { $0.value("newswire.event.id") }) == ["traced", "fresh"])
    let traced = spans.filter { $0.traceId == trace }
    #expect(traced.allSatisfy { $0.parentSpanId == "00f067aa0ba902b7" && $0.value("newswire.event.id") == "traced" })
    let last = try #require(traced.last)
    #expect(last.value("http.response.status_code") == "201" && last.status == nil)
    #expect(last.value("messaging.destination.name") == "news.events")
    #expect(
        carried["traced"].map(Set.init)
            == [RecordHeader("traceparent", "00-\(trace)-\(last.spanId)-01"), RecordHeader("tracestate", "vendor=1")])
    let fresh = try #require(spans.last { $0.value("newswire.event.id") == "fresh" })
    #expect(spans.first { $0.traceId == fresh.traceId }?.parentSpanId == nil)
    #expect(carried["fresh"] == [RecordHeader("traceparent", "00-\(fresh.traceId)-\(fresh.spanId)-01")])
    // These were not sent or not recorded, so the headers are propagated unchanged.
    #expect(carried["unwatched"] == headers["unwatched"] && carried["nowhere"] == headers["nowhere"])
    let refused = try #require(spans.first { $0.value("http.response.status_code") == "503" })
    #expect(refused.status?.code == 2)
    let again = spans.first { $0.value("http.request.resend_count") == "1" }
    #expect(again?.traceId == refused.traceId)
    await newsroom.close()
}
