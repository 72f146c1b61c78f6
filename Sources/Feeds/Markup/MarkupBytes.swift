import ByteText

extension UInt8 {
    /// True for space, tab, line feed, form feed and carriage return.
    @inline(__always)
    var isMarkupBlank: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 || self == 0x0C }

    @inline(__always)
    var beginsName: Bool { isASCIILetter || self == UInt8(ascii: "_") || self == UInt8(ascii: ":") || self >= 0x80 }
}

extension UnsafeBufferPointer<UInt8> {
    /// The first index of a byte.
    @inline(__always)
    func index(of byte: UInt8, from start: Int, to end: Int) -> Int? {
        let end = Swift.min(end, count)
        var at = start
        let raw = UnsafeRawBufferPointer(self)
        // Compares eight bytes at a time, because text is long and markup is rare.
        while at + 8 <= end {
            let hits = raw.loadUnaligned(fromByteOffset: at, as: UInt64.self).littleEndian.hasByte(byte)
            // Only bytes after the first hit can be false hits.
            if hits != 0 { return at + hits.trailingZeroBitCount >> 3 }
            at += 8
        }
        while at < end {
            if self[at] == byte { return at }
            at += 1
        }
        return nil
    }

    /// The first index of a text. The search is linear, because no prefix recurs in our texts. In `]]>` and `-->`, the
    /// repeated byte costs one more comparison each.
    func index(of text: StaticString, from start: Int, to end: Int) -> Int? {
        let wanted = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        guard let last = wanted.last else { return nil }
        let before = wanted.count - 1
        // The search is for the last byte, `>`, because it is rarer than the first.
        var at = start + before
        while at < end, let hit = index(of: last, from: at, to: end) {
            if holds(text, at: hit - before, end) { return hit - before }
            at = hit + 1
        }
        return nil
    }

    func holds(_ text: StaticString, at start: Int, _ end: Int, ignoringCase: Bool = false) -> Bool {
        let length = text.utf8CodeUnitCount
        guard start >= 0, start + length <= Swift.min(end, count) else { return false }
        for offset in 0..<length {
            let (ours, wanted) = (self[start + offset], text.utf8Start[offset])
            guard ours == wanted || (ignoringCase && ours.asciiLowercased == wanted.asciiLowercased) else {
                return false
            }
        }
        return true
    }

    /// Returns true if the range spells the name, in any case.
    @inline(__always)
    func spells(_ name: StaticString, in range: Range<Int>) -> Bool {
        range.count == name.utf8CodeUnitCount && holds(name, at: range.lowerBound, range.upperBound, ignoringCase: true)
    }

    @inline(__always)
    func nameEnd(from start: Int, to end: Int) -> Int {
        var at = start
        while at < end {
            switch self[at] {
            case 0x09, 0x0A, 0x0C, 0x0D, 0x20, UInt8(ascii: ">"), UInt8(ascii: "/"), UInt8(ascii: "="),
                UInt8(ascii: "<"):
                return at
            default: at += 1
            }
        }
        return at
    }

    /// Returns the range without blanks at its ends.
    func trimmed(_ range: Range<Int>) -> Range<Int> {
        var (low, high) = (range.lowerBound, range.upperBound)
        while low < high, self[low].isMarkupBlank { low += 1 }
        while high > low, self[high - 1].isMarkupBlank { high -= 1 }
        return low..<high
    }

    func text(_ range: Range<Int>) -> String {
        String(decoding: UnsafeBufferPointer(rebasing: self[range.clamped(to: 0..<count)]), as: UTF8.self)
    }
}
