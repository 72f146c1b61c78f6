import NotificationHub
import Testing

@testable import HubIO

@Suite struct HTTP2ReaderTests {
    private static let location = ("location", "https://ns.example/hub/messages/NH-1-2?api-version=2020-06")
    private static let created = [(":status", "201"), location, ("trackingid", "t-1"), ("content-length", "0")]

    /// The events of the frames behind the server's settings.
    private func read(_ frames: [Frame], headMax: Int = 2048, bodyMax: Int = 2048) -> [Happening] {
        var reader = HTTP2Reader.make(headMax: headMax, bodyMax: bodyMax)
        return Array(reader.readAll([.settings()] + frames).dropFirst())
    }

    static let replies: [(frames: [Frame], expected: WireReply)] = [
        ([.headers(1, created)], WireReply(status: 201, notificationID: "NH-1-2", trackingID: "t-1")),
        ([.headers(1, [(":status", "201")], ends: false), .data(1, "")], WireReply(status: 201)),
        (
            [
                .headers(1, [(":status", "429"), ("retry-after", "7")], ends: false), .data(1, "ab", ends: false),
                .data(1, "c"),
            ],
            WireReply(status: 429, retryAfter: "7", body: Array("abc".utf8))
        ),
        (
            [
                .headers(1, [(":status", "103"), ("trackingid", "no")], ends: false),
                .headers(1, [(":status", "100")], ends: false), .headers(1, created),
            ],
            WireReply(status: 201, notificationID: "NH-1-2", trackingID: "t-1")
        ),
        (
            [
                .headers(1, [(":status", "500"), ("content-length", "3")], ends: false), .data(1, "abc", ends: false),
                .headers(1, [("x-checksum", "1"), ("trackingid", "no")]),
            ],
            WireReply(status: 500, body: Array("abc".utf8))
        ),
        ([.headers(1, [(":status", "304"), ("content-length", "7")])], WireReply(status: 304)),
        (
            [.headers(1, [(":status", "403"), ("x-ms-correlation-request-id", "c-9"), ("x-odd", "\u{E9}")])],
            WireReply(status: 403, trackingID: "c-9")
        ),
        (
            // Padding and priority, in front of and behind the fragment; then padded data.
            [
                Frame(
                    kind: 1, flags: 4 | 8 | 32, stream: 1,
                    payload: [3, 0, 0, 0, 0, 9] + encoded([(":status", "400")]) + [0, 0, 0]),
                Frame(kind: 0, flags: 1 | 8, stream: 1, payload: [2, 0x68, 0x69, 0, 0]),
            ],
            WireReply(status: 400, body: Array("hi".utf8))
        ),
        (
            [
                Frame(kind: 1, flags: 1, stream: 1, payload: Array(encoded(created).prefix(5))),
                Frame(kind: 9, stream: 1, payload: []),
                Frame(kind: 9, flags: 4, stream: 1, payload: Array(encoded(created).dropFirst(5))),
            ],
            WireReply(status: 201, notificationID: "NH-1-2", trackingID: "t-1")
        ),
    ]

    @Test(arguments: replies)
    func `a reply reads the same whole, cut at every byte, and byte by byte`(frames: [Frame], expected: WireReply) {
        let bytes = ([.settings()] + frames).flatMap(\.bytes)
        let happenings: [Happening] = [.event(.settings(HTTP2PeerSettings())), .reply(1, expected)]
        for pieces in (1..<bytes.count).map({ [$0] }) + [[], Array(repeating: 1, count: bytes.count)] {
            var reader = HTTP2Reader.make()
            #expect(reader.readAll(bytes, pieces: pieces) == happenings, "\(pieces)")
            #expect(reader.openCount == 2)
        }
    }

