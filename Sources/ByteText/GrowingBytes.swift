/// Memory that grows as bytes are written into it. For the hot path: an array checks at every byte whether it is
/// shared, which costs more than writing the byte.
public struct GrowingBytes: ~Copyable {
    @usableFromInline
    var start: UnsafeMutablePointer<UInt8>
    @usableFromInline
    var capacity: Int
    @usableFromInline
    var length = 0

    @inlinable
    public init(capacity: Int) {
        self.capacity = max(capacity, 64)
        start = .allocate(capacity: self.capacity)
    }

    @inlinable
    deinit { start.deallocate() }

    @inlinable
    public var count: Int { length }

    /// The bytes written since `init` or the last removal; valid until the next change.
    @inlinable
    public var bytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: start, count: length) }

    /// Discards the bytes and keeps the memory.
    @inlinable
    public mutating func removeAll() { length = 0 }

    @inlinable @inline(__always)
    public mutating func append(_ byte: UInt8) {
        reserve(1)
        start[length] = byte
        length += 1
    }

    @inlinable @inline(__always)
    public mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let first = bytes.baseAddress else { return }
        reserve(bytes.count)
        (start + length).initialize(from: first, count: bytes.count)
        length += bytes.count
    }

    @inlinable @inline(__always)
    public mutating func append(_ text: StaticString) {
        append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    @inlinable
    public mutating func append(_ text: String) { text.withBytes { append($0) } }

    /// Appends a number in decimal digits.
    @inlinable
    public mutating func append(decimal number: Int64) {
        if number < 0 { append(UInt8(ascii: "-")) }
        append(decimal: number.magnitude)
    }

    /// Appends a number in decimal digits, without leading zeros.
    @inlinable
    public mutating func append(decimal number: UInt64) {
        var digits = 1
        var bound: UInt64 = 10
        while digits < 20, number >= bound {
            digits += 1
            // The last of them does not fit, and is not compared.
            bound &*= 10
        }
        append(room: digits) { place in
            var rest = number
            var next = place + digits
            while next > place {
                next -= 1
                next.pointee = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            }
            return digits
        }
    }

    /// Reserves `room` bytes, lets `write` fill them from the start, and keeps as many as it returns.
    @inlinable @inline(__always)
    public mutating func append(room: Int, _ write: (UnsafeMutablePointer<UInt8>) -> Int) {
        reserve(room)
        length += min(max(write(start + length), 0), room)
    }

    @inlinable @inline(__always)
    mutating func reserve(_ more: Int) { if capacity - length < more { grow(by: more) } }

    @usableFromInline @inline(never)
    mutating func grow(by more: Int) {
        let larger = max(capacity * 2, length + more)
        let moved = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
        moved.initialize(from: start, count: length)
        start.deallocate()
        (start, capacity) = (moved, larger)
    }
}
