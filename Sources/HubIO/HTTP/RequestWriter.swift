import ByteText
package import NIOCore
package import NotificationHub

/// Writes requests into one buffer that is used again and again. Everything up to the `Authorization` line is the same
/// for every request and written as one piece.
package struct RequestWriter {
    private let target: SendTarget
    private let userAgent: String
    private var prefix: [UInt8] = []
    private var isPrefixSendable = false
    /// Names that passed the check; requests repeat the same few.
    private var goodNames: [String] = []
    package private(set) var buffer: ByteBuffer

    /// The value of `Authorization` for the next requests.
    package var authorization = "" {
        didSet { if authorization != oldValue { writePrefix() } }
    }

    package init(target: SendTarget, userAgent: String, allocator: ByteBufferAllocator = ByteBufferAllocator()) {
        self.target = target
        self.userAgent = userAgent
        buffer = allocator.buffer(capacity: 2048)
        writePrefix()
    }

    /// Puts the whole request into `buffer`.
    /// - Returns: false when a value cannot be written: it would end its line and start a header of its own, or be mangled on
    ///   the way. `buffer` must not be sent then.
    package mutating func write(_ request: SendRequest) -> Bool {
        // An absent or empty tag expression is not "no tags": without the header the hub sends to everyone.
        guard isPrefixSendable, request.tags.isFieldValue, !request.tags.utf8.allSatisfy({ $0 == 0x20 || $0 == 0x09 })
        else { return false }
        // The lines below add less than 256 bytes to these texts, and 4 for each field.
        var room = prefix.count + request.tags.utf8.count + request.body.count + 256
        // By index in a span: copying an element would retain two references.
        let fields = request.fields.span
        for index in fields.indices {
            guard isGood(name: fields[index].name), fields[index].value.isFieldValue else { return false }
            room += fields[index].name.utf8.count + fields[index].value.utf8.count + 4
        }
        buffer.clear()
        // Written through one pointer, since the buffer would guard every one of these short pieces.
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: room) { memory in
            var rest = memory
            rest.write(prefix)
            rest.write("Content-Type: ")
            rest.write(request.format.contentType)
            rest.write("\r\nServiceBusNotification-Format: ")
            rest.write(request.format.rawValue)
            rest.write("\r\nServiceBusNotification-Tags: ")
            rest.write(request.tags)
            for index in fields.indices {
                rest.write("\r\n")
                rest.write(fields[index].name)
                rest.write(": ")
                rest.write(fields[index].value)
            }
            rest.write("\r\nContent-Length: ")
            rest.write(String(request.body.count))
            rest.write("\r\n\r\n")
            rest.write(request.body)
            return memory.count - rest.count
        }
        return true
    }

    private mutating func isGood(name: String) -> Bool {
        if goodNames.contains(name) { return true }
        guard name.isFieldName, !name.isOwnFieldName else { return false }
        if goodNames.count < 16 { goodNames.append(name) }
        return true
    }

    private mutating func writePrefix() {
        let host = target.endpoint.authority
        let path = target.path.target
        isPrefixSendable =
            host.isFieldValue && path.isRequestTarget && userAgent.isFieldValue && authorization.isFieldValue
        prefix = Array("POST \(path) HTTP/1.1\r\nHost: \(host)\r\nUser-Agent: \(userAgent)\r\n".utf8)
        if !authorization.isEmpty { prefix += Array("Authorization: \(authorization)\r\n".utf8) }
    }
}

extension UnsafeMutableRawBufferPointer {
    /// Copies the text to the front and steps behind it.
    fileprivate mutating func write(_ text: String) {
        text.withBytes { write(UnsafeRawBufferPointer($0)) }
    }

    fileprivate mutating func write(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { write($0) }
    }

    private mutating func write(_ bytes: UnsafeRawBufferPointer) {
        precondition(bytes.count <= count, "the request has room for all its parts")
        copyMemory(from: bytes)
        self = UnsafeMutableRawBufferPointer(rebasing: self[bytes.count...])
    }
}

extension String {
    /// Printable ASCII, spaces and tabs.
    fileprivate var isFieldValue: Bool {
        withBytes { bytes in
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
