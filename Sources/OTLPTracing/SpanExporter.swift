import Dispatch
import Foundation
import HTTPCalls
import Synchronization

/// Sends spans to a collector in batches. Adding a span never blocks: without room it is dropped and counted.
///
/// Our own exporter, because swift-otel needs Protocol Buffers for a request that is one JSON object.
public final class SpanExporter: Sendable {
    /// The most spans that may wait, about 4 MB.
    static let waitingMax = 4096
    static let batchMax = 512
    /// The most requests for one batch, if the collector permits retries.
    static let triesMax = 4
    private static let interval = DispatchTimeInterval.seconds(1)
    private static let closingMax = DispatchTimeInterval.seconds(10)

    private let address: CollectorAddress
    private let headers: [(name: String, value: String)]
    private let resource: [(name: String, value: String)]
    private let onChange: @Sendable (String?) -> Void
    private let queue = DispatchQueue(label: "traces")
    /// The queue of requests, which block it.
    private let calls = DispatchQueue(label: "traces.calls")
    private let state = Mutex(State())

    private struct State {
        var waiting: [OTLPSpan.Record] = []
        var isSending = false
        var isFailing = false
        var counts = Counts()
        /// Called once all spans are sent; set by `close`.
        var whenEmpty: (@Sendable () -> Void)?
        /// True once no more requests are sent.
        var isClosed = false
    }

    public struct Counts: Sendable, Hashable {
        public var exported: UInt64 = 0
        /// Spans without room, refused spans, and spans of an unreachable collector.
        public var dropped: UInt64 = 0
    }

    /// - Parameters:
    ///   - headers: added to every request. Their values may be secret.
    ///   - resource: the attributes that describe the service, such as `service.name`.
    ///   - onChange: called with a reason when exporting starts to fail, and with `nil` when it works again.
    public init(
        _ address: CollectorAddress, headers: [(name: String, value: String)] = [],
        resource: [(name: String, value: String)], onChange: @escaping @Sendable (String?) -> Void = { _ in }
    ) {
        self.address = address
        self.headers = headers
        self.resource = resource
        self.onChange = onChange
        tick()
    }

    public var counts: Counts { state.withLock(\.counts) }

    func add(_ span: OTLPSpan.Record) {
        let isFull = state.withLock { state in
            guard state.waiting.count < Self.waitingMax else {
                state.counts.dropped += 1
                return false
            }
            state.waiting.append(span)
            return state.waiting.count == Self.batchMax
        }
        if isFull { flush() }
    }

    func flush() { queue.async { self.send() } }

    /// Sends the waiting spans. Spans that the collector has not accepted within ten seconds are lost.
    public func close() async {
        await withCheckedContinuation { continuation in
            state.withLock { $0.whenEmpty = { continuation.resume() } }
            flush()
            queue.asyncAfter(deadline: .now() + Self.closingMax) { self.closed() }
        }
    }

    private func tick() {
        queue.asyncAfter(deadline: .now() + Self.interval) { [weak self] in
            guard let self, state.withLock({ $0.whenEmpty == nil }) else { return }
            send()
            tick()
        }
    }

    // MARK: On the queue

    private func send() {
        let batch: [OTLPSpan.Record]? = state.withLock { state in
            guard !state.isSending, !state.isClosed else { return nil }
            let batch = Array(state.waiting.prefix(Self.batchMax))
            state.waiting.removeFirst(batch.count)
            state.isSending = !batch.isEmpty
            return batch
        }
        guard let batch else { return }
        guard !batch.isEmpty else { return closed() }
        var call = HTTPCall(url: address.url.absoluteString)
        call.headers = headers.map { ($0.name, $0.value) } + [("Content-Type", "application/json")]
        call.body = TraceExport(resource: resource, spans: batch).json
        // The headers may be secret, and the page to which a gateway redirects takes no spans.
        call.followsRedirects = false
        post(call, spans: UInt64(batch.count), attempt: 1)
    }

    /// Finishes closing, because no spans are left or the time is over.
    private func closed() {
        let done: (@Sendable () -> Void)? = state.withLock { state in
            guard let done = state.whenEmpty, !state.isClosed else { return nil }
            state.isClosed = true
            return done
        }
        done?()
    }

    private func post(_ call: HTTPCall, spans: UInt64, attempt: Int) {
        guard !state.withLock(\.isClosed) else { return }
        calls.async { [self] in
            let verdict = CollectorReply { () throws(HTTPCall.Failure) in
                try call.answer(bytesMax: CollectorReply.bytesMax)
            }
            queue.async { [self] in
                let mayTryAgain = attempt < Self.triesMax && state.withLock { $0.whenEmpty == nil }
                guard case .later(let wait, _) = verdict, mayTryAgain else { return finish(verdict, spans: spans) }
                let delay = wait ?? Double(1 << (attempt - 1))
                queue.asyncAfter(deadline: .now() + delay) {
                    self.post(call, spans: spans, attempt: attempt + 1)
                }
            }
        }
    }

    private func finish(_ reply: CollectorReply, spans: UInt64) {
        let (reason, dropped) = reply.outcome(ofSpans: spans)
        let hasChanged = state.withLock { state in
            state.isSending = false
            state.counts.dropped += dropped
            state.counts.exported += spans - dropped
            // A closing process would otherwise wait for an unreachable collector once per batch.
            if state.whenEmpty != nil, reason != nil {
                state.counts.dropped += UInt64(state.waiting.count)
                state.waiting = []
            }
            defer { state.isFailing = reason != nil }
            return state.isFailing != (reason != nil)
        }
        if hasChanged { onChange(reason) }
        let isMore = state.withLock { $0.waiting.count >= Self.batchMax || $0.whenEmpty != nil }
        if isMore { send() }
    }
}
