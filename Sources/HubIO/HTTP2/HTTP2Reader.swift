internal import NotificationHub

/// Reads the frames of an HTTP/2 server from pieces of any size, and yields what happened one event at a time.
///
/// The counterpart of `ReplyReader`, for one connection with many streams. A value without IO, which fuzz tests can
/// run. The sizes of the pieces do not change the events. Malformed replies and broken rules of RFC 9113 are refused,
/// because a misread reply could be taken for the answer to another request.
///
/// The owner reports each stream that it opens and gives up. A stream is also closed by the events `replied`, `reset`
/// and `malformed`. Frames that come later for it are skipped, but count for the window and for the limits.
///
/// Memory: about 300 bytes for each open stream, at least 128 of them, one incomplete frame, one incomplete header
/// block, and the replies' bodies up to their limit.
package struct HTTP2Reader {
    package enum Event: Hashable, Sendable {
        /// The server's settings, which the owner applies and acknowledges.
        case settings(HTTP2PeerSettings)
        /// The server has applied our settings. Reported once.
        case settingsAcknowledged
        /// The reply on this stream is complete. It is valid until the next call of the reader; see `takeReply`.
        case replied(stream: UInt32)
        /// The server has ended the stream without a complete reply.
        case reset(stream: UInt32, HTTP2ErrorCode)
        /// The reply is not valid. The owner resets the stream; the request may have been accepted.
        case malformed(stream: UInt32, Malformation)
        /// The server takes no further streams, and has not processed those above `last`, which only falls.
        case goAway(last: UInt32, HTTP2ErrorCode)
        /// The owner answers with the same value.
        case ping(UInt64)
        case pong(UInt64)
        /// The server extends the window of a stream, or of the connection for stream 0, by 1…2³¹−1 bytes. The owner
        /// checks that the window stays below 2³¹.
        case windowUpdate(stream: UInt32, increment: Int)
        /// Half of the connection's window is used. The owner extends it by this number of bytes.
        case windowUsed(bytes: Int)
        /// The connection must be closed, with `GOAWAY` and the violation's code. Further bytes repeat this event.
        case failed(HTTP2Violation)
    }

    /// The frames that may arrive before a reply is complete, except those that belong to an open stream's reply.
    static let frameBudget = 10_000

    private let settings: HTTP2LocalSettings
    private let blockBytesMax: Int
    private var decoder = HPACKDecoder()
    private var streams: StreamTable
    private var highestStream: UInt32 = 0
    /// The slot of the last complete reply.
    private var repliedSlot = 0
    /// The beginning of a frame whose end has not arrived.
    private var partial: [UInt8] = []
    /// The header block that continues in the next frame, and its stream.
    private var block: [UInt8] = []
    private var blockHeader: FrameHeader?
    private var hasSettings = false
    private var isAcknowledged = false
    private var goAwayLast = UInt32.max
    private var budget = Self.frameBudget
    /// Bytes of DATA frames since the owner extended the connection's window.
    private var windowUsed = 0
    private var violation: HTTP2Violation?

    /// - Parameter settings: must be those that the writer announces on the same connection.
    package init(settings: HTTP2LocalSettings) {
        self.settings = settings
        streams = StreamTable(settings: settings)
        blockBytesMax = max(settings.headerListMax, FrameHeader.usualPayloadMax)
    }

    /// Bytes of an incomplete frame and an incomplete header block.
    var bufferedBytes: Int { partial.count + block.count }

    // MARK: Streams

    /// The number of open streams.
    package var openCount: Int { streams.count }

    /// Reports a request on a new stream. Ids are odd and grow.
    package mutating func open(_ stream: UInt32) {
        precondition(stream & 1 == 1 && stream > highestStream, "the ids of streams are odd and grow")
        highestStream = stream
        streams.insert(stream)
    }

    /// Reports that the owner has given up a stream. Does nothing if the stream is closed.
    package mutating func close(_ stream: UInt32) {
        guard let slot = streams.slot(of: stream) else { return }
        streams.replies[slot].reset()
        streams.remove(slot: slot)
    }

    /// The reply of the event `replied`. Only valid before the next call of the reader.
    package var reply: WireReply { streams.replies[repliedSlot].head.reply }

    /// The `Date` of the event `replied`, as 29 bytes of text; zeros if it is missing.
    var date: SIMD32<UInt8> { streams.replies[repliedSlot].head.date }

    /// Takes the reply of the event `replied`. Only valid before the next call of the reader.
    mutating func takeReply() -> HubReply { streams.replies[repliedSlot].takeReply() }

    // MARK: Frames

    /// Reads on from `position`, which moves to the byte behind the last one read.
    /// - Returns: the next event, or `nil` at the end of the piece. Call it again after every event.
    package mutating func next(in bytes: Span<UInt8>, from position: inout Int) -> Event? {
        while true {
            if windowUsed >= settings.connectionWindow / 2 {
                defer { windowUsed = 0 }
                return .windowUsed(bytes: windowUsed)
            }
            guard position < bytes.count else { return nil }
            do throws(HTTP2Violation) {
                if let violation { throw violation }
                if let event = try readFrame(bytes, from: &position) { return event }
            } catch {
                violation = error
                windowUsed = 0
                position = bytes.count
                return .failed(error)
            }
        }
    }

    /// Reads one frame, or keeps its beginning.
    private mutating func readFrame(_ bytes: Span<UInt8>, from position: inout Int) throws(HTTP2Violation) -> Event? {
        let rest = bytes.extracting(position...)
        if partial.isEmpty, rest.count >= FrameHeader.size {
            let header = FrameHeader(rest)
            try check(header)
            let end = FrameHeader.size + header.length
            if end <= rest.count {
                position += end
                return try process(header, rest.extracting(FrameHeader.size..<end))
            }
        }
        position += keep(rest, upTo: FrameHeader.size)
        guard partial.count >= FrameHeader.size else { return nil }
        let header = FrameHeader(partial.span)
        try check(header)
        let end = FrameHeader.size + header.length
        position += keep(bytes.extracting(position...), upTo: end)
        guard partial.count == end else { return nil }
        let frame = Self.take(&partial)
        defer { Self.reuse(frame, as: &partial) }
        return try process(header, frame.span.extracting(FrameHeader.size...))
    }

    /// Appends to the partial frame until it has `count` bytes.
    private mutating func keep(_ bytes: Span<UInt8>, upTo count: Int) -> Int {
        let added = min(max(count - partial.count, 0), bytes.count)
        partial.append(copying: bytes.extracting(0..<added))
        return added
    }

    /// Moves a buffer out of the reader, because its bytes cannot be lent while the reader changes.
    private static func take(_ buffer: inout [UInt8]) -> [UInt8] {
        var taken: [UInt8] = []
        swap(&taken, &buffer)
        return taken
    }

    /// Returns the memory of a buffer that was taken.
    private static func reuse(_ taken: consuming [UInt8], as buffer: inout [UInt8]) {
        taken.removeAll(keepingCapacity: true)
        buffer = taken
    }

    /// Checks what must hold before the payload is awaited.
    private func check(_ header: FrameHeader) throws(HTTP2Violation) {
        if !hasSettings {
            // RFC 9113 §3.4
            guard header.kind == FrameHeader.Kind.settings, !header.has(FrameHeader.Flag.ack), header.stream == 0 else {
                throw .notHTTP2
            }
        }
        guard header.length <= FrameHeader.usualPayloadMax else { throw .frameTooLong }
        let continues = header.kind == FrameHeader.Kind.continuation
        guard continues == (blockHeader != nil), blockHeader.map({ $0.stream == header.stream }) ?? true else {
            throw .brokenHeaderBlock
        }
    }

    private mutating func process(
        _ header: FrameHeader, _ payload: Span<UInt8>
    ) throws(HTTP2Violation) -> Event? {
        switch header.kind {
        case FrameHeader.Kind.data: return try readData(header, payload)
        case FrameHeader.Kind.headers:
            try checkStream(header.stream)
            let skipped = header.has(FrameHeader.Flag.priority) ? 5 : 0
            let fragment = payload.extracting(try unpadded(header, payload, skipping: skipped))
            return try readFragment(header, fragment)
        case FrameHeader.Kind.continuation: return try readContinuation(header, payload)
        case FrameHeader.Kind.pushPromise: throw .push
        default:
            try spend()
            return try readControl(header, payload)
        }
    }

    /// Checks that the stream has been opened. Only the connection's owner opens streams.
    private func checkStream(_ stream: UInt32) throws(HTTP2Violation) {
        guard stream & 1 == 1, stream <= highestStream else { throw .badStream }
    }

    /// The part of a payload without its padding, and without the priority in front of it.
    private func unpadded(
        _ header: FrameHeader, _ payload: Span<UInt8>, skipping skipped: Int
    ) throws(HTTP2Violation) -> Range<Int> {
        var start = 0
        var padding = 0
        if header.has(FrameHeader.Flag.padded) {
            guard !payload.isEmpty else { throw .badFrameLength }
            start = 1
            padding = Int(payload[0])
        }
        guard payload.count >= start + skipped else { throw .badFrameLength }
        start += skipped
        guard padding <= payload.count - start else { throw .badPadding }
        return start..<(payload.count - padding)
    }

    private mutating func spend() throws(HTTP2Violation) {
        budget -= 1
        guard budget > 0 else { throw .flood }
    }

    private mutating func readData(_ header: FrameHeader, _ payload: Span<UInt8>) throws(HTTP2Violation) -> Event? {
        try checkStream(header.stream)
        let data = payload.extracting(try unpadded(header, payload, skipping: 0))
        // Padding counts too: RFC 9113 §6.9.1.
        windowUsed += payload.count
        guard let slot = streams.slot(of: header.stream) else {
            try spend()
            return nil
        }
        if data.isEmpty { try spend() }
        streams.replies[slot].dataBytes += payload.count
        guard streams.replies[slot].dataBytes <= settings.streamWindow else { throw .windowExceeded }
        do {
            let isComplete = try streams.replies[slot].append(data, endsStream: header.has(FrameHeader.Flag.endStream))
            return isComplete ? completed(slot, header.stream) : nil
        } catch {
            return malformed(header.stream, error)
        }
    }

    // MARK: Header blocks

    private mutating func readFragment(
        _ header: FrameHeader, _ fragment: Span<UInt8>
    ) throws(HTTP2Violation) -> Event? {
        if header.has(FrameHeader.Flag.endHeaders) { return try readBlock(header, fragment) }
        block.append(copying: fragment)
        blockHeader = header
        return nil
    }

    private mutating func readContinuation(
        _ header: FrameHeader, _ payload: Span<UInt8>
    ) throws(HTTP2Violation) -> Event? {
        try spend()
        guard let first = blockHeader else { throw .brokenHeaderBlock }
        guard payload.count <= blockBytesMax - block.count else { throw .headerBlockTooLong }
        block.append(copying: payload)
        guard header.has(FrameHeader.Flag.endHeaders) else { return nil }
        blockHeader = nil
        let whole = Self.take(&block)
        defer { Self.reuse(whole, as: &block) }
        return try readBlock(first, whole.span)
    }

    private mutating func readBlock(_ header: FrameHeader, _ block: Span<UInt8>) throws(HTTP2Violation) -> Event? {
        guard let slot = streams.slot(of: header.stream) else {
            try spend()
            var skipped = SkippedFields()
            guard decoder.decode(block, into: &skipped) else { throw .badCompression }
            return nil
        }
        streams.replies[slot].beginBlock()
        guard decoder.decode(block, into: &streams.replies[slot]) else { throw .badCompression }
        do {
            let endsStream = header.has(FrameHeader.Flag.endStream)
            let isComplete = try streams.replies[slot].endBlock(endsStream: endsStream)
            return isComplete ? completed(slot, header.stream) : nil
        } catch {
            return malformed(header.stream, error)
        }
    }

    private struct SkippedFields: FieldReceiver {
        mutating func receive(name: Span<UInt8>, value: Span<UInt8>) {}
    }

    private mutating func completed(_ slot: Int, _ stream: UInt32) -> Event {
        streams.remove(slot: slot)
        repliedSlot = slot
        budget = Self.frameBudget
        return .replied(stream: stream)
    }

    private mutating func malformed(_ stream: UInt32, _ malformation: Malformation) -> Event {
        close(stream)
        return .malformed(stream: stream, malformation)
    }

    // MARK: Control frames

    private mutating func readControl(
        _ header: FrameHeader, _ payload: Span<UInt8>
    ) throws(HTTP2Violation) -> Event? {
        let isAck = header.has(FrameHeader.Flag.ack)
        switch header.kind {
        case FrameHeader.Kind.priority:
            guard header.stream > 0 else { throw .badStream }
            guard payload.count == 5 else { throw .badFrameLength }
            return nil
        case FrameHeader.Kind.reset:
            guard payload.count == 4 else { throw .badFrameLength }
            try checkStream(header.stream)
            guard streams.slot(of: header.stream) != nil else { return nil }
            close(header.stream)
            return .reset(stream: header.stream, HTTP2ErrorCode(rawValue: payload.number(at: 0)))
        case FrameHeader.Kind.settings:
            guard header.stream == 0 else { throw .badStream }
            if isAck { return try readAcknowledgement(payload) }
            let settings = try HTTP2PeerSettings(payload)
            hasSettings = true
            return .settings(settings)
        case FrameHeader.Kind.ping:
            guard header.stream == 0 else { throw .badStream }
            guard payload.count == 8 else { throw .badFrameLength }
            let value = UInt64(payload.number(at: 0)) << 32 | UInt64(payload.number(at: 4))
            return isAck ? .pong(value) : .ping(value)
        case FrameHeader.Kind.goAway:
            guard header.stream == 0 else { throw .badStream }
            guard payload.count >= 8 else { throw .badFrameLength }
            let last = payload.number(at: 0) & 0x7FFF_FFFF
            guard last <= goAwayLast else { throw .goAwayRaised }
            goAwayLast = last
            return .goAway(last: last, HTTP2ErrorCode(rawValue: payload.number(at: 4)))
        case FrameHeader.Kind.windowUpdate: return try readWindowUpdate(header.stream, payload)
        // Frames of unknown types are ignored: RFC 9113 §5.5.
        default: return nil
        }
    }

    private mutating func readAcknowledgement(_ payload: Span<UInt8>) throws(HTTP2Violation) -> Event? {
        guard payload.isEmpty else { throw .badFrameLength }
        guard !isAcknowledged else { return nil }
        isAcknowledged = true
        return .settingsAcknowledged
    }

    private mutating func readWindowUpdate(
        _ stream: UInt32, _ payload: Span<UInt8>
    ) throws(HTTP2Violation) -> Event? {
        guard payload.count == 4 else { throw .badFrameLength }
        let increment = Int(payload.number(at: 0) & 0x7FFF_FFFF)
        if stream == 0 {
            guard increment > 0 else { throw .badWindowUpdate }
        } else {
            try checkStream(stream)
            guard streams.slot(of: stream) != nil else { return nil }
            guard increment > 0 else { return malformed(stream, .badWindowUpdate) }
        }
        return .windowUpdate(stream: stream, increment: increment)
    }
}
