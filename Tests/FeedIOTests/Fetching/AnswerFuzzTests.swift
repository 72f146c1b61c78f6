import ByteText
import Feeds
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import FeedIO

/// Answers with random changes, passed to the connection's own handlers in random pieces.
struct AnswerFuzzTests {
    private static let answers = [
        "HTTP/1.1 200 OK\r\nContent-Type: text/xml; charset=\"utf-8\"\r\nETag: \"1\"\r\nContent-Length: 11\r\n\r\nhello world",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n6\r\n world\r\n0\r\nX: y\r\n\r\n",
        "HTTP/1.1 103 Early\r\nLink: <x>\r\n\r\nHTTP/1.1 301 Moved\r\nLocation: //a.example/\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.0 304 Not Modified\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\nuntil the end",
    ].map { Array($0.utf8) }
    private static let spices = [
        "\r\n", "\0", "Content-Length: 99999999999999999999\r\n", "HTTP/1.1 ", "FFFFFFFFFFFFFFFF", "\n", ": ",
    ]

    @Test func `no answer makes the connection trap, wait for ever or keep more than its limits`() throws {
        var random = SeededRandom(seed: 20_261_122)
        var outcomes: [String: Int] = [:]
        for _ in 0..<4_000 {
            var bytes = Self.answers[Int.random(in: 0..<Self.answers.count, using: &random)]
            for _ in 0..<Int.random(in: 0...4, using: &random) { mutate(&bytes, &random) }
            outcomes[try play(bytes, &random), default: 0] += 1
        }
        // The random answers must reach all of these outcomes.
        for outcome in ["head", "body", "tooLarge", "protocolError", "disconnected"] {
            #expect(outcomes[outcome, default: 0] > 10, "\(outcomes)")
        }
    }

    private func mutate(_ bytes: inout [UInt8], _ random: inout SeededRandom) {
        guard !bytes.isEmpty else { return }
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.remove(at: place)
        case 2: bytes.insert(contentsOf: Self.spices.randomElement(using: &random)?.utf8.map { $0 } ?? [], at: place)
        case 3: bytes.removeSubrange(place...)
        case 4: bytes.insert(contentsOf: bytes[place...].prefix(32), at: place)
        default:
            bytes.insert(
                contentsOf: repeatElement(bytes[place], count: Int.random(in: 1...5_000, using: &random)), at: place)
        }
    }

    /// The last event that the hop reported after all bytes and the end of the connection.
    private func play(_ bytes: [UInt8], _ random: inout SeededRandom) throws -> String {
        var limits = FetchLimits()
        limits.head = 2_048
        limits.body = 1_024
        var events: [Hop.Event] = []
        let address = try FetchAddress("http://news.example/")
        let order = FetchOrder.document(FetchRequest(url: address.text))
        let message = try order.message(to: address, userAgent: "test", sendsHeaders: true)
        var hop: Hop?
        let made = Hop(to: address, sending: message, limits: limits) { event in
            if case .received = event { return }
            events.append(event)
            if case .head(let head) = event { head.status == .ok ? hop?.receiveBody() : hop?.abort() }
        }
        hop = made
        defer { hop = nil }
        let channel = EmbeddedChannel()
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80)).wait()
        try made.start(on: channel)
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 1...64, using: &random))
            rest = rest.dropFirst(piece.count)
            _ = try? channel.writeInbound(ByteBuffer(bytes: piece))
        }
        _ = try? channel.finish(acceptAlreadyClosed: true)
        #expect((1...2).contains(events.count), "a hop reports its end once")
        switch events.last {
        case .body(_, let body):
            #expect(body.readableBytes <= limits.body)
            return "body"
        case .failed(let failure): return "\(failure.reason)"
        case .head: return "head"
        case .received, nil: return "nothing"
        }
    }
}
