internal import NotificationHub

/// The status line and the header fields of a reply, read line by line.
struct ReplyHead {
    /// The end of the body, RFC 9112 §6.3.
    enum Framing {
        /// An interim reply; another head follows.
        case informational
        case none
        case length(Int)
        case chunked
        case untilClose
    }

    private(set) var reply = WireReply()
    private var isHTTP10 = false
    private var contentLength: Int?
    private var isChunked = false
    private var saysClose = false
    private var saysKeepAlive = false
    private var correlationID: String?

    /// The framing of the body. Ends the head.
    var framing: Result<Framing, Malformation> {
        mutating get {
            if isChunked, contentLength != nil { return .failure(.lengthAndTransferEncoding) }
            // Chunks came with HTTP/1.1; a 1.0 server that names them has been tampered with on the way.
            if isChunked, isHTTP10 { return .failure(.badTransferEncoding) }
            reply.trackingID = reply.trackingID ?? correlationID
            reply.keepsAlive = !saysClose && (!isHTTP10 || saysKeepAlive)
            switch reply.status {
            case 101: return .failure(.protocolSwitch)
            case 100..<200: return .success(.informational)
            case 204, 304: return .success(.none)
            default: break
            }
            if isChunked { return .success(.chunked) }
            if let contentLength { return .success(.length(contentLength)) }
            reply.keepsAlive = false
            return .success(.untilClose)
        }
    }

    /// `HTTP/1.1 SP 3DIGIT [SP reason]`.
    mutating func readStatusLine(_ line: Span<UInt8>) -> Malformation? {
        guard line.count >= 12, line.extracting(0..<7).equals("http/1."), line[8] == 0x20,
            let hundreds = line[9].digitValue, let tens = line[10].digitValue, let ones = line[11].digitValue
        else { return .badStatusLine }
        // `HTTP` is case-sensitive.
        guard line[0] == UInt8(ascii: "H"), line[1] == UInt8(ascii: "T"), line[2] == UInt8(ascii: "T"),
            line[3] == UInt8(ascii: "P")
        else { return .badStatusLine }
        switch line[7] {
        case UInt8(ascii: "1"): isHTTP10 = false
        case UInt8(ascii: "0"): isHTTP10 = true
        default: return .badStatusLine
        }
        let status = hundreds * 100 + tens * 10 + ones
        guard (100...599).contains(status), line.count == 12 || line[12] == 0x20, line.isFieldContent else {
            return .badStatusLine
        }
        reply.status = status
        return nil
    }

    /// `name ":" OWS value OWS`.
    mutating func readField(_ line: Span<UInt8>) -> Malformation? {
        if let malformation = Self.checkField(line) { return malformation }
        var colon = 0
        while line[colon] != 0x3A { colon += 1 }
        let name = line.extracting(0..<colon)
        let value = line.extracting(line.trimmed((colon + 1)..<line.count))
        switch colon {
        case 8 where name.equals("location"): reply.notificationID = reply.notificationID ?? value.notificationID
        case 10 where name.equals("trackingid"): reply.trackingID = reply.trackingID ?? Self.trackingID(value)
        case 10 where name.equals("connection"): readConnection(value)
        case 11 where name.equals("retry-after"): reply.retryAfter = reply.retryAfter ?? value.text
        case 14 where name.equals("content-length"): return readContentLength(value)
        case 17 where name.equals("transfer-encoding"):
            // We ask for no second coding, nor for chunked twice.
            guard !isChunked, value.equals("chunked") else { return .badTransferEncoding }
            isChunked = true
        case 27 where name.equals("x-ms-correlation-request-id"):
            correlationID = correlationID ?? Self.trackingID(value)
        default: break
        }
        return nil
    }

    /// - Returns: `nil` if the line is a well-formed header field.
    static func checkField(_ line: Span<UInt8>) -> Malformation? {
        if line[0] == 0x20 || line[0] == 0x09 { return .foldedField }
        var colon = 0
        while colon < line.count, line[colon].isTokenCharacter { colon += 1 }
        guard colon > 0, colon < line.count, line[colon] == 0x3A,
            line.extracting((colon + 1)..<line.count).isFieldContent
        else { return .badField }
        return nil
    }

    /// `nil` unless it is visible ASCII of a sane length.
    private static func trackingID(_ value: Span<UInt8>) -> String? {
        guard (1...HubReply.trackingIDLengthMax).contains(value.count) else { return nil }
        for index in value.indices where !(0x21...0x7E).contains(value[index]) { return nil }
        return value.text
    }

    private mutating func readContentLength(_ value: Span<UInt8>) -> Malformation? {
        guard contentLength == nil, value.count > 0 else { return .badLength }
        var length = 0
        for index in value.indices {
            guard let digit = value[index].digitValue else { return .badLength }
            let (tenfold, overflow) = length.multipliedReportingOverflow(by: 10)
            let (sum, overflowed) = tenfold.addingReportingOverflow(digit)
            guard !overflow, !overflowed else { return .badLength }
            length = sum
        }
        contentLength = length
        return nil
    }

    /// A list of words with commas between them.
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
