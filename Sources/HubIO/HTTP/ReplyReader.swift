import ByteText
internal import NotificationHub

/// Reads HTTP/1.1 and 1.0 replies to POST and GET requests from pieces of any size. Call `reset()` between replies. Refuses
/// everything that RFC 9112 calls invalid or lets a recipient repair, because a misread reply could be taken for the
/// answer to another request.
///
/// The sizes of the pieces do not change the outcome, with one exception. Bytes after a reply make it malformed only if
/// they arrive in the same piece, because the reader cannot wait for bytes that should not come.
///
/// Our own codec, with `RequestWriter`, because every request is on the path of an event. NIO's HTTP handlers allocate a head and
/// its fields for each reply. This reader keeps only what a send needs, and is a value that fuzz tests can run.
package struct ReplyReader {
    package enum Step: Hashable, Sendable {
        case needsMore
        /// The reply in `reply` is complete.
        case complete
        case malformed(Malformation)
    }

    private enum State {
        case statusLine
        case fields
        case body(remaining: Int)
        case chunkSize
        case chunk(remaining: Int)
        case chunkEnd
        case trailers
        case bodyUntilClose
        case complete
        case failed(Malformation)
    }

    private let headBytesMax: Int
    private let bodyBytesMax: Int
    private var state = State.statusLine
    private var head = ReplyHead()
    /// The beginning of a line whose end has not arrived.
    private var line: [UInt8] = []
    /// Bytes of the lines read until now: of all heads of this reply, of one chunk's size, or of the trailers.
    private var lineBytes = 0

    package init(headBytesMax: Int, bodyBytesMax: Int) {
        self.headBytesMax = headBytesMax
        self.bodyBytesMax = bodyBytesMax
    }

    /// True once a byte of the next reply has arrived.
    var hasBegun: Bool {
        if case .statusLine = state { lineBytes > 0 || !line.isEmpty } else { true }
    }

    /// Prepares for the next reply.
    package mutating func reset() {
        state = .statusLine
        head.reset()
        line.removeAll(keepingCapacity: line.capacity <= 1024)
        lineBytes = 0
    }

    /// The reply; valid once it is complete.
    package var reply: WireReply { head.reply }

    /// The reply's `Date` as 29 bytes of text; zeros if it is missing.
    var date: SIMD32<UInt8> { head.date }

    /// Returns the complete reply and prepares the reader for the next one.
    mutating func takeReply() -> HubReply {
        let taken = head.reply.hubReply
        reset()
        return taken
    }

    /// Reads the next piece. After `.complete` and `.malformed`, call `reset()` first; otherwise further bytes are
    /// malformed.
    package mutating func read(_ bytes: Span<UInt8>) -> Step {
        var position = 0
        while position < bytes.count {
            let rest = bytes.extracting(position..<bytes.count)
            switch state {
            case .statusLine, .fields, .chunkSize, .chunkEnd, .trailers: position += readLine(rest)
            case .body(let remaining):
                position += take(remaining, of: rest) { $0 == 0 ? .complete : .body(remaining: $0) }
            case .chunk(let remaining):
                position += take(remaining, of: rest) { $0 == 0 ? .chunkEnd : .chunk(remaining: $0) }
            case .bodyUntilClose:
                position += take(rest.count, of: rest) { _ in .bodyUntilClose }
            case .complete: state = .failed(.bytesAfterReply)
            case .failed(let malformation): return .malformed(malformation)
            }
        }
        switch state {
        case .complete: return .complete
        case .failed(let malformation): return .malformed(malformation)
        default: return .needsMore
        }
    }

    /// Reports that the connection has ended. This completes a reply whose body ends with the connection.
    /// - Returns: `.needsMore` if the reply is truncated.
    mutating func end() -> Step {
        switch state {
        case .bodyUntilClose:
            state = .complete
            return .complete
        case .failed(let malformation): return .malformed(malformation)
        default: return .needsMore
        }
    }

    // MARK: Lines

    // The next three functions run once per line and have one call site each: all are inlined into the loop in `read`.

    /// Reads up to the end of the line.
    /// - Returns: the number of bytes read, at least one.
    @inline(__always)
    private mutating func readLine(_ bytes: Span<UInt8>) -> Int {
        let allowed = headBytesMax - lineBytes - line.count
        let length = bytes.length(before: 0x0A)
        guard length < allowed else {
            state = .failed(.headTooLong)
            return bytes.count
        }
        if length == bytes.count {
            line.append(copying: bytes)
            return length
        }
        if line.isEmpty {
            lineBytes += length + 1
            endLine(bytes.extracting(0..<length))
        } else {
            line.append(copying: bytes.extracting(0..<length))
            lineBytes += line.count + 1
            let whole = line
            line.removeAll(keepingCapacity: true)
            endLine(whole.span)
        }
        return length + 1
    }

    /// Ends a line, which is passed without its LF.
    @inline(__always)
    private mutating func endLine(_ bytes: Span<UInt8>) {
        guard bytes.count > 0, bytes[bytes.count - 1] == 0x0D else {
            state = .failed(.bareLineFeed)
            return
        }
        do {
            try read(line: bytes.extracting(0..<(bytes.count - 1)))
        } catch {
            state = .failed(error)
        }
    }

    @inline(__always)
    private mutating func read(line: Span<UInt8>) throws(Malformation) {
        switch state {
        case .statusLine:
            try head.readStatusLine(line)
            state = .fields
        case .fields: if line.isEmpty { try endHead() } else { try head.readField(line) }
        case .chunkSize: try readChunkSize(line)
        case .chunkEnd:
            guard line.isEmpty else { throw .badChunk }
            lineBytes = 0
            state = .chunkSize
        case .trailers: if line.isEmpty { state = .complete } else { try ReplyHead.checkField(line) }
        default: break
        }
    }

    private mutating func endHead() throws(Malformation) {
        switch try head.end() {
        case .informational:
            // The reply follows an interim one such as 100 Continue. All heads count towards the same limit, which
            // stops an endless series of them.
            head.reset()
            state = .statusLine
        case .none, .length(0): state = .complete
        case .length(let length):
            guard length <= bodyBytesMax else { throw .bodyTooLong }
            state = .body(remaining: length)
        case .chunked:
            lineBytes = 0
            state = .chunkSize
        case .untilClose:
            state = .bodyUntilClose
        }
    }

    // MARK: Bodies

    /// Appends up to `wanted` bytes to the body.
    /// - Parameter next: makes the state for the number of bytes that are still missing.
    /// - Returns: the number of bytes read.
    private mutating func take(_ wanted: Int, of bytes: Span<UInt8>, next: (Int) -> State) -> Int {
        let count = min(wanted, bytes.count)
        guard count <= bodyBytesMax - head.reply.body.count else {
            state = .failed(.bodyTooLong)
            return bytes.count
        }
        head.reply.body.append(copying: bytes.extracting(0..<count))
        state = next(wanted - count)
        return count
    }

    /// Reads `chunk-size [chunk-ext]`, RFC 9112 §7.1. Extensions are skipped.
    private mutating func readChunkSize(_ content: Span<UInt8>) throws(Malformation) {
        var size = 0
        var digits = 0
        while digits < content.count, let value = content[digits].hexDigitValue {
            // The size exceeds the limit long before it could overflow.
            guard size <= bodyBytesMax else { throw .bodyTooLong }
            (size, digits) = (size << 4 | Int(value), digits + 1)
        }
        guard digits > 0, digits == content.count || content[digits] == UInt8(ascii: ";"),
            content.isFieldContent
        else { throw .badChunk }
        guard size <= bodyBytesMax - head.reply.body.count else { throw .bodyTooLong }
        lineBytes = 0
        state = size == 0 ? .trailers : .chunk(remaining: size)
    }
}

