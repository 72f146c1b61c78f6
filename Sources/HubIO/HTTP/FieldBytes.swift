import ByteText
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
        let half: UInt64 = self < 64 ? 0x03FF_6CFA_0000_0000 : 0x57FF_FFFF_C7FF_FFFE
        return self < 128 && half &>> UInt64(self) & 1 == 1
    }

    /// True for a character that needs no decoding.
    fileprivate var isPlainInID: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
        default: false
        }
    }

    var isSpaceOrTab: Bool { self == 0x20 || self == 0x09 }

    var digitValue: Int? {
        (0x30...0x39).contains(self) ? Int(self) - 0x30 : nil
    }
}

extension Span<UInt8> {
    /// Contains only bytes that RFC 9110 §5.5 allows in a value: tabs, spaces, visible characters, bytes above ASCII.
    var isFieldContent: Bool {
        allSatisfy(
            { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 },
            orAtOnce: { $0.hasByte(below: 0x20) | $0.hasByte(0x7F) == 0 })
    }

    /// Contains only token characters, at least one. RFC 9110 §5.6.2.
    var isToken: Bool {
        for index in indices where !self[index].isTokenCharacter { return false }
        return !isEmpty
    }

    /// Contains only printable ASCII, spaces and tabs.
    var isPrintableASCII: Bool {
        allSatisfy(
            { (0x20...0x7E).contains($0) || $0 == 0x09 },
            orAtOnce: { $0.hasByte(below: 0x20) | $0.hasByte(0x7F) | $0.hasByteAboveASCII == 0 })
    }

    /// True if each byte has the bit that distinguishes small letters from capital ones. A name that `equals` a word is
    /// then the same as the word.
    var isInLowerCase: Bool {
        allSatisfy(
            { $0 & 0x20 != 0 }, orAtOnce: { ~$0 & UInt64.inEachByte(0x20) == 0 })
    }

    /// - Parameter eightSatisfy: tests eight bytes of a word at once. A word that fails is tested byte by byte.
    @inline(__always)
    private func allSatisfy(_ satisfies: (UInt8) -> Bool, orAtOnce eightSatisfy: (UInt64) -> Bool) -> Bool {
        var tested = 0
        while count - tested >= 8, eightSatisfy(word(at: tested)) { tested += 8 }
        // The last word may overlap the one before it.
        if count >= 8, count - tested < 8, eightSatisfy(word(at: count - 8)) { return true }
        while tested < count, satisfies(self[tested]) { tested += 1 }
        return tested == count
    }

    /// Eight bytes as one number.
    private func word(at index: Int) -> UInt64 {
        bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
    }

    /// The position of the first such byte; `count` if it does not occur.
    func length(before byte: UInt8) -> Int {
        withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress, let end = memchr(start, Int32(byte), bytes.count) else {
                return bytes.count
            }
            return UnsafeRawPointer(end) - start
        }
    }

    /// The part of `range` without spaces and tabs at either end.
    func trimmed(_ range: Range<Int>) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end, self[start].isSpaceOrTab { start += 1 }
        while end > start, self[end - 1].isSpaceOrTab { end -= 1 }
        return start..<end
    }

    /// The id in a `Location`; see `NotificationID`.
    var notificationID: String? {
        let end = min(length(before: UInt8(ascii: "?")), length(before: UInt8(ascii: "#")))
        var start = end
        while start > 0, self[start - 1].isPlainInID { start -= 1 }
        let segment = extracting(start..<end)
        // The fast path for nearly every reply. The general rule reads all others.
        let isPlain = start > 0 && self[start - 1] == UInt8(ascii: "/")
        guard isPlain, (1...NotificationID.lengthMax).contains(segment.count), !segment.equals("messages") else {
            return NotificationID.inLocation(text)
        }
        return segment.text
    }

    /// The text as UTF-8; invalid bytes become replacement characters.
    var text: String {
        withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }

    /// Compares without regard to ASCII case. The text must not contain control characters, which could match marks.
    /// - Parameter word: in lower case; letters, digits, `-`, `/` and `.` only.
    func equals(_ word: StaticString) -> Bool {
        guard count == word.utf8CodeUnitCount else { return false }
        return word.withUTF8Buffer { expected in
            let expected = expected.span
            var same = 0
            while count - same >= 8, self.word(at: same) | UInt64.inEachByte(0x20) == expected.word(at: same) {
                same += 8
            }
            while same < count, self[same] | 0x20 == expected[same] { same += 1 }
            return same == count
        }
    }
}
