import ByteText
package import NIOCore
package import NotificationHub

/// Writes the frames of one HTTP/2 connection one after another into a reused buffer.
///
/// The counterpart of `RequestWriter`. Fields that repeat enter the server's dynamic table with the first request, and
/// take one byte each from then on. It does not know the flow-control windows: the owner writes a request only if
/// `body.count` bytes fit into the windows of its stream and of the connection. The request is then written completely.
package struct HTTP2Writer {
    private let target: SendTarget
    private let userAgent: String
    private var isPrefixSendable = false
    /// The entries of the server's dynamic table.
    private var table = HPACKTable()
    /// The fields before the value of the tags, for the formats used until now. They refer to `table`.
    private var openings: [(format: Platform, isRaw: Bool, bytes: [UInt8])] = []
    private var names = FieldNames(.http2)
    /// The longest payload that the server accepts.
    private var payloadMax = FrameHeader.usualPayloadMax
    /// The frames written since the last `reset`, to be sent in their order and without a gap.
    package private(set) var buffer: ByteBuffer

    /// The value of `Authorization` for the next requests. A new one enters the server's table beside the old one.
    package var authorization = "" {
        didSet {
            guard authorization != oldValue else { return }
            table.makeRoom(name: "authorization", value: authorization)
            changePrefix()
        }
    }

    package init(target: SendTarget, userAgent: String, allocator: ByteBufferAllocator = ByteBufferAllocator()) {
        self.target = target
        self.userAgent = userAgent
        buffer = allocator.buffer(capacity: ByteBuffer.usualGroupCapacity)
        changePrefix()
    }

    /// True if the written frames should be sent before another request is written.
    package var isFull: Bool { buffer.isFullGroup }

    /// Reuses the memory of the written frames, unless a slice of it is still in use.
    package mutating func reset() { buffer.startGroup() }

    // MARK: Connection

    /// Writes what begins a connection: the preface, our settings, and the extension of the connection's window.
    package mutating func writePreface(_ settings: HTTP2LocalSettings) {
        buffer.writeStaticString("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        let values = [
            // Without a table, the reader needs none (RFC 7541 §4.2).
            (HTTP2PeerSettings.headerTableSizeID, 0), (HTTP2PeerSettings.enablePushID, 0),
            (HTTP2PeerSettings.initialWindowSizeID, settings.streamWindow),
            (HTTP2PeerSettings.maxHeaderListSizeID, settings.headerListMax),
        ]
        write(FrameHeader(length: values.count * 6, kind: FrameHeader.Kind.settings))
        for (id, value) in values {
            buffer.writeInteger(UInt16(id))
            buffer.writeInteger(UInt32(value))
        }
        let more = settings.connectionWindow - HTTP2LocalSettings.initialWindow
        if more > 0 { writeWindowUpdate(stream: 0, increment: more) }
    }

    /// Applies the server's settings to the next requests, and writes their acknowledgement. Call it for each SETTINGS
    /// frame, in their order (RFC 9113 §6.5.3).
    package mutating func acknowledge(_ settings: HTTP2PeerSettings) {
        if let size = settings.maxFrameSize { payloadMax = Int(size) }
        if let size = settings.headerTableSize {
            table.permit(Int(size))
            openings.removeAll()
        }
        write(FrameHeader(length: 0, kind: FrameHeader.Kind.settings, flags: FrameHeader.Flag.ack))
    }

    /// - Parameter isAnswer: true for the answer to the server's ping of the same value.
    package mutating func writePing(_ value: UInt64, isAnswer: Bool) {
        write(FrameHeader(length: 8, kind: FrameHeader.Kind.ping, flags: isAnswer ? FrameHeader.Flag.ack : 0))
        buffer.writeInteger(value)
    }

    /// - Parameters:
    ///   - stream: 0 for the connection.
    ///   - increment: in bytes, 1…2³¹−1.
    package mutating func writeWindowUpdate(stream: UInt32, increment: Int) {
        write(FrameHeader(length: 4, kind: FrameHeader.Kind.windowUpdate, stream: stream))
        buffer.writeInteger(UInt32(increment))
    }

    package mutating func writeReset(stream: UInt32, _ code: HTTP2ErrorCode) {
        write(FrameHeader(length: 4, kind: FrameHeader.Kind.reset, stream: stream))
        buffer.writeInteger(code.rawValue)
    }

    /// Writes the end of the connection. The last stream is always 0, because the server opens none.
    package mutating func writeGoAway(_ code: HTTP2ErrorCode) {
        write(FrameHeader(length: 8, kind: FrameHeader.Kind.goAway))
        buffer.writeInteger(UInt32(0))
        buffer.writeInteger(code.rawValue)
    }

    private mutating func write(_ header: FrameHeader) {
        buffer.writeInteger(header.word)
        buffer.writeInteger(UInt8(truncatingIfNeeded: header.stream))
    }

    // MARK: Requests

    /// Writes a whole request, which ends its stream on our side.
    /// - Parameter stream: must be odd, and higher than that of the request before.
    /// - Returns: the range of its frames in `buffer`. `nil` if a value cannot be written safely, because it could be
    ///   altered in transit, or become another field behind a gateway. In this case nothing is written.
    package mutating func write(_ request: SendRequest, stream: UInt32) -> Range<Int>? {
        // An absent or empty tag expression does not mean "no tags": without the field the hub sends to every device.
        guard isPrefixSendable, !request.tags.isBlank else { return nil }
        let (opening, changedTable) = opening(of: request)
        // A literal takes at most 10 bytes more than its text, and content-length less than 32.
        var room = opening.count + request.tags.utf8.count + 42
        // The span is indexed, because copying an element would retain two references.
        let fields = request.fields.span
        for index in fields.indices { room += fields[index].name.utf8.count + fields[index].value.utf8.count + 24 }
        room += request.body.count
        // No server may ask for shorter payloads than the usual ones.
        room += (room / FrameHeader.usualPayloadMax + 2) * FrameHeader.size
        let payloadMax = payloadMax
        var isSendable = true
        let start = buffer.writerIndex
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: room) { memory in
            // The header of the first frame is written when the length of the block is known.
            var rest = memory
            rest.skip(FrameHeader.size)
            rest.write(opening)
            isSendable = rest.write(literal: request.tags)
            for index in fields.indices {
                guard names.write(fields[index].name, to: &rest), rest.write(literal: fields[index].value) else {
                    isSendable = false
                    break
                }
            }
            rest.writeContentLength(request.body.count)
            let blockLength = memory.count - rest.count - FrameHeader.size
            rest = memory.frameBlock(
                ofLength: blockLength, payloadMax: payloadMax, stream: stream, endsStream: request.body.isEmpty)
            rest.writeData(request.body, payloadMax: payloadMax, stream: stream)
            return memory.count - rest.count
        }
        guard isSendable else {
            buffer.moveWriterIndex(to: start)
            return nil
        }
        if let changedTable {
            table = changedTable
            // New entries have moved the indexes of the others.
            openings.removeAll()
        }
        return start..<buffer.writerIndex
    }

    /// Writes a GET request, which ends its stream on our side. Parameters and result are those of a send.
    package mutating func write(question target: String, stream: UInt32) -> Range<Int>? {
        guard isPrefixSendable, target.isRequestTarget else { return nil }
        let block = beginBlock(&table, question: target)
        // New entries have moved the indexes of the others.
        openings.removeAll()
        let payloadMax = payloadMax
        let room = block.count + (block.count / FrameHeader.usualPayloadMax + 2) * FrameHeader.size
        let start = buffer.writerIndex
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: room) { memory in
            var rest = memory
            rest.skip(FrameHeader.size)
            rest.write(block)
            rest = memory.frameBlock(
                ofLength: block.count, payloadMax: payloadMax, stream: stream, endsStream: true)
            return memory.count - rest.count
        }
        return start..<buffer.writerIndex
    }

    /// The fields before the value of the tags, and the table after them if they change it.
    private mutating func opening(of request: borrowing SendRequest) -> ([UInt8], HPACKTable?) {
        let (format, isRaw) = (request.format, request.isRaw)
        if let known = openings.first(where: { $0.format == format && $0.isRaw == isRaw }) { return (known.bytes, nil) }
        // A copy, because a request that cannot be written must not change the table.
        var changed = table
        var block = beginBlock(&changed)
        block += changed.field("content-type", staticName: 31, request.contentType)
        block += changed.field("servicebusnotification-format", format.rawValue)
        block += changed.beginning(ofField: "servicebusnotification-tags", value: request.tags.withoutSpaces)
        guard changed.count == table.count, table.sizeUpdates.isEmpty else { return (block, changed) }
        openings.append((format, isRaw, block))
        return (block, nil)
    }

    /// The fields that every request has.
    /// - Parameter question: the target of a GET request. It stays out of the table, because it does not repeat.
    private func beginBlock(_ table: inout HPACKTable, question: String? = nil) -> [UInt8] {
        var block = table.begin()
        let method: UInt8 = question == nil ? 0x83 : 0x82
        let scheme: UInt8 = target.endpoint.scheme == .https ? 0x87 : 0x86
        block += [method, scheme]
        block += table.field(":authority", staticName: 1, target.endpoint.authority)
        block += question.map { [4] + HPACK.literal($0) } ?? table.field(":path", staticName: 4, target.path)
        if !userAgent.isBlank { block += table.field("user-agent", staticName: 58, userAgent.withoutSpaces) }
        if !authorization.isBlank {
            block += table.field("authorization", staticName: 23, authorization.withoutSpaces, isSecret: true)
        }
        return block
    }

    private mutating func changePrefix() {
        isPrefixSendable =
            target.endpoint.authority.isFieldValue && target.path.isRequestTarget && userAgent.isFieldValue
            && authorization.isFieldValue
        openings.removeAll()
    }
}

