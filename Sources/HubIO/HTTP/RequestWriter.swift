import ByteText
package import NIOCore
package import NotificationHub

/// Writes requests one after another into a reused buffer. Common parts are kept as bytes: the lines before the tags,
/// which depend only on the kind of body, and the field names.
package struct RequestWriter {
    private let target: SendTarget
    private let userAgent: String
    private var isPrefixSendable = false
    /// The lines before the tags, for the formats used until now.
    private var openings: [(format: Platform, isRaw: Bool, bytes: [UInt8])] = []
    private var names = FieldNames()
    /// The requests written since the last `reset`. If a slice of the buffer is in use elsewhere, the next write copies
    /// the buffer. A whole group is therefore written before any of it is sent.
    package private(set) var buffer: ByteBuffer

    /// The value of `Authorization` for the next requests.
    package var authorization = "" {
        didSet { if authorization != oldValue { changePrefix() } }
    }

    package init(target: SendTarget, userAgent: String, allocator: ByteBufferAllocator = ByteBufferAllocator()) {
        self.target = target
        self.userAgent = userAgent
        buffer = allocator.buffer(capacity: Self.usualCapacity)
        changePrefix()
    }

    /// - Returns: the range of the whole request in `buffer`, or `nil` if a value cannot be written safely: it could
    ///   start another header, or be altered in transit.
    package mutating func write(_ request: SendRequest) -> Range<Int>? {
        // An absent or empty tag expression does not mean "no tags": without the header the hub sends to every device.
        guard isPrefixSendable, !request.tags.utf8.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) else { return nil }
        let opening = opening(of: request)
        // The lines below add less than 64 bytes to these texts, and 4 bytes per field.
        var room = opening.count + request.tags.utf8.count + request.body.count + 64
        // The span is indexed, because copying an element would retain two references.
        let fields = request.fields.span
        for index in fields.indices { room += fields[index].name.utf8.count + fields[index].value.utf8.count + 4 }
        var isSendable = true
        let start = buffer.writerIndex
        // All pieces are written through one pointer, because the buffer would check bounds for each short piece.
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: room) { memory in
            var rest = memory
            rest.write(opening)
            isSendable = rest.write(value: request.tags)
            for index in fields.indices {
                guard names.write(fields[index].name, to: &rest), rest.write(value: fields[index].value) else {
                    isSendable = false
                    break
                }
            }
            rest.write("\r\nContent-Length: ")
            rest.write(decimal: request.body.count)
            rest.write("\r\n\r\n")
            rest.write(request.body)
            return memory.count - rest.count
        }
        guard isSendable else {
            buffer.moveWriterIndex(to: start)
            return nil
        }
        return start..<buffer.writerIndex
    }

    /// True if the written requests should be sent before another one is written.
    package var isFull: Bool { buffer.readableBytes >= Self.keptMax }

    /// Reuses the memory of the written requests, unless a slice of it is still in use.
    package mutating func reset() {
        if buffer.capacity > Self.keptMax {
            buffer = ByteBufferAllocator().buffer(capacity: Self.usualCapacity)
        } else {
            buffer.clear()
        }
    }

    private static let usualCapacity = 64 << 10
    /// The largest capacity kept after a reset, so that one large group does not occupy memory. Bodies are at most 64
    /// KiB.
    private static let keptMax = 256 << 10

    private mutating func opening(of request: borrowing SendRequest) -> [UInt8] {
        let (format, isRaw) = (request.format, request.isRaw)
        if let known = openings.first(where: { $0.format == format && $0.isRaw == isRaw }) { return known.bytes }
        var lines =
            "POST \(target.path) HTTP/1.1\r\nHost: \(target.endpoint.authority)\r\nUser-Agent: \(userAgent)\r\n"
        if !authorization.isEmpty { lines += "Authorization: \(authorization)\r\n" }
        lines += "Content-Type: \(request.contentType)\r\nServiceBusNotification-Format: \(format.rawValue)\r\n"
        lines += "ServiceBusNotification-Tags: "
        let bytes = Array(lines.utf8)
        openings.append((format, isRaw, bytes))
        return bytes
    }

    private mutating func changePrefix() {
        isPrefixSendable =
            target.endpoint.authority.isFieldValue && target.path.isRequestTarget && userAgent.isFieldValue
            && authorization.isFieldValue
        openings.removeAll()
    }
}

