import ByteText

/// The parts of HPACK (RFC 7541) that the writer and the reader share.
enum HPACK {
    /// The entry count of the static table. Index 0 is not an entry.
    static let staticCount = 61

    /// The static table, RFC 7541 appendix A.
    static let staticTable: [(name: StaticString, value: StaticString)] = [
        ("", ""), (":authority", ""), (":method", "GET"), (":method", "POST"), (":path", "/"),
        (":path", "/index.html"), (":scheme", "http"), (":scheme", "https"), (":status", "200"), (":status", "204"),
        (":status", "206"), (":status", "304"), (":status", "400"), (":status", "404"), (":status", "500"),
        ("accept-charset", ""), ("accept-encoding", "gzip, deflate"), ("accept-language", ""), ("accept-ranges", ""),
        ("accept", ""), ("access-control-allow-origin", ""), ("age", ""), ("allow", ""), ("authorization", ""),
        ("cache-control", ""), ("content-disposition", ""), ("content-encoding", ""), ("content-language", ""),
        ("content-length", ""), ("content-location", ""), ("content-range", ""), ("content-type", ""),
        ("cookie", ""), ("date", ""), ("etag", ""), ("expect", ""), ("expires", ""), ("from", ""), ("host", ""),
        ("if-match", ""), ("if-modified-since", ""), ("if-none-match", ""), ("if-range", ""),
        ("if-unmodified-since", ""), ("last-modified", ""), ("link", ""), ("location", ""), ("max-forwards", ""),
        ("proxy-authenticate", ""), ("proxy-authorization", ""), ("range", ""), ("referer", ""), ("refresh", ""),
        ("retry-after", ""), ("server", ""), ("set-cookie", ""), ("strict-transport-security", ""),
        ("transfer-encoding", ""), ("user-agent", ""), ("vary", ""), ("via", ""), ("www-authenticate", ""),
    ]

    /// An integer, RFC 7541 §5.1.
    /// - Parameter pattern: the bits of the first byte in front of the prefix.
    static func integer(_ value: Int, prefixBits: Int, pattern: UInt8) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 10) { memory, count in
            var rest = UnsafeMutableRawBufferPointer(memory)
            rest.write(integer: value, prefixBits: prefixBits, pattern: pattern)
            count = memory.count - rest.count
        }
    }

    /// A string literal without Huffman coding, RFC 7541 §5.2.
    static func literal(_ text: String) -> [UInt8] {
        integer(text.utf8.count, prefixBits: 7, pattern: 0) + text.utf8
    }
}

extension UnsafeMutableRawBufferPointer {
    /// Writes an integer, RFC 7541 §5.1. Takes at most 10 bytes.
    /// - Parameter value: must not be negative.
    /// - Parameter pattern: the bits of the first byte in front of the prefix.
    @inline(__always)
    mutating func write(integer value: Int, prefixBits: Int, pattern: UInt8) {
        let prefixMax = 1 << prefixBits - 1
        guard value >= prefixMax else { return write(byte: pattern | UInt8(value)) }
        write(byte: pattern | UInt8(prefixMax))
        var rest = value - prefixMax
        while rest >= 0x80 {
            write(byte: UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        write(byte: UInt8(rest))
    }

    /// Writes a value as a string literal, without the spaces at its ends, which HTTP/2 forbids (RFC 9113 §8.2.1).
    /// Takes at most 10 bytes more than the text.
    /// - Returns: false if the text is not a valid field value.
    mutating func write(literal text: String) -> Bool {
        text.withBytes { bytes in
            var value = UnsafeRawBufferPointer(bytes)
            if let first = bytes.first, let last = bytes.last, first.isSpaceOrTab || last.isSpaceOrTab {
                value = UnsafeRawBufferPointer(rebasing: value[bytes.span.trimmed(0..<bytes.count)])
            }
            write(integer: value.count, prefixBits: 7, pattern: 0)
            write(value)
            return bytes.span.isPrintableASCII
        }
    }
}

/// The dynamic table of our requests, as the server keeps it (RFC 7541 §2.3.2).
///
/// Holds only fields that repeat, and never evicts: a field that does not fit is written as a literal each time. Two
/// size updates empty the whole table instead, so that the position of an entry never has to be guessed.
struct HPACKTable {
    static let defaultCapacity = 4096

    /// The entries, oldest first. The newest one has the lowest index.
    private var entries: [(name: String, value: String)] = []
    private var size = 0
    private var capacity = Self.defaultCapacity
    /// The size updates that must begin the next block.
    private(set) var sizeUpdates: [UInt8] = []

    var count: Int { entries.count }

    /// Adopts the table size that the server permits.
    mutating func permit(_ size: Int) {
        let permitted = min(size, Self.defaultCapacity)
        if permitted != capacity { restart(capacity: permitted) }
    }

    /// Empties the table unless the field still fits.
    mutating func makeRoom(name: String, value: String) {
        if !entries.isEmpty, !fits(name, value.utf8.count) { restart(capacity: capacity) }
    }

    private mutating func restart(capacity: Int) {
        self.capacity = capacity
        entries = []
        size = 0
        // The lowest size comes first (RFC 7541 §4.2). No server can have permitted less than 0 meanwhile.
        sizeUpdates = [0x20] + (capacity > 0 ? HPACK.integer(capacity, prefixBits: 5, pattern: 0x20) : [])
    }

    /// Begins a block: returns the size updates that are due.
    mutating func begin() -> [UInt8] {
        defer { sizeUpdates = [] }
        return sizeUpdates
    }

    /// A whole field: an index if it is in the table. Otherwise a literal, which enters the table if it fits.
    /// - Parameter staticName: the index of the name in the static table, or 0.
    mutating func field(_ name: String, staticName: Int = 0, _ value: String, isSecret: Bool = false) -> [UInt8] {
        if let place = entries.firstIndex(where: { $0.name == name && $0.value == value }) {
            return HPACK.integer(index(of: place), prefixBits: 7, pattern: 0x80)
        }
        let isKept = fits(name, value.utf8.count)
        let nameBytes =
            isKept
            ? nameBytes(name, staticName, prefixBits: 6, pattern: 0x40)
            : nameBytes(name, staticName, prefixBits: 4, pattern: isSecret ? 0x10 : 0)
        if isKept { insert(name, value) }
        return nameBytes + HPACK.literal(value)
    }

    /// The beginning of a field whose value varies. The first one enters the table if it fits, for its name.
    /// - Parameter value: is written by the caller as a literal.
    mutating func beginning(ofField name: String, value: String) -> [UInt8] {
        let isKept = !entries.contains { $0.name == name } && fits(name, value.utf8.count)
        guard isKept else { return nameBytes(name, 0, prefixBits: 4, pattern: 0) }
        let bytes = nameBytes(name, 0, prefixBits: 6, pattern: 0x40)
        insert(name, value)
        return bytes
    }

    private func nameBytes(_ name: String, _ staticName: Int, prefixBits: Int, pattern: UInt8) -> [UInt8] {
        let place = staticName == 0 ? entries.firstIndex { $0.name == name } : nil
        let index = place.map { self.index(of: $0) } ?? staticName
        return HPACK.integer(index, prefixBits: prefixBits, pattern: pattern) + (index == 0 ? HPACK.literal(name) : [])
    }

    private func index(of place: Int) -> Int { HPACK.staticCount + entries.count - place }

    private func fits(_ name: String, _ valueLength: Int) -> Bool {
        size + name.utf8.count + valueLength + 32 <= capacity
    }

    private mutating func insert(_ name: String, _ value: String) {
        entries.append((name, value))
        size += name.utf8.count + value.utf8.count + 32
    }
}
