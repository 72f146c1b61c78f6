internal import NotificationHub

/// The status line and the header fields of a reply, read line by line.
struct ReplyHead {
    /// The way in which the body ends, RFC 9112 §6.3.
    enum Framing {
        /// An interim reply; another head follows.
        case informational
        case none
        case length(Int)
        case chunked
        case untilClose
    }

    /// The reply. The reader adds its body.
    var reply = WireReply()
    private var isHTTP10 = false
    private(set) var contentLength: Int?
    private var isChunked = false
    private var saysClose = false
    private var saysKeepAlive = false
    private var correlationID: String?
    /// The bytes of a value as long as an HTTP date. Not parsed, because nearly all replies in one second repeat it.
    private(set) var date = SIMD32<UInt8>()

    /// Clears the head. It mutates in place, as does `WireReply.reset`, because creating an empty head and releasing
    /// the old one costs as much as reading three fields.
    mutating func reset() {
        reply.reset()
        isHTTP10 = false
        contentLength = nil
        isChunked = false
        saysClose = false
        saysKeepAlive = false
        correlationID = nil
        date = SIMD32<UInt8>()
    }

    /// Ends the head and returns how the body ends.
    mutating func end() throws(Malformation) -> Framing {
        if isChunked, contentLength != nil { throw .lengthAndTransferEncoding }
        // HTTP/1.1 introduced chunks, so an intermediary must have changed a 1.0 reply that declares them.
        if isChunked, isHTTP10 { throw .badTransferEncoding }
        endFields()
        reply.keepsAlive = !saysClose && (!isHTTP10 || saysKeepAlive)
        switch reply.known.status {
        case 101: throw .protocolSwitch
        case 100..<200: return .informational
        case 204, 304: return .none
        default: break
        }
        if isChunked { return .chunked }
        if let contentLength { return .length(contentLength) }
        reply.keepsAlive = false
        return .untilClose
    }

    /// Ends the fields of a head in any version of HTTP: the correlation id stands in for a missing tracking id.
    mutating func endFields() {
        if reply.known.trackingID == nil { reply.known.trackingID = correlationID }
    }

    /// Reads `HTTP/1.1 SP 3DIGIT [SP reason]`.
    mutating func readStatusLine(_ line: Span<UInt8>) throws(Malformation) {
        guard line.count >= 12, line.extracting(0..<7).equals("http/1."), line[8] == 0x20,
            let hundreds = line[9].digitValue, let tens = line[10].digitValue, let ones = line[11].digitValue
        else { throw .badStatusLine }
        // `HTTP` is case-sensitive.
        guard line[0] == UInt8(ascii: "H"), line[1] == UInt8(ascii: "T"), line[2] == UInt8(ascii: "T"),
            line[3] == UInt8(ascii: "P")
        else { throw .badStatusLine }
        switch line[7] {
        case UInt8(ascii: "1"): isHTTP10 = false
        case UInt8(ascii: "0"): isHTTP10 = true
        default: throw .badStatusLine
        }
        let status = hundreds * 100 + tens * 10 + ones
        guard (100...599).contains(status), line.count == 12 || line[12] == 0x20, line.isFieldContent else {
            throw .badStatusLine
        }
        reply.known.status = status
    }

    /// Reads `name ":" OWS value OWS`.
    mutating func readField(_ line: Span<UInt8>) throws(Malformation) {
        let colon = try Self.colon(in: line)
        let name = line.extracting(0..<colon)
        guard let field = Field(name: name) else {
            // A known name needs no check: the line was refused if it had control characters that could match a hyphen.
            guard name.isToken else { throw .badField }
            return
        }
        try read(field, line.extracting(line.trimmed((colon + 1)..<line.count)))
    }

    /// Reads the value of a field that matters to a send.
    /// - Parameter value: has no spaces at its ends and is field content.
    @inline(__always)
    mutating func read(_ field: Field, _ value: Span<UInt8>) throws(Malformation) {
        switch field {
        case .location: if reply.known.notificationID == nil { reply.known.notificationID = value.notificationID }
        case .trackingID: if reply.known.trackingID == nil { reply.known.trackingID = Self.trackingID(value) }
        case .correlationID: if correlationID == nil { correlationID = Self.trackingID(value) }
        case .retryAfter: if reply.retryAfter == nil { reply.retryAfter = value.text }
        case .connection: readConnection(value)
        case .date:
            // Only the form that RFC 9110 §5.6.7 requires of a server is read.
            guard value.count == 29 else { break }
            for index in 0..<29 { date[index] = value[index] }
        case .contentLength: try readContentLength(value)
        case .transferEncoding:
            // The requests ask for no other coding, and chunked may be applied only once.
            guard !isChunked, value.equals("chunked") else { throw .badTransferEncoding }
            isChunked = true
        }
    }

    /// The fields that matter to a send.
    enum Field {
        case location, date, trackingID, correlationID, retryAfter, connection, contentLength, transferEncoding

        init?(name: Span<UInt8>) {
            switch name.count {
            case 4 where name.equals("date"): self = .date
            case 8 where name.equals("location"): self = .location
            case 10 where name.equals("trackingid"): self = .trackingID
            case 10 where name.equals("connection"): self = .connection
            case 11 where name.equals("retry-after"): self = .retryAfter
            case 14 where name.equals("content-length"): self = .contentLength
            case 17 where name.equals("transfer-encoding"): self = .transferEncoding
            case 27 where name.equals("x-ms-correlation-request-id"): self = .correlationID
            default: return nil
            }
        }
    }

    /// Checks a header field, and throws if it is not well formed.
    static func checkField(_ line: Span<UInt8>) throws(Malformation) {
        guard line.extracting(0..<(try colon(in: line))).isToken else { throw .badField }
    }

    /// Checks the line except its name, and returns the position of the colon.
    private static func colon(in line: Span<UInt8>) throws(Malformation) -> Int {
        if line[0] == 0x20 || line[0] == 0x09 { throw .foldedField }
        let colon = line.length(before: 0x3A)
        // The check covers the whole line, because every token character may also occur in a value.
        guard colon < line.count, line.isFieldContent else { throw .badField }
        return colon
    }

    /// The tracking id; `nil` unless it is visible ASCII within the length limit.
    private static func trackingID(_ value: Span<UInt8>) -> String? {
        guard (1...HubReply.trackingIDLengthMax).contains(value.count) else { return nil }
        for index in value.indices where !(0x21...0x7E).contains(value[index]) { return nil }
        return value.text
    }

    private mutating func readContentLength(_ value: Span<UInt8>) throws(Malformation) {
        guard contentLength == nil, value.count > 0 else { throw .badLength }
        var length = 0
        for index in value.indices {
            guard let digit = value[index].digitValue else { throw .badLength }
            let (tenfold, overflow) = length.multipliedReportingOverflow(by: 10)
            let (sum, overflowed) = tenfold.addingReportingOverflow(digit)
            guard !overflow, !overflowed else { throw .badLength }
            length = sum
        }
        contentLength = length
    }

    /// Reads a comma-separated list of words.
    private mutating func readConnection(_ value: Span<UInt8>) {
        var start = 0
        while start < value.count {
            var end = start
            while end < value.count, value[end] != 0x2C { end += 1 }
            let word = value.extracting(value.trimmed(start..<end))
            if word.equals("close") { saysClose = true }
            if word.equals("keep-alive") { saysKeepAlive = true }
            start = end + 1
        }
    }
}
