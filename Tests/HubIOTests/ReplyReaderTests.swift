import NotificationHub
import Testing

@testable import HubIO

enum Reading: Equatable {
    case needsMore
    case reply(WireReply)
    case malformed(Malformation)

    init(_ step: ReplyReader.Step, by reader: ReplyReader) {
        switch step {
        case .needsMore: self = .needsMore
        case .complete: self = .reply(reader.reply)
        case .malformed(let malformation): self = .malformed(malformation)
        }
    }
}

/// Reads a text as one reply, cut into pieces of the given sizes. The last piece holds the remaining bytes.
func read(
    _ bytes: [UInt8], pieces: [Int] = [], thenEnds: Bool = false, headMax: Int = 2048, bodyMax: Int = 2048
) -> Reading {
    var reader = ReplyReader(headBytesMax: headMax, bodyBytesMax: bodyMax)
    var rest = bytes[...]
    var step = ReplyReader.Step.needsMore
    for size in pieces + [bytes.count] where !rest.isEmpty {
        let piece = Array(rest.prefix(size))
        guard !piece.isEmpty else { continue }
        rest = rest.dropFirst(size)
        step = reader.read(piece.span)
        if step != .needsMore { break }
    }
    if step == .needsMore, thenEnds { step = reader.end() }
    return Reading(step, by: reader)
}

func read(_ text: String, pieces: [Int] = [], thenEnds: Bool = false) -> Reading {
    read(Array(text.utf8), pieces: pieces, thenEnds: thenEnds)
}

extension WireReply {
    init(
        status: Int, notificationID: String? = nil, retryAfter: String? = nil, trackingID: String? = nil,
        body: [UInt8] = [], keepsAlive: Bool = true
    ) {
        self.init(
            known: HubReply(status: status, notificationID: notificationID, trackingID: trackingID),
            retryAfter: retryAfter, body: body, keepsAlive: keepsAlive)
    }
}

@Suite struct ReplyReaderTests {
    static let replies: [(text: String, expected: WireReply)] = [
        ("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n", WireReply(status: 201)),
        ("HTTP/1.1 201\r\nContent-Length:0\r\n\r\n", WireReply(status: 201)),
        ("HTTP/1.1 201 \r\ncontent-length: 00 \t\r\n\r\n", WireReply(status: 201)),
        ("HTTP/1.1 204 No Content\r\nContent-Length: 7\r\n\r\n", WireReply(status: 204)),
        ("HTTP/1.1 304 Not Modified\r\n\r\n", WireReply(status: 304)),
        (
            "HTTP/1.1 201 Created\r\nTransfer-Encoding: Chunked\r\n"
                + "LOCATION: https://ns.example/hub/messages/NH-1-2?api-version=2020-06\r\nTrackingId: t-1\r\n\r\n0\r\n\r\n",
            WireReply(status: 201, notificationID: "NH-1-2", trackingID: "t-1")
        ),
        (
            "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\nRetry-After: 9\r\nContent-Length: 3\r\n\r\nabc",
            WireReply(status: 429, retryAfter: "7", body: Array("abc".utf8))
        ),
        (
            "HTTP/1.1 500 Oops\r\nTransfer-Encoding: chunked\r\n\r\n3;a=\"b\"\r\nabc\r\n0A;x\r\n0123456789\r\n0\r\nX: y\r\n\r\n",
            WireReply(status: 500, body: Array("abc0123456789".utf8))
        ),
        (
            "HTTP/1.1 100 Continue\r\nTrackingId: no\r\n\r\nHTTP/1.1 103 Early\r\n\r\nHTTP/1.1 201 C\r\nContent-Length: 0\r\n\r\n",
            WireReply(status: 201)
        ),
        (
            "HTTP/1.1 403 No\r\nConnection: x , Close\r\nContent-Length: 2\r\n\r\nno",
            WireReply(status: 403, body: Array("no".utf8), keepsAlive: false)
        ),
        ("HTTP/1.0 201 C\r\nContent-Length: 0\r\n\r\n", WireReply(status: 201, keepsAlive: false)),
        ("HTTP/1.0 201 C\r\nConnection: Keep-Alive\r\nContent-Length: 0\r\n\r\n", WireReply(status: 201)),
        (
            "HTTP/1.1 403 F\r\nx-ms-correlation-request-id: c-9\r\nContent-Length: 0\r\n\r\n",
            WireReply(status: 403, trackingID: "c-9")
        ),
        (
            "HTTP/1.1 403 F\r\nx-ms-correlation-request-id: c-9\r\nTrackingId: t-9\r\nContent-Length: 0\r\n\r\n",
            WireReply(status: 403, trackingID: "t-9")
        ),
        ("HTTP/1.1 201 \u{E9}\r\nX-Odd: \u{E9}\r\nContent-Length: 0\r\n\r\n", WireReply(status: 201)),
    ]

