internal import NotificationHub

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

extension UInt8 {
    /// A letter, a digit or a mark that RFC 9110 §5.6.2 allows in a token.
    var isTokenCharacter: Bool {
        // One bit for each of the first 128 characters.
        switch self {
        case 0..<64: 0x03FF_6CFA_0000_0000 >> UInt64(self) & 1 == 1
        case 64..<128: 0x57FF_FFFF_C7FF_FFFE >> UInt64(self - 64) & 1 == 1
        default: false
        }
    }

    /// A character that needs no decoding.
    fileprivate var isPlainInID: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
        default: false
        }
    }

    var digitValue: Int? {
        (0x30...0x39).contains(self) ? Int(self) - 0x30 : nil
    }
}

extension Span<UInt8> {
    /// Contains only bytes that a header value may have: tabs, spaces, visible characters, bytes above ASCII. RFC 9110 §5.5.
    var isFieldContent: Bool {
        withUnsafeBufferPointer { bytes in
            // Without a branch per byte, so that the compiler can take many bytes at once.
            var others: UInt8 = 0
            for byte in bytes { others |= byte < 0x20 && byte != 0x09 || byte == 0x7F ? 1 : 0 }
            return others == 0
        }
    }

    /// The position of the first LF; `count` without one.
    var lineLength: Int {
        withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress, let end = memchr(start, 0x0A, bytes.count) else { return bytes.count }
            return UnsafeRawPointer(end) - start
        }
    }

    /// The part of `range` without spaces and tabs at either end.
    func trimmed(_ range: Range<Int>) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end, self[start] == 0x20 || self[start] == 0x09 { start += 1 }
        while end > start, self[end - 1] == 0x20 || self[end - 1] == 0x09 { end -= 1 }
        return start..<end
    }

    /// The id in a `Location`; see `NotificationID`.
    var notificationID: String? {
        var end = 0
        while end < count, self[end] != UInt8(ascii: "?"), self[end] != UInt8(ascii: "#") { end += 1 }
        var start = end
        while start > 0, self[start - 1].isPlainInID { start -= 1 }
        let segment = extracting(start..<end)
        // The fast path that nearly every reply takes; the rule itself reads all others.
        let isPlain = start > 0 && self[start - 1] == UInt8(ascii: "/")
        guard isPlain, (1...NotificationID.lengthMax).contains(segment.count), !segment.equals("messages") else {
            return NotificationID.inLocation(text)
        }
        return segment.text
    }

    /// Its text as UTF-8; invalid bytes become replacement characters.
    var text: String {
        withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }

    /// Compares without regard to ASCII case.
    /// - Parameter word: in lower case; letters, digits, `-`, `/` and `.` only.
    func equals(_ word: StaticString) -> Bool {
        guard count == word.utf8CodeUnitCount else { return false }
        return word.withUTF8Buffer { expected in
            for index in indices where self[index] | 0x20 != expected[index] { return false }
            return true
        }
    }
}
