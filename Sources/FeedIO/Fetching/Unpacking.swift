import ByteText
import CZlib
import Feeds

/// Decodes `Content-Encoding`.
///
/// - Parameters:
///   - encodings: values of the header, in the order in which the publisher applied them.
///   - limit: maximum bytes after unpacking. Memory use exceeds it by at most one piece.
func unpacked(_ bytes: [UInt8], encodings: [String], limit: Int) throws(FetchFailure) -> [UInt8] {
    let names = encodings.flatMap { $0.split(separator: ",") }.map { $0.trimmed.asciiLowercased }
        .filter { !$0.isEmpty && $0 != "identity" }
    guard names.count <= 1 else {
        throw FetchFailure(.protocolError, "the answer is compressed more than once, which nobody asked for")
    }
    guard let name = names.first, !bytes.isEmpty else { return bytes }
    switch name {
    case "gzip", "x-gzip": return try inflated(bytes, as: .gzip, limit: limit)
    case "deflate": return try inflated(bytes, as: bytes.hasZlibHeader ? .zlib : .raw, limit: limit)
    default: throw FetchFailure(.protocolError, "the answer is compressed in a way that nobody asked for")
    }
}

/// The raw value is the `windowBits` parameter of zlib.
private enum DeflateFormat: Int32 {
    case zlib = 15
    /// Some servers send this as `deflate`, against RFC 9110 §8.4.1.2.
    case raw = -15
    case gzip = 31
}

extension [UInt8] {
    /// True for the header of RFC 1950 §2.2.
    fileprivate var hasZlibHeader: Bool {
        guard count >= 2 else { return false }
        return self[0] & 0x0F == 8 && (Int(self[0]) << 8 | Int(self[1])).isMultiple(of: 31)
    }
}

private func inflated(_ bytes: [UInt8], as format: DeflateFormat, limit: Int) throws(FetchFailure) -> [UInt8] {
    let broken = FetchFailure(.protocolError, "the compression of the answer is broken or cut off")
    // The address is fixed, because zlib keeps a pointer to the stream.
    let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    stream.initialize(to: z_stream())
    defer { stream.deallocate() }
    guard inflateInit2_(stream, format.rawValue, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
        throw broken
    }
    defer { inflateEnd(stream) }
    var text: [UInt8] = []
    var position = 0
    while true {
        let (result, piece, read) = bytes.withUnsafeBufferPointer { input in
            inflatePiece(stream, UnsafeBufferPointer(rebasing: input[position...]))
        }
        position += read
        guard piece.count <= limit - text.count else { throw .bodyTooLarge(limit) }
        text += piece
        switch result {
        case Z_STREAM_END:
            // Consecutive members form one text. Any other bytes after the end are padding, as in gzip itself.
            guard format == .gzip, bytes[position...].starts(with: [0x1F, 0x8B]) else { return text }
            guard inflateReset(stream) == Z_OK else { throw broken }
        case Z_OK where read > 0 || !piece.isEmpty: continue
        default: throw broken
        }
    }
}

private func inflatePiece(
    _ stream: UnsafeMutablePointer<z_stream>, _ input: UnsafeBufferPointer<UInt8>
) -> (result: Int32, piece: [UInt8], read: Int) {
    let size = 256 << 10
    var result = Z_OK
    stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
    stream.pointee.avail_in = UInt32(clamping: input.count)
    let offered = Int(stream.pointee.avail_in)
    let piece = [UInt8](unsafeUninitializedCapacity: size) { output, count in
        stream.pointee.next_out = output.baseAddress
        stream.pointee.avail_out = UInt32(size)
        result = inflate(stream, Z_NO_FLUSH)
        count = size - Int(stream.pointee.avail_out)
    }
    return (result, piece, offered - Int(stream.pointee.avail_in))
}
