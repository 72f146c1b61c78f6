import NIOCore
import NIOHPACK

@testable import HubIO

/// A frame of a test, as parts or as bytes.
struct Frame: Hashable {
    var kind: UInt8
    var flags: UInt8 = 0
    var stream: UInt32 = 0
    var payload: [UInt8] = []

    var bytes: [UInt8] {
        let length = payload.count
        return [UInt8(length >> 16 & 0xFF), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF), kind, flags]
            + stream.bytes + payload
    }

    static func all(in bytes: [UInt8]) -> [Frame] {
        var frames: [Frame] = []
        var rest = bytes[...]
        while rest.count >= 9 {
            let head = Array(rest.prefix(9))
            let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
            let stream = head[5...].reduce(0) { $0 << 8 | UInt32($1) }
            frames.append(
                Frame(kind: head[3], flags: head[4], stream: stream, payload: Array(rest.dropFirst(9).prefix(length))))
            rest = rest.dropFirst(9 + length)
        }
        return frames
    }

    static func settings(_ values: [(UInt16, UInt32)] = [], ack: Bool = false) -> Frame {
        Frame(
            kind: 4, flags: ack ? 1 : 0,
            payload: values.flatMap { [UInt8($0.0 >> 8), UInt8($0.0 & 0xFF)] + $0.1.bytes })
    }

    static func data(_ stream: UInt32, _ text: String, ends: Bool = true) -> Frame {
        Frame(kind: 0, flags: ends ? 1 : 0, stream: stream, payload: Array(text.utf8))
    }

    static func headers(
        _ stream: UInt32, _ fields: [(String, String)], ends: Bool = true, huffman: Bool = true
    ) -> Frame {
        Frame(
            kind: 1, flags: 4 | (ends ? 1 : 0), stream: stream, payload: encoded(fields, huffman: huffman))
    }

    /// Fields as they are: swift-nio-http2's encoder takes some invalid names for others.
    static func literals(_ stream: UInt32, _ fields: [(String, String)], ends: Bool = true) -> Frame {
        Frame(
            kind: 1, flags: 4 | (ends ? 1 : 0), stream: stream,
            payload: fields.flatMap { [0] + HPACK.literal($0.0) + HPACK.literal($0.1) })
    }

    static func reset(_ stream: UInt32, _ code: UInt32) -> Frame {
        Frame(kind: 3, stream: stream, payload: code.bytes)
    }

    static func windowUpdate(_ stream: UInt32, _ increment: UInt32) -> Frame {
        Frame(kind: 8, stream: stream, payload: increment.bytes)
    }

    static func goAway(_ last: UInt32, _ code: UInt32 = 0) -> Frame {
        Frame(kind: 7, payload: last.bytes + code.bytes + Array("bye".utf8))
    }
}

extension UInt32 {
    var bytes: [UInt8] { (0..<4).map { UInt8(self >> (24 - 8 * $0) & 0xFF) } }
}

/// A header block as swift-nio-http2 encodes it for a peer without a dynamic table.
func encoded(_ fields: [(String, String)], huffman: Bool = true) -> [UInt8] {
    var encoder = HPACKEncoder(allocator: ByteBufferAllocator(), useHuffmanEncoding: huffman, maxDynamicTableSize: 0)
    var buffer = ByteBuffer()
    do {
        try encoder.encode(headers: HPACKHeaders(fields), to: &buffer)
    } catch {
        return []
    }
    return Array(buffer.readableBytesView)
}

/// An event, with the reply in place of its stream's event.
enum Happening: Hashable {
    case event(HTTP2Reader.Event)
    case reply(UInt32, WireReply)
}

extension HTTP2Reader {
    static func make(headMax: Int = 2048, bodyMax: Int = 2048, opening streams: [UInt32] = [1, 3, 5]) -> HTTP2Reader {
        var reader = HTTP2Reader(settings: HTTP2LocalSettings(headBytesMax: headMax, bodyBytesMax: bodyMax))
        for stream in streams { reader.open(stream) }
        return reader
    }

    /// Reads bytes in pieces of the given sizes. The last piece holds the remaining bytes.
    mutating func readAll(_ bytes: [UInt8], pieces: [Int] = []) -> [Happening] {
        var happenings: [Happening] = []
        var rest = bytes[...]
        for size in pieces + [bytes.count] where !rest.isEmpty {
            let piece = Array(rest.prefix(size))
            rest = rest.dropFirst(size)
            var position = 0
            while let event = next(in: piece.span, from: &position) {
                if case .replied(let stream) = event {
                    happenings.append(.reply(stream, reply))
                } else {
                    happenings.append(.event(event))
                }
                if case .failed = event { return happenings }
            }
        }
        return happenings
    }

    mutating func readAll(_ frames: [Frame]) -> [Happening] { readAll(frames.flatMap(\.bytes)) }
}
