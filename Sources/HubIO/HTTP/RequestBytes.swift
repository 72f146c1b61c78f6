import ByteText
internal import NIOCore

/// A request is written through one pointer, because the buffer would check bounds for each short piece.
extension UnsafeMutableRawBufferPointer {
    /// Copies the text and advances past it.
    mutating func write(_ text: StaticString) {
        text.withUTF8Buffer { write(UnsafeRawBufferPointer($0)) }
    }

    mutating func write(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { write($0) }
    }

    /// - Returns: false if the text is not a valid field value.
    mutating func write(value text: String) -> Bool {
        text.withBytes { bytes in
            write(UnsafeRawBufferPointer(bytes))
            return bytes.span.isPrintableASCII
        }
    }

    /// - Parameter number: must not be negative.
    mutating func write(decimal number: Int) {
        let (tens, ones) = number.quotientAndRemainder(dividingBy: 10)
        if tens > 0 { write(decimal: tens) }
        write(byte: UInt8(ascii: "0") + UInt8(ones))
    }

    @inline(__always)
    mutating func write(byte: UInt8) {
        precondition(count > 0, "the request has room for all its parts")
        self[0] = byte
        skip(1)
    }

    @inline(__always)
    mutating func write(_ bytes: UnsafeRawBufferPointer) {
        precondition(bytes.count <= count, "the request has room for all its parts")
        copyMemory(from: bytes)
        skip(bytes.count)
    }

    /// Advances past bytes that are written later, or were.
    @inline(__always)
    mutating func skip(_ skipped: Int) {
        precondition(skipped <= count, "the request has room for all its parts")
        self = UnsafeMutableRawBufferPointer(start: baseAddress.map { $0 + skipped }, count: count - skipped)
    }
}

/// The buffer of one group of requests.
extension ByteBuffer {
    static let usualGroupCapacity = 64 << 10
    /// The largest capacity kept after a group, so that one large group does not occupy memory. Bodies are at most 64
    /// KiB.
    static let keptGroupCapacity = 256 << 10

    /// True if the written requests should be sent before another one is written.
    var isFullGroup: Bool { readableBytes >= Self.keptGroupCapacity }

    /// Reuses the memory of the written requests, unless a slice of it is still in use.
    mutating func startGroup() {
        if capacity > Self.keptGroupCapacity {
            self = ByteBufferAllocator().buffer(capacity: Self.usualGroupCapacity)
        } else {
            clear()
        }
    }
}
