package import NIOCore
package import NotificationHub

/// Writes requests into one buffer that is used again and again. Everything up to the `Authorization` line is the same
/// for every request and stays in it.
///
/// The head is put together in an array first: NIO's buffer guards every write, which costs more than these short texts.
package struct RequestWriter {
    private let target: HubTarget
    private let userAgent: String
    private var head: [UInt8] = []
    private var prefixLength = 0
    private var isPrefixSendable = false
    package private(set) var buffer: ByteBuffer

    /// The value of `Authorization` for the next requests.
    package var authorization = "" {
        didSet { if authorization != oldValue { writePrefix() } }
    }

    package init(target: HubTarget, userAgent: String, allocator: ByteBufferAllocator = ByteBufferAllocator()) {
        self.target = target
        self.userAgent = userAgent
        buffer = allocator.buffer(capacity: 2048)
        writePrefix()
    }

    /// Puts the whole request into `buffer`.
    /// - Returns: false when a value cannot stand in a request: it would end its line and start a header of its own, or
    ///   would be mangled on the way. `buffer` must not be sent then.
    package mutating func write(_ request: SendRequest) -> Bool {
        // An absent or empty tag expression is not "no tags": without the header the hub sends to everyone.
        guard isPrefixSendable, request.tags.isFieldValue, !request.tags.utf8.allSatisfy({ $0 == 0x20 || $0 == 0x09 })
        else { return false }
        head.removeSubrange(prefixLength...)
        head.append(text: "Content-Type: ")
        head.append(text: request.format.contentType)
        head.append(text: "\r\nServiceBusNotification-Format: ")
        head.append(text: request.format.rawValue)
        head.append(text: "\r\nServiceBusNotification-Tags: ")
        head.append(text: request.tags)
        for field in request.fields {
            guard field.name.isFieldName, !field.name.isOwnFieldName, field.value.isFieldValue else { return false }
            head.append(text: "\r\n")
            head.append(text: field.name)
            head.append(text: ": ")
            head.append(text: field.value)
        }
        head.append(text: "\r\nContent-Length: ")
        head.append(text: String(request.body.count))
        head.append(text: "\r\n\r\n")
        buffer.clear()
        buffer.writeBytes(head)
        buffer.writeBytes(request.body)
        return true
    }

    private mutating func writePrefix() {
        let host = target.endpoint.authority
        let path = target.path.target
        isPrefixSendable =
            host.isFieldValue && path.isRequestTarget && userAgent.isFieldValue && authorization.isFieldValue
        head = Array("POST \(path) HTTP/1.1\r\nHost: \(host)\r\nUser-Agent: \(userAgent)\r\n".utf8)
        if !authorization.isEmpty { head += Array("Authorization: \(authorization)\r\n".utf8) }
        prefixLength = head.count
    }
}

extension [UInt8] {
    fileprivate mutating func append(text: String) {
        var text = text
        text.withUTF8 { append(contentsOf: $0) }
    }
}

extension String {
    /// Printable ASCII, spaces and tabs.
    fileprivate var isFieldValue: Bool {
        var text = self
        return text.withUTF8 { bytes in
            // Without a branch per byte, so that the compiler can take many bytes at once.
            var others: UInt8 = 0
            for byte in bytes { others |= (0x20...0x7E).contains(byte) || byte == 0x09 ? 0 : 1 }
            return others == 0
        }
    }

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