    @Test(arguments: replies)
    func `a reply reads the same whole, cut at every byte, and byte by byte`(text: String, expected: WireReply) {
        #expect(read(text) == .reply(expected))
        for cut in 1..<text.utf8.count { #expect(read(text, pieces: [cut]) == .reply(expected), "cut at \(cut)") }
        #expect(read(text, pieces: Array(repeating: 1, count: text.utf8.count)) == .reply(expected))
        for end in 0..<text.utf8.count {
            #expect(read(Array(text.utf8.prefix(end)), thenEnds: true) == .needsMore, "ends at \(end)")
        }
    }

    @Test func `a body without a length ends with the connection`() {
        let text = "HTTP/1.1 502 Bad Gateway\r\nServer: x\r\n\r\n<html>"
        let expected = WireReply(status: 502, body: Array("<html>".utf8), keepsAlive: false)
        #expect(read(text) == .needsMore)
        for cut in 1..<text.utf8.count { #expect(read(text, pieces: [cut], thenEnds: true) == .reply(expected)) }
    }

    static let malformed: [(text: String, why: Malformation)] = [
        ("http/1.1 201 C\r\n", .badStatusLine), ("HTTP/2.0 201 C\r\n", .badStatusLine),
        ("HTTP/1.2 201 C\r\n", .badStatusLine), ("HTTP/1.1 20 C\r\n", .badStatusLine),
        ("HTTP/1.1 2011 C\r\n", .badStatusLine), ("HTTP/1.1  201 C\r\n", .badStatusLine),
        ("HTTP/1.1 099 C\r\n", .badStatusLine), ("HTTP/1.1 600 C\r\n", .badStatusLine),
        ("HTTP/1.1 201 C\u{0}\r\n", .badStatusLine), ("HTTP/1.1 201 C\rD\r\n", .badStatusLine),
        ("\r\n", .badStatusLine), ("SSH-2.0-OpenSSH_9.2\r\n", .badStatusLine),
        ("HTTP/1.1 201 C\n", .bareLineFeed), ("\n", .bareLineFeed),
        ("HTTP/1.1 201 C\r\nA: b\n", .bareLineFeed), ("HTTP/1.1 201 C\r\n\n", .bareLineFeed),
        ("HTTP/1.1 201 C\r\nA: b\r\n c\r\n", .foldedField), ("HTTP/1.1 201 C\r\n\tA: b\r\n", .foldedField),
        ("HTTP/1.1 201 C\r\nA : b\r\n", .badField), ("HTTP/1.1 201 C\r\n: b\r\n", .badField),
        ("HTTP/1.1 201 C\r\nAb\r\n", .badField), ("HTTP/1.1 201 C\r\nA: b\u{1}\r\n", .badField),
        ("HTTP/1.1 201 C\r\nA: b\rc\r\n", .badField), ("HTTP/1.1 201 C\r\n\u{E9}: b\r\n", .badField),
        ("HTTP/1.1 201 C\r\nContent\rLength: 1\r\n", .badField),
        ("HTTP/1.1 201 C\r\nContent-Length : 1\r\n", .badField),
        ("HTTP/1.1 201 C\r\nContent-Length\r\n", .badField),
        ("HTTP/1.1 201 C\r\nContent-Length: 1\r\nContent-Length: 1\r\n", .badLength),
        ("HTTP/1.1 201 C\r\nContent-Length: 1, 1\r\n", .badLength),
        ("HTTP/1.1 201 C\r\nContent-Length:\r\n", .badLength),
        ("HTTP/1.1 201 C\r\nContent-Length: -1\r\n", .badLength),
        ("HTTP/1.1 201 C\r\nContent-Length: +1\r\n", .badLength),
        ("HTTP/1.1 201 C\r\nContent-Length: 0x1\r\n", .badLength),
        ("HTTP/1.1 201 C\r\nContent-Length: 99999999999999999999\r\n", .badLength),
        ("HTTP/1.1 201 C\r\nTransfer-Encoding: gzip, chunked\r\n", .badTransferEncoding),
        ("HTTP/1.1 201 C\r\nTransfer-Encoding: identity\r\n", .badTransferEncoding),
        ("HTTP/1.1 201 C\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", .badTransferEncoding),
        ("HTTP/1.0 201 C\r\nTransfer-Encoding: chunked\r\n\r\n", .badTransferEncoding),
        ("HTTP/1.1 201 C\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n", .lengthAndTransferEncoding),
        ("HTTP/1.1 201 C\r\nTransfer-Encoding: chunked\r\n\r\n\r\n", .badChunk),
        ("HTTP/1.1 201 C\r\nTransfer-Encoding: chunked\r\n\r\n 3\r\n", .badChunk),
        ("HTTP/1.1 201 C\r\nTransfer-Encoding: chunked\r\n\r\n-3\r\n", .badChunk),
        ("HTTP/1.1 201 C\r\nTransfer-Encoding: chunked\r\n\r\n3g\r\n", .badChunk),
        ("HTTP/1.1 201 C\r\nTransfer-Encoding: chunked\r\n\r\n3;\u{1}\r\n", .badChunk),
        ("HTTP/1.1 201 C\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n", .badChunk),
        ("HTTP/1.1 201 C\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\n", .bareLineFeed),
        ("HTTP/1.1 201 C\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n X: y\r\n", .foldedField),
        ("HTTP/1.1 201 C\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffffff\r\n", .bodyTooLong),
        ("HTTP/1.1 201 C\r\nTransfer-Encoding: chunked\r\n\r\n801\r\n", .bodyTooLong),
        ("HTTP/1.1 201 C\r\nContent-Length: 2049\r\n\r\n", .bodyTooLong),
        ("HTTP/1.1 101 Switching\r\nUpgrade: h2c\r\n\r\n", .protocolSwitch),
        ("HTTP/1.1 201 C\r\nContent-Length: 0\r\n\r\nH", .bytesAfterReply),
        ("HTTP/1.1 201 C\r\nContent-Length: 1\r\n\r\nabHTTP/1.1 201 C\r\n", .bytesAfterReply),
    ]

    @Test(arguments: malformed)
    func `malformed replies are refused in pieces of any size`(text: String, why: Malformation) {
        #expect(read(text) == .malformed(why))
        guard why != .bytesAfterReply else { return }
        for cut in 1..<text.utf8.count { #expect(read(text, pieces: [cut]) == .malformed(why), "cut at \(cut)") }
    }

    @Test func `bytes that arrive later than the reply are refused too`() {
        var reader = ReplyReader(headBytesMax: 100, bodyBytesMax: 100)
        let reply = Array("HTTP/1.1 204 N\r\n\r\n".utf8)
        #expect(reader.read(reply.span) == .complete)
        #expect(reader.reply == WireReply(status: 204))
        #expect(reader.read(reply.span) == .malformed(.bytesAfterReply))
        reader.reset()
        #expect(!reader.hasBegun)
        #expect(reader.read(reply.span) == .complete)
        #expect(reader.reply == WireReply(status: 204))
    }

    @Test func `a reply reads the same after any other reply, whole or broken`() {
        for before in Self.replies.map(\.text) + Self.malformed.map(\.text) {
            for (text, expected) in Self.replies {
                var reader = ReplyReader(headBytesMax: 2048, bodyBytesMax: 2048)
                _ = reader.read(Array(before.utf8).span)
                reader.reset()
                let step = reader.read(Array(text.utf8).span)
                #expect(Reading(step, by: reader) == .reply(expected), "\(text) behind \(before)")
            }
        }
    }

    @Test(arguments: [
        "HTTP/1.1 201 \(String(repeating: "x", count: 3000))",
        "HTTP/1.1 201 C\r\nA: \(String(repeating: "x", count: 3000))",
        "HTTP/1.1 201 C\r\n\(String(repeating: "A: b\r\n", count: 400))",
        String(repeating: "HTTP/1.1 100 C\r\n\r\n", count: 200),
        "HTTP/1.1 201 C\r\nTransfer-Encoding: chunked\r\n\r\n1;\(String(repeating: "x", count: 3000))",
        "HTTP/1.1 201 C\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\(String(repeating: "A: b\r\n", count: 400))",
    ])
    func `a head without an end is refused`(text: String) {
        #expect(read(text) == .malformed(.headTooLong))
        #expect(read(text, pieces: Array(repeating: 1, count: text.utf8.count)) == .malformed(.headTooLong))
    }

    @Test(arguments: [
        "HTTP/1.1 500 E\r\n\r\n\(String(repeating: "x", count: 3000))",
        "HTTP/1.1 500 E\r\nTransfer-Encoding: chunked\r\n\r\n\(String(repeating: "1\r\nx\r\n", count: 3000))",
    ])
    func `a body without an end is refused`(text: String) {
        #expect(read(text) == .malformed(.bodyTooLong))
        #expect(read(text, pieces: Array(repeating: 1, count: text.utf8.count)) == .malformed(.bodyTooLong))
    }

    @Test func `a head and a body of exactly the limit are read`() {
        let head = "HTTP/1.1 500 E\r\nContent-Length: 10\r\n\r\n"
        let bytes = Array((head + "0123456789").utf8)
        let expected = WireReply(status: 500, body: Array("0123456789".utf8))
        #expect(read(bytes, headMax: head.utf8.count, bodyMax: 10) == .reply(expected))
        #expect(read(bytes, headMax: head.utf8.count - 1, bodyMax: 10) == .malformed(.headTooLong))
        #expect(read(bytes, headMax: head.utf8.count, bodyMax: 9) == .malformed(.bodyTooLong))
    }

    @Test(arguments: [
        ("https://h/hub/messages/a-b?api-version=1", "a-b"), ("/hub/messages/a%2Db", "a-b"), ("messages", nil),
        ("https://h/hub/Messages?x", nil), ("https://h/hub/messages/$batch", nil), ("", nil), ("/x y", nil),
        ("https://h/hub/messages/a/b", "b"), ("https://h/hub/messages/12345678#f", "12345678"),
        ("https://h/hub/messages/\(String(repeating: "i", count: 257))", nil),
    ])
    func `the notification id is the last segment of Location`(location: String, id: String?) {
        let text = "HTTP/1.1 201 C\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n"
        #expect(read(text) == .reply(WireReply(status: 201, notificationID: id)))
    }
}
