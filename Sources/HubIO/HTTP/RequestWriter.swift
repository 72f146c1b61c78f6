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
    private var names = FieldNames(.http1)
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
        buffer = allocator.buffer(capacity: ByteBuffer.usualGroupCapacity)
        changePrefix()
    }

    /// - Returns: the range of the whole request in `buffer`, or `nil` if a value cannot be written safely: it could
    ///   start another header, or be altered in transit.
    package mutating func write(_ request: SendRequest) -> Range<Int>? {
        // An absent or empty tag expression does not mean "no tags": without the header the hub sends to every device.
        guard isPrefixSendable, !request.tags.isBlank else { return nil }
        let opening = opening(of: request)
        // The lines below add less than 64 bytes to these texts, and 4 bytes per field.
        var room = opening.count + request.tags.utf8.count + request.body.count + 64
        // The span is indexed, because copying an element would retain two references.
        let fields = request.fields.span
        for index in fields.indices { room += fields[index].name.utf8.count + fields[index].value.utf8.count + 4 }
        var isSendable = true
        let start = buffer.writerIndex
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

    /// Writes a GET request for the target. Returns what `write` returns for a send.
    package mutating func write(question target: String) -> Range<Int>? {
        guard isPrefixSendable, target.isRequestTarget else { return nil }
        let start = buffer.writerIndex
        buffer.writeString("GET \(target) HTTP/1.1\r\n\(commonLines)\r\n")
        return start..<buffer.writerIndex
    }

    /// True if the written requests should be sent before another one is written.
    package var isFull: Bool { buffer.isFullGroup }

    /// Reuses the memory of the written requests, unless a slice of it is still in use.
    package mutating func reset() { buffer.startGroup() }

    private mutating func opening(of request: borrowing SendRequest) -> [UInt8] {
        let (format, isRaw) = (request.format, request.isRaw)
        if let known = openings.first(where: { $0.format == format && $0.isRaw == isRaw }) { return known.bytes }
        var lines = "POST \(target.path) HTTP/1.1\r\n\(commonLines)"
        lines += "Content-Type: \(request.contentType)\r\nServiceBusNotification-Format: \(format.rawValue)\r\n"
        lines += "ServiceBusNotification-Tags: "
        let bytes = Array(lines.utf8)
        openings.append((format, isRaw, bytes))
        return bytes
    }

    private var commonLines: String {
        let lines = "Host: \(target.endpoint.authority)\r\nUser-Agent: \(userAgent)\r\n"
        return authorization.isEmpty ? lines : lines + "Authorization: \(authorization)\r\n"
    }

    private mutating func changePrefix() {
        isPrefixSendable =
            target.endpoint.authority.isFieldValue && target.path.isRequestTarget && userAgent.isFieldValue
            && authorization.isFieldValue
        openings.removeAll()
    }
}
