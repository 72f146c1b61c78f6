/// The inside of a JSON string. RFC 8259 §7.
public enum JSONEscaping {
    /// True when a character of the text must be escaped.
    ///
    /// Swift strings are valid UTF-8, so only ASCII is looked at.
    @inlinable @inline(__always)
    public static func isNeeded(in text: UnsafeBufferPointer<UInt8>) -> Bool {
        ByteWords.any(in: text) {
            $0.hasByte(below: 0x20) | $0.hasByte(UInt8(ascii: "\"")) | $0.hasByte(UInt8(ascii: "\\"))
        }
    }

    /// Passes the escaped text to `write` in pieces; characters without escapes in runs as long as possible.
    @inlinable
    public static func escape(_ text: UnsafeBufferPointer<UInt8>, _ write: (UnsafeBufferPointer<UInt8>) -> Void) {
        guard isNeeded(in: text) else { return write(text) }
        var clean = 0
        for (index, byte) in text.enumerated() where isEscaped(byte) {
            write(UnsafeBufferPointer(rebasing: text[clean..<index]))
            clean = index + 1
            withEscape(of: byte, write)
        }
        write(UnsafeBufferPointer(rebasing: text[clean...]))
    }

    /// Appends the text in quotes.
    public static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        text.withBytes { escape($0) { bytes.append(contentsOf: $0) } }
        bytes.append(UInt8(ascii: "\""))
    }

    /// The bytes that `escape` writes for one scalar.
    public static func cost(_ scalar: Unicode.Scalar) -> Int {
        switch scalar {
        case "\"", "\\", "\n", "\r", "\t", "\u{8}", "\u{C}": 2
        case "\u{0}"..<" ": 6
        default: UTF8.width(scalar)
        }
    }

    @inlinable @inline(__always)
    static func isEscaped(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    @usableFromInline
    static func withEscape(of byte: UInt8, _ write: (UnsafeBufferPointer<UInt8>) -> Void) {
        let letter: UInt8? =
            switch byte {
            case 0x08: UInt8(ascii: "b")
            case 0x09: UInt8(ascii: "t")
            case 0x0A: UInt8(ascii: "n")
            case 0x0C: UInt8(ascii: "f")
            case 0x0D: UInt8(ascii: "r")
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): byte
            default: nil
            }
        let escape = (
            UInt8(ascii: "\\"), letter ?? UInt8(ascii: "u"), UInt8(ascii: "0"), UInt8(ascii: "0"),
            UInt8(hexDigitOf: byte >> 4), UInt8(hexDigitOf: byte)
        )
        let length = letter == nil ? 6 : 2
        withUnsafeBytes(of: escape) { bytes in
            write(UnsafeBufferPointer(rebasing: bytes.bindMemory(to: UInt8.self)[..<length]))
        }
    }
}
