import Synchronization
public import Tracing

/// One span. It is exported when it ends, if its trace is recorded.
public final class OTLPSpan: Span {
    public let context: InstrumentationContext
    private let exporter: SpanExporter?
    private let record: Mutex<Record>

    /// The data of a span that the collector receives.
    struct Record: Sendable {
        var name: String
        var trace: TraceContext?
        var parent: TraceContext.SpanID?
        var kind: SpanKind
        /// The start in nanoseconds since 1970, like the end.
        var startedAt: UInt64
        var endedAt: UInt64?
        // The API does not declare these types Sendable, although they contain only values.
        nonisolated(unsafe) var attributes = SpanAttributes()
        nonisolated(unsafe) var status: SpanStatus?
    }

    /// - Parameter exporter: `nil` for a span that is not recorded, only propagated.
    init(
        _ name: String, context: InstrumentationContext, parent: TraceContext.SpanID?, kind: SpanKind,
        startedAt: UInt64, exporter: SpanExporter?
    ) {
        self.context = context
        self.exporter = exporter
        record = Mutex(
            Record(name: name, trace: context.traceContext, parent: parent, kind: kind, startedAt: startedAt))
    }

    public var isRecording: Bool { exporter != nil }

    public var operationName: String {
        get { record.withLock(\.name) }
        set { record.withLock { $0.name = newValue } }
    }

    public var attributes: SpanAttributes {
        get { record.withLock { $0.attributes } }
        set { if isRecording { record.withLock { $0.attributes = newValue } } }
    }

    public func setStatus(_ status: SpanStatus) { record.withLock { $0.status = status } }

    // Requests have no events and no links, and an error is stored as the status.
    public func addEvent(_ event: SpanEvent) {}
    public func addLink(_ link: SpanLink) {}

    public func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {
        setStatus(SpanStatus(code: .error, message: "\(error)"))
    }

    /// Ends the span. Only the first call has an effect.
    public func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        guard let exporter else { return }
        let end = instant().nanosecondsSinceEpoch
        let ended: Record? = record.withLock { record in
            guard record.endedAt == nil else { return nil }
            record.endedAt = max(end, record.startedAt)
            return record
        }
        if let ended { exporter.add(ended) }
    }
}