extension [UInt8] {
    mutating func append(copying bytes: Span<UInt8>) {
        bytes.withUnsafeBufferPointer { append(contentsOf: $0) }
    }
}

/// The reason why bytes are not a reply.
package enum Malformation: String, Error, Hashable, Sendable, CaseIterable {
    case badStatusLine = "the status line is not HTTP/1.1's"
    case badField = "a header field is not well formed"
    case foldedField = "a header field continues on a second line"
    case bareLineFeed = "a line ends without a carriage return"
    case badLength = "Content-Length is not one number"
    case badTransferEncoding = "Transfer-Encoding is not chunked"
    case lengthAndTransferEncoding = "the body has two lengths: Content-Length and Transfer-Encoding"
    case badChunk = "a chunk is not well formed"
    case headTooLong = "the head is too long"
    case bodyTooLong = "the body is too long"
    case protocolSwitch = "it switches to another protocol"
    case bytesAfterReply = "more bytes came behind the reply"
    // Only replies over HTTP/2 have the following faults.
    case badPseudoField = "its first field is not :status, or it has another pseudo-header field"
    case connectionField = "a field belongs to HTTP/1.1 connections only"
    case lengthMismatch = "the body is longer or shorter than Content-Length"
    case bodyOutOfPlace = "a body comes before the head, or with a status that excludes it"
    case badEnd = "it ends with an interim head, or its trailers do not end it"
    case badWindowUpdate = "a flow-control window is extended by zero bytes"
}
