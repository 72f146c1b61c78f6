import ByteText
package import NIOCore
package import NotificationHub

/// Writes requests one behind the other into one buffer that is used again and again. What requests have in common is kept
/// in bytes: the lines before the tags, which depend on the kind of body alone, and the names of the fields.
package struct RequestWriter {
    private let target: SendTarget
    private let userAgent: String
    private var isPrefixSendable = false
    /// Everything before the tags, for the formats used so far.
    private var openings: [(format: NotificationFormat, isRaw: Bool, bytes: [UInt8])] = []
    private var names = FieldNames()
    /// The requests written since the last `reset`. Another one is written behind them in a copy while somebody has a part of
    /// it, so all of a group are written first.
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

    /// - Returns: where in `buffer` the whole request stands; `nil` when a value cannot be written: it would end its line and
    ///   start a header of its own, or be mangled on the way.
    package mutating func write(_ request: SendRequest) -> Range<Int>? {
        // An absent or empty tag expression is not "no tags": without the header the hub sends to everyone.
        guard isPrefixSendable, !request.tags.utf8.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) else { return nil }
        let opening = opening(of: request)
        // The lines below add less than 64 bytes to these texts, and 4 for each field.
        var room = opening.count + request.tags.utf8.count + request.body.count + 64
        // By index in a span: copying an element would retain two references.
        let fields = request.fields.span
        for index in fields.indices { room += fields[index].name.utf8.count + fields[index].value.utf8.count + 4 }
        var isSendable = true
        let start = buffer.writerIndex
        // Written through one pointer, since the buffer would guard every one of these short pieces.
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

    /// The requests written so far should leave before another one is written.
    package var isFull: Bool { buffer.readableBytes >= Self.keptMax }

    /// Uses the memory of the requests written so far again, unless somebody still has some of them.
    package mutating func reset() {
        if buffer.capacity > Self.keptMax {
            buffer = ByteBufferAllocator().buffer(capacity: Self.usualCapacity)
        } else {
            buffer.clear()
        }
    }

    private static let usualCapacity = 64 << 10
    /// Bodies are at most 64 KiB, and one large group must not hold its memory for good.
    private static let keptMax = 256 << 10

    private mutating func opening(of request: borrowing SendRequest) -> [UInt8] {
        let (format, isRaw) = (request.format, request.isRaw)
        if let known = openings.first(where: { $0.format == format && $0.isRaw == isRaw }) { return known.bytes }
        var lines =
            "POST \(target.path.target) HTTP/1.1\r\nHost: \(target.endpoint.authority)\r\nUser-Agent: \(userAgent)\r\n"
        if !authorization.isEmpty { lines += "Authorization: \(authorization)\r\n" }
        lines += "Content-Type: \(request.contentType)\r\nServiceBusNotification-Format: \(format.rawValue)\r\n"
        lines += "ServiceBusNotification-Tags: "
        let bytes = Array(lines.utf8)
        openings.append((format, isRaw, bytes))
        return bytes
    }

    private mutating func changePrefix() {
        isPrefixSendable =
            target.endpoint.authority.isFieldValue && target.path.target.isRequestTarget && userAgent.isFieldValue
            && authorization.isFieldValue
        openings.removeAll()
    }
}

/// The names of the fields of requests, which repeat the same few.
private struct FieldNames {
    /// Those that passed the check, each with the start of its line.
    private var known: [(name: String, line: [UInt8])] = []
    private static let knownMax = 16

    /// Begins the field's line.
    /// - Returns: false when the name cannot be that of a field. Nothing is written then.
    mutating func write(_ name: String, to memory: inout UnsafeMutableRawBufferPointer) -> Bool {
        // Lengths first: the names in use have different ones, and to compare numbers is quicker.
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
    /// Copies the text to the front and steps behind it.
    fileprivate mutating func write(_ text: StaticString) {
        text.withUTF8Buffer { write(UnsafeRawBufferPointer($0)) }
    }

    fileprivate mutating func write(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { write($0) }
    }

    /// - Returns: false when the text cannot be a field's value.
    fileprivate mutating func write(value text: String) -> Bool {
        text.withBytes { bytes in
            write(UnsafeRawBufferPointer(bytes))
            return bytes.span.isPrintableASCII
        }
    }

    /// - Parameter number: zero or more.
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

    /// Visible ASCII that begins with a slash.
    fileprivate var isRequestTarget: Bool {
        utf8.first == UInt8(ascii: "/") && utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// Fields that the writer writes itself, and those that say where the request ends. A second one could make the
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
