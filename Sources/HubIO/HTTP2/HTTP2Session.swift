import HubModel
import NIOCore
import NotificationHub

/// The requests of one HTTP/2 connection: gives each one a stream, reserves room in the server's windows, and says what
/// the server's frames mean for the requests. A value without IO. What it writes is in `output` until `sent`.
struct HTTP2Session {
    enum Event: Hashable {
        /// The server has sent its settings and accepted ours.
        case ready(streams: Int)
        case capacityChanged(streams: Int)
        /// There is room for a request again; see `Writing.blocked`.
        case unblocked
        /// The reply; its `Date` is in `date`.
        case replied(RequestSlot, HubReply)
        /// The server has not processed the request.
        case refused(RequestSlot)
        /// The request has ended without a reply, and may have been accepted.
        case ended(RequestSlot, SendFailure)
        /// The connection takes no more requests, and the server has not processed these, in the order in which they
        /// were written.
        case leaving(refused: [RequestSlot], isCalm: Bool)
        /// The server wants HTTP/1.1. The request may have been accepted.
        case needsHTTP1(RequestSlot, SendFailure)
        /// The connection cannot be used any longer.
        case failed(SendFailure)
    }

    /// The result of writing a request.
    enum Writing: Hashable {
        case written
        /// A value cannot be written as HTTP.
        case invalid
        /// The connection's window has no room for the body. Nothing was written.
        case blocked
        /// No stream of this server has room for the body. Nothing was written.
        case tooLong
        /// The ids of streams have run out. RFC 9113 §5.1.1. Nothing was written.
        case usedUp
    }

    private var writer: HTTP2Writer
    private var reader: HTTP2Reader
    /// The stream of each request, by the request's slot; 0 without one.
    private var streams: [UInt32]
    private var nextStream: UInt32 = 1
    /// The bytes that the server takes on the connection, and on a new stream.
    private var window = HTTP2LocalSettings.initialWindow
    private var streamWindow = HTTP2LocalSettings.initialWindow
    /// The bytes of the body that the window had no room for.
    private var awaitedWindow: Int?
    private var streamsMax = Int.max
    private var start = Start.none
    private(set) var date = SIMD32<UInt8>()

    private enum Start {
        /// The server's settings are missing. Followed by `settings`.
        case none
        /// Ours are not acknowledged. Followed by `done`.
        case settings
        case done
    }

    /// - Parameter slots: the number of request slots of the pool.
    init(target: SendTarget, userAgent: String, limits: SenderLimits, slots: Int) {
        let settings = HTTP2LocalSettings(headBytesMax: limits.headBytesMax, bodyBytesMax: limits.bodyBytesMax)
        writer = HTTP2Writer(target: target, userAgent: userAgent)
        reader = HTTP2Reader(settings: settings)
        streams = Array(repeating: 0, count: slots)
        writer.writePreface(settings)
    }

    /// True if the server has shown that it speaks HTTP/2.
    var hasBegun: Bool { if case .none = start { false } else { true } }

    // MARK: Output

    /// The frames to send; `nil` without any. Call `sent` once they are handed over.
    var output: ByteBuffer? { writer.buffer.readableBytes > 0 ? writer.buffer : nil }

    /// True if the frames should be sent before another request is written.
    var isFull: Bool { writer.isFull }

    mutating func sent() { writer.reset() }

    /// Writes the request on a stream of its own.
    mutating func write(_ request: HubCall, _ slot: RequestSlot, authorization: String) -> Writing {
        guard nextStream <= UInt32(Int32.max) else { return .usedUp }
        // A body that the server takes only in parts would leave a request half written, and thus unknown.
        let length = request.body.count
        guard length <= streamWindow else { return .tooLong }
        guard length <= window else {
            awaitedWindow = length
            return .blocked
        }
        writer.authorization = authorization
        let range =
            switch request {
            case .send(let send): writer.write(send, stream: nextStream)
            case .question(let target): writer.write(question: target, stream: nextStream)
            }
        guard range != nil else { return .invalid }
        window -= length
        streams[slot.index] = nextStream
        reader.open(nextStream)
        nextStream += 2
        return .written
    }