    @Test func `replies on several streams may interleave`() {
        let happenings = read([
            .headers(3, [(":status", "500")], ends: false), .headers(1, Self.created, huffman: false),
            .data(3, "a", ends: false), .headers(5, [(":status", "201")], ends: false), .data(3, "b"), .data(5, ""),
        ])
        #expect(
            happenings == [
                .reply(1, WireReply(status: 201, notificationID: "NH-1-2", trackingID: "t-1")),
                .reply(3, WireReply(status: 500, body: Array("ab".utf8))), .reply(5, WireReply(status: 201)),
            ])
    }

    static let malformed: [(frames: [Frame], why: Malformation)] = [
        ([.literals(1, [("trackingid", "a")])], .badPseudoField),
        ([.literals(1, [("trackingid", "a"), (":status", "201")])], .badPseudoField),
        ([.literals(1, [(":status", "201"), (":status", "201")])], .badPseudoField),
        ([.literals(1, [(":status", "201"), ("a", "b"), (":status", "201")])], .badPseudoField),
        ([.literals(1, [(":status", "201"), (":path", "/")])], .badPseudoField),
        ([.literals(1, [(":Status", "201")])], .badPseudoField), ([.literals(1, [(":status", "20")])], .badPseudoField),
        ([.literals(1, [(":status", "099")])], .badPseudoField),
        ([.literals(1, [(":status", "600")])], .badPseudoField),
        ([.literals(1, [(":status", " 201")])], .badPseudoField), ([.literals(1, [])], .badPseudoField),
        ([.literals(1, [(":status", "101")], ends: false)], .protocolSwitch),
        ([.literals(1, [(":status", "100")])], .badEnd),
        ([.literals(1, [(":status", "201"), ("TrackingId", "a")])], .badField),
        ([.literals(1, [(":status", "201"), ("", "a")])], .badField),
        ([.literals(1, [(":status", "201"), ("a b", "a")])], .badField),
        ([.literals(1, [(":status", "201"), ("content\rlength", "0")])], .badField),
        ([.literals(1, [(":status", "201"), ("a", "b\r\nc: d")])], .badField),
        ([.literals(1, [(":status", "201"), ("a", "b\0")])], .badField),
        ([.literals(1, [(":status", "201"), ("a", " b")])], .badField),
        ([.literals(1, [(":status", "201"), ("a", "b\t")])], .badField),
        ([.literals(1, [(":status", "201"), ("content-length", "1"), ("content-length", "1")])], .badLength),
        ([.literals(1, [(":status", "201"), ("content-length", "x")])], .badLength),
        ([.literals(1, [(":status", "201"), ("content-length", "1")])], .lengthMismatch),
        ([.literals(1, [(":status", "201"), ("content-length", "1")], ends: false), .data(1, "ab")], .lengthMismatch),
        ([.literals(1, [(":status", "201"), ("content-length", "3")], ends: false), .data(1, "ab")], .lengthMismatch),
        ([.literals(1, [(":status", "201"), ("content-length", "2049")], ends: false)], .bodyTooLong),
        (
            [.literals(1, [(":status", "201")], ends: false), .data(1, String(repeating: "a", count: 2049))],
            .bodyTooLong
        ),
        ([.literals(1, [(":status", "201"), ("connection", "close")])], .connectionField),
        ([.literals(1, [(":status", "201"), ("transfer-encoding", "chunked")])], .connectionField),
        ([.literals(1, [(":status", "201"), ("keep-alive", "5")])], .connectionField),
        ([.literals(1, [(":status", "201"), ("upgrade", "h3")])], .connectionField),
        ([.literals(1, [(":status", "201"), ("proxy-connection", "close")])], .connectionField),
        ([.data(1, "a")], .bodyOutOfPlace),
        ([.literals(1, [(":status", "100")], ends: false), .data(1, "a")], .bodyOutOfPlace),
        ([.literals(1, [(":status", "204")], ends: false), .data(1, "a")], .bodyOutOfPlace),
        ([.literals(1, [(":status", "201")], ends: false), .literals(1, [("a", "b")], ends: false)], .badEnd),
        ([.literals(1, [(":status", "201")], ends: false), .literals(1, [(":status", "201")])], .badPseudoField),
        ([.literals(1, [(":status", "201"), ("a", String(repeating: "x", count: 2048))])], .headTooLong),
        (
            [Frame](repeating: .literals(1, [(":status", "100")], ends: false), count: 60), .headTooLong
        ),
        ([.windowUpdate(1, 0)], .badWindowUpdate),
    ]

    @Test(arguments: malformed)
    func `a malformed reply is refused, and the next one is read`(frames: [Frame], why: Malformation) {
        let happenings = read(frames + [.data(1, "more"), .headers(3, Self.created)])
        #expect(
            happenings == [
                .event(.malformed(stream: 1, why)),
                .reply(3, WireReply(status: 201, notificationID: "NH-1-2", trackingID: "t-1")),
            ])
    }

    static let violations: [(frames: [Frame], why: HTTP2Violation)] = [
        ([Frame(kind: 0, stream: 1, payload: Array(repeating: 0, count: 16_385))], .frameTooLong),
        ([Frame(kind: 99, payload: Array(repeating: 0, count: 16_385))], .frameTooLong),
        ([Frame(kind: 2, stream: 1, payload: [0])], .badFrameLength), ([Frame(kind: 2)], .badStream),
        ([Frame(kind: 3, stream: 1, payload: [0])], .badFrameLength), ([.reset(0, 0)], .badStream),
        ([.reset(7, 0)], .badStream), ([.reset(2, 0)], .badStream),
        ([Frame(kind: 4, payload: [0])], .badFrameLength),
        ([Frame(kind: 4, flags: 1, payload: Array(repeating: 0, count: 6))], .badFrameLength),
        ([Frame(kind: 4, stream: 1)], .badStream), ([.settings([(2, 1)])], .badSetting),
        ([.settings([(4, 1 << 31)])], .badWindowSetting), ([.settings([(5, 16_383)])], .badSetting),
        ([.settings([(5, 1 << 24)])], .badSetting),
        ([Frame(kind: 5, flags: 4, stream: 1, payload: [0, 0, 0, 2])], .push),
        ([Frame(kind: 6, payload: [0])], .badFrameLength),
        ([Frame(kind: 6, stream: 1, payload: Array(repeating: 0, count: 8))], .badStream),
        ([Frame(kind: 7, payload: [0])], .badFrameLength),
        ([Frame(kind: 7, stream: 1, payload: Array(repeating: 0, count: 8))], .badStream),
        ([Frame(kind: 8, payload: [0])], .badFrameLength), ([.windowUpdate(0, 0)], .badWindowUpdate),
        ([.windowUpdate(7, 1)], .badStream),
        ([.data(0, "a")], .badStream), ([.data(2, "a")], .badStream), ([.data(7, "a")], .badStream),
        ([.headers(0, created)], .badStream), ([.headers(7, created)], .badStream),
        ([Frame(kind: 0, flags: 8, stream: 1)], .badFrameLength),
        ([Frame(kind: 0, flags: 8, stream: 1, payload: [1])], .badPadding),
        ([Frame(kind: 1, flags: 4 | 32, stream: 1, payload: [0, 0, 0, 0])], .badFrameLength),
        ([Frame(kind: 9, flags: 4, stream: 1)], .brokenHeaderBlock),
        ([Frame(kind: 1, stream: 1), .headers(3, created)], .brokenHeaderBlock),
        ([Frame(kind: 1, stream: 1), Frame(kind: 9, flags: 4, stream: 3)], .brokenHeaderBlock),
        ([Frame(kind: 1, stream: 1), Frame(kind: 99)], .brokenHeaderBlock),
        ([Frame(kind: 1, stream: 1), .settings()], .brokenHeaderBlock),
        (
            [
                Frame(kind: 1, stream: 1, payload: Array(repeating: 0x88, count: 16_384)),
                Frame(kind: 9, stream: 1, payload: [0x88]),
            ], .headerBlockTooLong
        ),
        ([Frame(kind: 1, flags: 5, stream: 1, payload: [0x88, 0xBE])], .badCompression),
        ([Frame(kind: 1, flags: 5, stream: 1, payload: [0x88, 0x20])], .badCompression),
        ([Frame(kind: 1, flags: 5, stream: 1, payload: [0x3F, 0xE1, 0x1F, 0x88])], .badCompression),
    ]

    @Test(arguments: violations)
    func `a broken rule ends the connection in pieces of any size`(frames: [Frame], why: HTTP2Violation) {
        #expect(read(frames) == [.event(.failed(why))])
        var reader = HTTP2Reader.make()
        let bytes = ([.settings()] + frames).flatMap(\.bytes)
        let cut = reader.readAll(bytes, pieces: Array(repeating: 1, count: min(bytes.count, 100)))
        #expect(cut.last == .event(.failed(why)))
        #expect(reader.readAll([.headers(3, Self.created)]) == [.event(.failed(why))], "it remains failed")
    }

    @Test(arguments: [
        Frame.settings(ack: true).bytes, Frame.headers(1, created).bytes, Frame(kind: 4, stream: 1).bytes,
        Array("HTTP/1.1 400 Bad Request\r\n".utf8), Array("SSH-2.0-OpenSSH_9.2\r\n".utf8),
    ])
    func `a server that does not begin with settings is not taken for HTTP2`(bytes: [UInt8]) {
        var reader = HTTP2Reader.make()
        #expect(reader.readAll(bytes) == [.event(.failed(.notHTTP2))])
    }

    @Test func `settings, pings, windows, resets and GOAWAY are reported`() {
        var settings = HTTP2PeerSettings()
        settings.headerTableSize = 0
        settings.maxConcurrentStreams = 128
        settings.initialWindowSize = .max >> 1
        settings.maxFrameSize = 16_777_215
        let happenings = read([
            .settings([(1, 0), (2, 0), (3, 128), (4, .max >> 1), (5, 16_777_215), (6, 1), (99, 1)]),
            .settings(ack: true), .settings(ack: true), Frame(kind: 6, payload: [1, 2, 3, 4, 5, 6, 7, 8]),
            Frame(kind: 6, flags: 1, payload: [0, 0, 0, 0, 0, 0, 0, 9]), .windowUpdate(0, 5), .windowUpdate(3, .max),
            Frame(kind: 99, flags: 255, stream: 8, payload: [1]), Frame(kind: 2, stream: 9, payload: [0, 0, 0, 0, 0]),
            .reset(3, 7), .windowUpdate(3, 1), .reset(3, 0), .goAway(.max), .goAway(1, 11), .headers(1, Self.created),
        ])
        #expect(
            happenings == [
                .event(.settings(settings)), .event(.settingsAcknowledged), .event(.ping(0x0102_0304_0506_0708)),
                .event(.pong(9)), .event(.windowUpdate(stream: 0, increment: 5)),
                .event(.windowUpdate(stream: 3, increment: 0x7FFF_FFFF)), .event(.reset(stream: 3, .refusedStream)),
                .event(.goAway(last: 0x7FFF_FFFF, .noError)), .event(.goAway(last: 1, .enhanceYourCalm)),
                .reply(1, WireReply(status: 201, notificationID: "NH-1-2", trackingID: "t-1")),
            ])
        #expect(read([.goAway(1), .goAway(3)]).last == .event(.failed(.goAwayRaised)))
    }

    @Test func `late frames of closed streams are decoded and counted, but not reported`() {
        var reader = HTTP2Reader.make()
        #expect(reader.readAll([.settings(), .headers(1, [(":status", "500")], ends: false)]).count == 1)
        reader.close(1)
        reader.close(1)
        #expect(reader.openCount == 2)
        #expect(
            reader.readAll([.data(1, "x"), .headers(1, Self.created), .headers(3, Self.created), .reset(3, 0)]).count
                == 1)
        let broken = Frame(kind: 1, flags: 4, stream: 1, payload: [0xBE])
        #expect(reader.readAll([broken]) == [.event(.failed(.badCompression))])
    }

    @Test func `the connection's window is returned when half of it is used, also by closed streams and padding`() {
        var reader = HTTP2Reader(
            settings: HTTP2LocalSettings(headBytesMax: 2048, bodyBytesMax: 40_000, connectionWindow: 65_535))
        reader.open(1)
        reader.open(3)
        reader.close(3)
        let piece = Frame(kind: 0, flags: 8, stream: 1, payload: [255] + Array(repeating: 0, count: 10_999))
        let late = Frame(kind: 0, stream: 3, payload: Array(repeating: 0, count: 16_384))
        let happenings = reader.readAll([
            .settings(), .headers(1, [(":status", "500")], ends: false), piece, late, piece, late, .data(1, ""),
        ])
        #expect(happenings.count == 3)
        #expect(happenings[1] == .event(.windowUsed(bytes: 38_384)))
        guard case .reply(1, let reply) = happenings[2] else { return #expect(Bool(false), "no reply") }
        #expect(reply.body.count == 2 * (11_000 - 256))
    }

    @Test func `a stream that exceeds its window ends the connection`() {
        let padding = Frame(kind: 0, flags: 8, stream: 1, payload: [255] + Array(repeating: 0, count: 255))
        let frames = [.headers(1, [(":status", "500")], ends: false)] + Array(repeating: padding, count: 256)
        #expect(read(frames) == [.event(.failed(.windowExceeded))])
    }

    @Test(arguments: [
        Frame(kind: 2, stream: 1, payload: [0, 0, 0, 0, 0]), .settings(), .settings(ack: true),
        Frame(kind: 6, payload: Array(repeating: 0, count: 8)), .windowUpdate(0, 1), .reset(1, 0), .goAway(5),
        Frame(kind: 99), Frame(kind: 0, stream: 3), Frame(kind: 0, stream: 1), .data(1, "x", ends: false),
        .headers(1, [(":status", "201")]),
    ])
    func `a flood of frames without a reply ends the connection, and replies renew the budget`(frame: Frame) {
        var reader = HTTP2Reader.make()
        reader.close(1)
        let bytes = Array(repeating: frame.bytes, count: HTTP2Reader.frameBudget / 2).flatMap { $0 }
        let head = Frame.headers(3, [(":status", "500")], ends: false)
        #expect(!reader.readAll(Frame.settings().bytes + head.bytes + bytes).contains(.event(.failed(.flood))))
        #expect(reader.readAll([.headers(5, [(":status", "201")])]) == [.reply(5, WireReply(status: 201))])
        #expect(!reader.readAll(bytes).contains(.event(.failed(.flood))))
        #expect(reader.readAll(bytes).last == .event(.failed(.flood)))
    }

    @Test func `endless continuations end the connection`() {
        var reader = HTTP2Reader.make()
        let frames =
            [.settings(), Frame(kind: 1, stream: 1)]
            + Array(repeating: Frame(kind: 9, stream: 1), count: HTTP2Reader.frameBudget)
        #expect(reader.readAll(frames).last == .event(.failed(.flood)))
    }

    @Test func `an old stream keeps its reply while thousands of others come and go`() {
        var reader = HTTP2Reader.make(opening: [1])
        _ = reader.readAll([.settings(), .headers(1, [(":status", "500")], ends: false), .data(1, "a", ends: false)])
        var open: [UInt32] = []
        for stream in stride(from: UInt32(3), to: 4000, by: 2) {
            reader.open(stream)
            open.append(stream)
            guard open.count == (stream < 1000 ? 64 : 300) else { continue }
            for stream in open { #expect(reader.readAll([.headers(stream, [(":status", "201")])]).count == 1) }
            open = []
        }
        #expect(reader.readAll([.data(1, "b")]) == [.reply(1, WireReply(status: 500, body: Array("ab".utf8)))])
        #expect(reader.openCount == open.count)
    }
}
