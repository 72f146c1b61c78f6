import Foundation
import NIOHTTP1
import Synchronization
import Testing
import Tracing

@testable import OTLPTracing

private let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

private struct At: TracerInstant {
    var nanosecondsSinceEpoch: UInt64
    static func < (lhs: At, rhs: At) -> Bool { lhs.nanosecondsSinceEpoch < rhs.nanosecondsSinceEpoch }
}

private struct Headers: Extractor, Injector {
    func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
    func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) { carrier[key] = value }
}

extension OTLPTracer {
    /// Starts and ends a span whose parent is in the headers.
    @discardableResult
    fileprivate func span(_ name: String, below headers: [String: String] = [:]) -> OTLPSpan {
        var context = InstrumentationContext.topLevel
        extract(headers, into: &context, using: Headers())
        let span = startSpan(
            name, context: context, ofKind: .client, at: At(nanosecondsSinceEpoch: 1_795_227_600_000_000_001))
        span.attributes = ["text": "a \"b\"\n", "number": 9_007_199_254_740_993, "flag": true]
        span.setStatus(SpanStatus(code: .error))
        span.end(at: At(nanosecondsSinceEpoch: 1_795_227_600_000_000_900))
        return span
    }
}

struct SpanExporterTests {
    private func exporter(_ url: String, headers: [(name: String, value: String)] = []) throws -> SpanExporter {
        SpanExporter(try CollectorAddress(url), headers: headers, resource: [("service.name", "newswire")])
    }

    @Test func `a batch has the form of OTLP's JSON`() async throws {
        let collector = try await Collector()
        let exporter = try exporter(collector.url + "/otlp/", headers: [("authorization", "Bearer secret")])
        let tracer = OTLPTracer(exporter, sampledPercent: 100)
        let span = tracer.span("POST /hub/messages", below: ["traceparent": parent, "tracestate": "vendor=1"])
        await exporter.close()
        #expect(exporter.counts == .init(exported: 1, dropped: 0))

        let export = try #require(await collector.exports.first { _ in true })
        #expect(export.path == "/otlp/v1/traces")
        #expect(export.headers["Content-Type"] == ["application/json"])
        #expect(export.headers["authorization"] == ["Bearer secret"])
        let id = try #require(span.context.traceContext)
        let expected = """
            {"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"newswire"}}]},\
            "scopeSpans":[{"scope":{"name":"newswire"},"spans":[{"traceId":"4bf92f3577b34da6a3ce929d0e0e4736",\
            "spanId":"\(id.spanID)","parentSpanId":"00f067aa0ba902b7","traceState":"vendor=1",\
            "name":"POST /hub/messages","kind":3,"startTimeUnixNano":"1795227600000000001",\
            "endTimeUnixNano":"1795227600000000900","attributes":[{"key":"flag","value":{"boolValue":true}},\
            {"key":"number","value":{"intValue":"9007199254740993"}},\
            {"key":"text","value":{"stringValue":"a \\"b\\"\\n"}}],"status":{"code":2}}]}]}]}
            """
        #expect(String(decoding: export.body, as: UTF8.self) == expected)
        var carried: [String: String] = [:]
        tracer.inject(span.context, into: &carried, using: Headers())
        #expect(carried == ["traceparent": "00-\(id.traceID)-\(id.spanID)-01", "tracestate": "vendor=1"])
        await collector.close()
    }

    @Test func `a continued trace is recorded if its sender records it, a new one by the ratio`() async throws {
        let collector = try await Collector()
        let exporter = try exporter(collector.url)
        let never = OTLPTracer(exporter, sampledPercent: 0)
        let always = OTLPTracer(exporter, sampledPercent: 100)
        #expect(never.span("a", below: ["traceparent": parent]).isRecording)
        #expect(!always.span("b", below: ["traceparent": parent.dropLast(2) + "00"]).isRecording)
        #expect(always.span("c").isRecording && always.span("d", below: ["traceparent": "garbage"]).isRecording)
        #expect(!never.span("e").isRecording)
        let half = OTLPTracer(exporter, sampledPercent: 50)
        let recorded = (0..<1000).count { _ in half.span("f").isRecording }
        #expect((350...650).contains(recorded))
        await exporter.close()
        #expect(exporter.counts.exported == UInt64(3 + recorded))
        await collector.close()
    }

    @Test func `spans without room are dropped and counted without blocking`() async throws {
        let exporter = try exporter("http://127.0.0.1:1")
        let tracer = OTLPTracer(exporter, sampledPercent: 100)
        let count = SpanExporter.waitingMax + SpanExporter.batchMax + 1000
        for _ in 0..<count { tracer.span("a") }
        await exporter.close()
        #expect(exporter.counts == .init(exported: 0, dropped: UInt64(count)))
    }

    @Test func `a busy collector is retried, and a refusing one is not`() async throws {
        let collector = try await Collector { number in
            switch number {
            case 1: (503, [("Retry-After", "0")], "")
            case 2: (200, [], #"{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}}"#)
            default: (400, [], "no")
            }
        }
        let reasons = Mutex<[String?]>([])
        let exporter = SpanExporter(try CollectorAddress(collector.url), resource: []) { reason in
            reasons.withLock { $0.append(reason) }
        }
        let tracer = OTLPTracer(exporter, sampledPercent: 100)
        for _ in 0..<5 { tracer.span("a") }
        tracer.forceFlush()
        var exports = collector.exports.makeAsyncIterator()
        let first = await exports.next()?.body
        #expect(await exports.next()?.body == first)
        tracer.span("b")
        await exporter.close()
        #expect(exporter.counts == .init(exported: 3, dropped: 3))
        #expect(reasons.withLock { $0 } == ["some spans were rejected"])
        await collector.close()
    }

    @Test func `a redirect is not followed, so no secret leaves and no span counts as exported`() async throws {
        let page = try await Collector { _ in (200, [], "<html>log in") }
        let gateway = try await Collector { _ in (302, [("Location", page.url)], "") }
        let exporter = try exporter(gateway.url, headers: [("authorization", "Bearer secret")])
        OTLPTracer(exporter, sampledPercent: 100).span("a")
        await exporter.close()
        #expect(exporter.counts == .init(exported: 0, dropped: 1))
        await gateway.close()
        await page.close()
        #expect(await page.exports.first { _ in true } == nil)
    }

    @Test(arguments: [
        "", "4318", "localhost:4318", "ftp://host/", "http://", "http://user:password@host", "http://host?a=b",
        "http://host/#x",
    ])
    func `anything but a collector's address is refused`(text: String) {
        #expect(throws: CollectorAddressProblem.self) { try CollectorAddress(text) }
    }

    @Test(arguments: [
        ("http://host:4318", "http://host:4318/v1/traces"), ("https://host/", "https://host/v1/traces"),
        ("http://[::1]:4318/base", "http://[::1]:4318/base/v1/traces"),
    ])
    func `the path for traces is added`(base: String, url: String) throws {
        #expect(try CollectorAddress(base).url.absoluteString == url)
    }
}