extension String {
    /// The text without spaces and tabs at its ends, as `write(literal:)` writes it.
    fileprivate var withoutSpaces: String {
        withBytes { $0.span.extracting($0.span.trimmed(0..<$0.count)).text }
    }
}

extension UnsafeMutableRawBufferPointer {
    @inline(__always)
    fileprivate mutating func write(_ header: FrameHeader) {
        precondition(count >= FrameHeader.size, "the request has room for all its parts")
        storeBytes(of: header.word.bigEndian, as: UInt64.self)
        self[8] = UInt8(truncatingIfNeeded: header.stream)
        skip(FrameHeader.size)
    }

    /// Writes `content-length` without adding it to the table. Its name is entry 28 of the static table.
    fileprivate mutating func writeContentLength(_ length: Int) {
        write(integer: 28, prefixBits: 4, pattern: 0)
        var digits = self
        digits.skip(1)
        let before = digits.count
        digits.write(decimal: length)
        write(byte: UInt8(before - digits.count))
        self = digits
    }

    /// Adds frame headers to a header block that begins behind the room for the first of them.
    /// - Returns: the memory behind the last frame.
    fileprivate func frameBlock(
        ofLength length: Int, payloadMax: Int, stream: UInt32, endsStream: Bool
    ) -> UnsafeMutableRawBufferPointer {
        var frame = length <= payloadMax ? 0 : (length - 1) / payloadMax
        let end = (frame + 1) * FrameHeader.size + length
        // The last frame moves first, because each one moves to where the next one began.
        while frame >= 0 {
            let start = frame * payloadMax
            let count = Swift.min(length - start, payloadMax)
            let place = frame * (payloadMax + FrameHeader.size)
            var target = self
            target.skip(place)
            if frame > 0 {
                let content = FrameHeader.size + start
                UnsafeMutableRawBufferPointer(rebasing: target[FrameHeader.size...])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: self[content..<(content + count)]))
            }
            let isLast = start + count == length
            var header = FrameHeader(length: count, kind: FrameHeader.Kind.continuation, stream: stream)
            if frame == 0 {
                header.kind = FrameHeader.Kind.headers
                if endsStream { header.flags |= FrameHeader.Flag.endStream }
            }
            if isLast { header.flags |= FrameHeader.Flag.endHeaders }
            target.write(header)
            frame -= 1
        }
        var rest = self
        rest.skip(end)
        return rest
    }

    /// Writes the body as DATA frames, the last of which ends the stream. Writes nothing if the body is empty.
    fileprivate mutating func writeData(_ body: [UInt8], payloadMax: Int, stream: UInt32) {
        body.withUnsafeBytes { body in
            var start = 0
            while start < body.count {
                let count = Swift.min(body.count - start, payloadMax)
                let isLast = start + count == body.count
                write(
                    FrameHeader(
                        length: count, kind: FrameHeader.Kind.data,
                        flags: isLast ? FrameHeader.Flag.endStream : 0, stream: stream))
                write(UnsafeRawBufferPointer(rebasing: body[start..<(start + count)]))
                start += count
            }
        }
    }
}
