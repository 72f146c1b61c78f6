/// Why bytes are no reply.
package enum Malformation: String, Error, Hashable, Sendable, CaseIterable {
    case badStatusLine = "the status line is not HTTP/1.1's"
    case badField = "a header field is not well formed"
    case foldedField = "a header field goes on in a second line"
    case bareLineFeed = "a line ends without a carriage return"
    case badLength = "Content-Length is not one number"
    case badTransferEncoding = "Transfer-Encoding is not chunked"
    case lengthAndTransferEncoding = "the body has two lengths: Content-Length and Transfer-Encoding"
    case badChunk = "a chunk is not well formed"
    case headTooLong = "the head is too long"
    case bodyTooLong = "the body is too long"
    case protocolSwitch = "it switches to another protocol"
    case bytesAfterReply = "more bytes came behind the reply"
}
