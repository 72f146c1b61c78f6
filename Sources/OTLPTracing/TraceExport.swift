import NewsModel
import Tracing

/// The body of one request to the collector: OTLP's `ExportTraceServiceRequest` in its JSON form.
struct TraceExport {
    /// The attributes of the service that makes the spans: name, version, instance.
    var resource: [(name: String, value: String)]
    var spans: [OTLPSpan.Record]

    var json: [UInt8] {
        JSONWriter.object(reserving: 256 + spans.count * 700) { json in
            json.array("resourceSpans") { json in
                json.object { json in
                    json.object("resource") { json in
                        json.array("attributes") { json in
                            for (name, value) in resource { Self.write(.string(value), named: name, to: &json) }
                        }
                    }
                    json.array("scopeSpans") { json in
                        json.object { json in
                            json.object("scope") { $0.field("name", "newswire") }
                            json.array("spans") { json in for span in spans { Self.write(span, to: &json) } }
                        }
                    }
                }
            }
        }
    }

    private static func write(_ span: OTLPSpan.Record, to json: inout JSONWriter) {
        json.object { json in
            json.field("traceId", span.trace?.traceID.description)
            json.field("spanId", span.trace?.spanID.description)
            json.field("parentSpanId", span.parent?.description)
            json.field("traceState", span.trace?.state)
            json.field("name", span.name)
            json.field("kind", number(of: span.kind))
            // The JSON form of Protocol Buffers writes 64-bit integers as strings.
            json.field("startTimeUnixNano", "\(span.startedAt)")
            json.field("endTimeUnixNano", "\(span.endedAt ?? span.startedAt)")
            json.array("attributes") { json in
                var attributes: [(name: String, value: SpanAttribute)] = []
                span.attributes.forEach { attributes.append(($0, $1)) }
                for (name, value) in attributes.sorted(by: { $0.name < $1.name }) {
                    write(value, named: name, to: &json)
                }
            }
            if let status = span.status {
                json.object("status") { json in
                    json.field("code", status.code == .ok ? 1 : 2)
                    json.field("message", status.message)
                }
            }
        }
    }

    private static func write(_ value: SpanAttribute, named name: String, to json: inout JSONWriter) {
        json.object { json in
            json.field("key", name)
            json.object("value") { json in
                switch value {
                case .string(let text): json.field("stringValue", text)
                case .int32(let number): json.field("intValue", "\(number)")
                case .int64(let number): json.field("intValue", "\(number)")
                case .double(let number): json.field("doubleValue", number)
                case .bool(let flag): json.field("boolValue", flag)
                case .stringConvertible(let other): json.field("stringValue", "\(other)")
                default: json.field("stringValue", "\(value)")
                }
            }
        }
    }

    /// The number of a kind in the protocol's `Span.SpanKind`.
    private static func number(of kind: SpanKind) -> Int {
        switch kind {
        case .internal: 1
        case .server: 2
        case .client: 3
        case .producer: 4
        case .consumer: 5
        }
    }
}
