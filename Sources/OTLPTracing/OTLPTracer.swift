public import Tracing

/// Makes spans and passes ended ones to an exporter. A trace that continues another is recorded if its sender records
/// it. A new trace is recorded at random.
public struct OTLPTracer: Tracer {
    private let exporter: SpanExporter
    /// The sampling limit. A trace is sampled if the low half of its id, which is random, is smaller.
    private let threshold: UInt64

    /// - Parameter sampledPercent: the share of new traces that are recorded, 0…100.
    public init(_ exporter: SpanExporter, sampledPercent: Int) {
        self.exporter = exporter
        let percent = UInt64(min(max(sampledPercent, 0), 100))
        threshold = percent == 100 ? .max : .max / 100 * percent
    }

    public func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> InstrumentationContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> OTLPSpan {
        var random = SystemRandomNumberGenerator()
        var context = context()
        let parent = context.traceContext
        let traceID = parent?.traceID ?? .random(using: &random)
        let isSampled = parent?.isSampled ?? (traceID.low <= threshold && threshold > 0)
        context.traceContext = TraceContext(
            traceID: traceID, spanID: .random(using: &random), isSampled: isSampled, state: parent?.state)
        return OTLPSpan(
            operationName, context: context, parent: parent?.spanID, kind: kind,
            startedAt: instant().nanosecondsSinceEpoch, exporter: isSampled ? exporter : nil)
    }

    public func forceFlush() { exporter.flush() }

    public func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout InstrumentationContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {
        guard let parent = extractor.extract(key: "traceparent", from: carrier) else { return }
        context.traceContext = TraceContext(
            parent: parent, state: extractor.extract(key: "tracestate", from: carrier))
    }

    public func inject<Carrier, Inject: Injector>(
        _ context: InstrumentationContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard let trace = context.traceContext else { return }
        injector.inject(trace.parent, forKey: "traceparent", into: &carrier)
        if let state = trace.state { injector.inject(state, forKey: "tracestate", into: &carrier) }
    }
}