/// The field names of requests. The same few names repeat.
private struct FieldNames {
    /// Names that passed the check, each with the beginning of its line.
    private var known: [(name: String, line: [UInt8])] = []
    private static let knownMax = 16

    /// Writes the beginning of the field's line.
    /// - Returns: false if the name is not a valid field name. In this case nothing is written.
    mutating func write(_ name: String, to memory: inout UnsafeMutableRawBufferPointer) -> Bool {
        // Lengths are compared first, because that is faster and the names in use differ in length.
        let length = name.utf8.count
        for index in known.indices where known[index].line.count == length + 4 && known[index].name == name {
            memory.write(known[index].line)
            return true
        }
        guard name.isFieldName, !name.isOwnFieldName else { return false }
        let line = Array("\r\n\(name): ".utf8)
        if known.count == Self.knownMax { known.removeFirst() }
        known.append((name, line))
        memory.write(line)
        return true
    }
}

extension UnsafeMutableRawBufferPointer {
    /// Copies the text and advances past it.
    fileprivate mutating func write(_ text: StaticString) {
        text.withUTF8Buffer { write(UnsafeRawBufferPointer($0)) }
    }

    fileprivate mutating func write(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { write($0) }
    }

    /// - Returns: false if the text is not a valid field value.
    fileprivate mutating func write(value text: String) -> Bool {
        text.withBytes { bytes in
            write(UnsafeRawBufferPointer(bytes))
            return bytes.span.isPrintableASCII
        }
    }

    /// - Parameter number: must not be negative.
    fileprivate mutating func write(decimal number: Int) {
        let (tens, ones) = number.quotientAndRemainder(dividingBy: 10)
        if tens > 0 { write(decimal: tens) }
        self[0] = UInt8(ascii: "0") + UInt8(ones)
        self = UnsafeMutableRawBufferPointer(rebasing: self[1...])
    }

    @inline(__always)
    private mutating func write(_ bytes: UnsafeRawBufferPointer) {
        precondition(bytes.count <= count, "the request has room for all its parts")
        copyMemory(from: bytes)
        self = UnsafeMutableRawBufferPointer(rebasing: self[bytes.count...])
    }
}

extension String {
    fileprivate var isFieldValue: Bool { withBytes { $0.span.isPrintableASCII } }

    fileprivate var isFieldName: Bool {
        !isEmpty && utf8.allSatisfy(\.isTokenCharacter)
    }

    /// True for visible ASCII that begins with a slash.
    fileprivate var isRequestTarget: Bool {
        utf8.first == UInt8(ascii: "/") && utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// True for fields that the writer adds itself, and those that delimit the request. A duplicate could make the
    /// server read the body as another request.
    fileprivate var isOwnFieldName: Bool {
        switch utf8.count {
        case 4: equalsInLowerCase("host")
        case 10: equalsInLowerCase("connection") || equalsInLowerCase("user-agent")
        case 12: equalsInLowerCase("content-type")
        case 13: equalsInLowerCase("authorization")
        case 14: equalsInLowerCase("content-length")
        case 17: equalsInLowerCase("transfer-encoding")
        case 27: equalsInLowerCase("servicebusnotification-tags")
        case 29: equalsInLowerCase("servicebusnotification-format")
        default: false
        }
    }

    private func equalsInLowerCase(_ word: StaticString) -> Bool {
        word.withUTF8Buffer { expected in
            utf8.elementsEqual(expected) { $0 | 0x20 == $1 }
        }
    }
}