    /// Ends the stream of a request whose reply is no longer awaited.
    mutating func cancel(_ slot: RequestSlot) {
        guard let stream = remove(slot) else { return }
        reader.close(stream)
        writer.writeReset(stream: stream, .cancel)
    }

    /// Tells the server that no more requests follow.
    mutating func close() { writer.writeGoAway(.noError) }

    mutating func ping() { writer.writePing(0, isAnswer: false) }

    // MARK: Input

    /// Reads on from `position`.
    ///
    /// - Returns: the next event, or `nil` at the end of the bytes.
    mutating func next(in bytes: Span<UInt8>, from position: inout Int) -> Event? {
        while let event = reader.next(in: bytes, from: &position) {
            if let found = apply(event) { return found }
        }
        return nil
    }

    private mutating func apply(_ event: HTTP2Reader.Event) -> Event? {
        switch event {
        case .settings(let settings): return apply(settings)
        case .settingsAcknowledged: return becomeReady()
        case .replied(let stream):
            date = reader.date
            let reply = reader.takeReply()
            return end(stream).map { .replied($0, reply) }
        case .reset(let stream, let code): return end(stream).map { reset($0, code) }
        case .malformed(let stream, let malformation):
            writer.writeReset(stream: stream, .protocolError)
            return end(stream).map { .ended($0, SendFailure(.malformedReply, malformation.rawValue)) }
        case .goAway(let last, let code): return goAway(last, code)
        case .ping(let value): writer.writePing(value, isAnswer: true)
        case .pong: break
        case .windowUpdate(let stream, let increment): return extend(stream, by: increment)
        case .windowUsed(let bytes): writer.writeWindowUpdate(stream: 0, increment: bytes)
        case .failed(let violation): return fail(violation.rawValue, violation.code)
        }
        return nil
    }

    private mutating func apply(_ settings: HTTP2PeerSettings) -> Event? {
        writer.acknowledge(settings)
        if let size = settings.initialWindowSize { streamWindow = Int(size) }
        if let most = settings.maxConcurrentStreams { streamsMax = Int(most) }
        if case .none = start {
            start = .settings
            return nil
        }
        guard case .done = start, settings.maxConcurrentStreams != nil else { return nil }
        return .capacityChanged(streams: streamsMax)
    }

    private mutating func becomeReady() -> Event? {
        guard case .settings = start else { return nil }
        start = .done
        return .ready(streams: streamsMax)
    }

    private mutating func reset(_ slot: RequestSlot, _ code: HTTP2ErrorCode) -> Event {
        switch code {
        case .refusedStream: return .refused(slot)
        case .http11Required: return .needsHTTP1(slot, SendFailure(.reset, "the server requires HTTP/1.1"))
        default: return .ended(slot, SendFailure(.reset, "the server ended the stream with code \(code.rawValue)"))
        }
    }

    private mutating func goAway(_ last: UInt32, _ code: HTTP2ErrorCode) -> Event {
        let above = streams.indices.filter { streams[$0] > last }.sorted { streams[$0] < streams[$1] }
        for index in above {
            reader.close(streams[index])
            streams[index] = 0
        }
        return .leaving(refused: above.map { RequestSlot($0) }, isCalm: code == .enhanceYourCalm)
    }

    private mutating func extend(_ stream: UInt32, by increment: Int) -> Event? {
        // Bodies are written whole, so that no stream needs more room.
        guard stream == 0 else { return nil }
        window += increment
        guard window <= HTTP2LocalSettings.windowMax else {
            return fail("the server extends the connection's window beyond its limit", .flowControlError)
        }
        guard let awaitedWindow, window >= awaitedWindow else { return nil }
        self.awaitedWindow = nil
        return .unblocked
    }

    private mutating func fail(_ reason: String, _ code: HTTP2ErrorCode) -> Event {
        writer.writeGoAway(code)
        return .failed(SendFailure(.malformedReply, reason))
    }

    // MARK: Streams

    private mutating func end(_ stream: UInt32) -> RequestSlot? {
        streams.firstIndex(of: stream).flatMap { index in
            streams[index] = 0
            return RequestSlot(index)
        }
    }

    private mutating func remove(_ slot: RequestSlot) -> UInt32? {
        let stream = streams[slot.index]
        streams[slot.index] = 0
        return stream == 0 ? nil : stream
    }
}
