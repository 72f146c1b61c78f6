import CZlib
import CZstd

/// A compressed form of a file, recognised by its first bytes and not by its name.
enum Compression: Sendable {
    case gzip, zstd

    /// The number of bytes that `init(beginning:)` needs.
    static let beginningLength = 4

    init?(beginning: [UInt8]) {
        if beginning.starts(with: [0x1F, 0x8B]) {
            self = .gzip
        } else if beginning.starts(with: [0x28, 0xB5, 0x2F, 0xFD]) || Self.isSkippable(beginning) {
            self = .zstd
        } else {
            return nil
        }
    }

    /// True for a zstd frame without data, which some tools write first.
    private static func isSkippable(_ bytes: [UInt8]) -> Bool {
        bytes.first.map { $0 & 0xF0 == 0x50 } == true && bytes.dropFirst().starts(with: [0x2A, 0x4D, 0x18])
    }
}

/// Decompresses bytes as they arrive. Several streams in a row, as `cat a.gz b.gz` makes them, count as one.
///
/// Memory is bounded for any stream: 64 KiB for zlib, at most 128 MiB for zstd, and one piece of output. A stream that asks for
/// more is refused.
protocol Decompressor: AnyObject {
    /// True if a stream has ended and no other has begun, so that the input may end here.
    var isAtEnd: Bool { get }

    /// Decompresses some of the input, and returns the numbers of bytes read and written.
    ///
    /// - Parameter output: receives the text, as far as the input reaches.
    func decompress(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(Damage) -> (read: Int, written: Int)
}

/// The compressed bytes violate their format.
struct Damage: Error {
    /// The library's description of the damage.
    var reason: String
}

extension Compression {
    /// Makes a decompressor; `nil` if there is not enough memory.
    func makeDecompressor() -> (any Decompressor)? {
        switch self {
        case .gzip: GzipDecompressor()
        case .zstd: ZstdDecompressor()
        }
    }
}

private final class GzipDecompressor: Decompressor {
    private enum State {
        case member
        case betweenMembers
        /// Zero bytes after the last member, as on a tape.
        case padding
    }

    /// The state of zlib, at a fixed address because zlib keeps a pointer to it.
    private let stream: UnsafeMutablePointer<z_stream>
    private var state = State.member

    init?() {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // 15 is a window of 32 KiB, and 16 selects gzip instead of zlib's own format.
        let result = inflateInit2_(stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        if result != Z_OK {
            stream.deallocate()
            return nil
        }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    var isAtEnd: Bool { state != .member }

    func decompress(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(Damage) -> (read: Int, written: Int) {
        if state != .member, let first = input.first {
            if first == 0 {
                state = .padding
                return (input.prefix { $0 == 0 }.count, 0)
            }
            guard state == .betweenMembers, inflateReset(stream) == Z_OK else {
                throw Damage(reason: "other bytes follow its end")
            }
            state = .member
        }
        stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress?.assumingMemoryBound(to: UInt8.self))
        stream.pointee.avail_in = UInt32(clamping: input.count)
        stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_out = UInt32(clamping: output.count)
        let result = inflate(stream, Z_NO_FLUSH)
        let read = input.count - Int(stream.pointee.avail_in)
        let written = output.count - Int(stream.pointee.avail_out)
        switch result {
        case Z_OK: break
        case Z_STREAM_END: state = .betweenMembers
        // zlib needs more input or more room.
        case Z_BUF_ERROR: break
        default: throw Damage(reason: stream.pointee.msg.map { String(cString: $0) } ?? "error \(result) of zlib")
        }
        return (read, written)
    }
}

private final class ZstdDecompressor: Decompressor {
    private let stream: OpaquePointer
    private(set) var isAtEnd = false

    init?() {
        guard let stream = ZSTD_createDStream() else { return nil }
        self.stream = stream
    }

    deinit { ZSTD_freeDStream(stream) }

    func decompress(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(Damage) -> (read: Int, written: Int) {
        // Another call after the end of a frame would make zstd expect a further frame.
        if isAtEnd && input.isEmpty { return (0, 0) }
        var from = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
        var to = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
        let result = ZSTD_decompressStream(stream, &to, &from)
        if ZSTD_isError(result) != 0 { throw Damage(reason: String(cString: ZSTD_getErrorName(result))) }
        isAtEnd = result == 0
        return (from.pos, to.pos)
    }
}
