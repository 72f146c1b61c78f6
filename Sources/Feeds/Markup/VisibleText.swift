import ByteText

/// Collects text for display. White space is collapsed and trimmed. Control characters, marks that change the direction
/// of text, and characters without width are removed. Joiners stay, because some scripts and emoji need them.
struct VisibleText {
    private let limit: Int
    private var bytes: [UInt8] = []
    private var blankIsDue = false

    init(limit: Int) {
        self.limit = max(limit, 0)
    }

    /// True if any further text would be cut off.
    var isFull: Bool { bytes.count > limit + Self.slack }

    /// Additional bytes beyond the limit, within which any sensible character at the limit ends.
    private static let slack = 256

    mutating func appendBlank() { blankIsDue = true }

    /// - Parameter run: valid UTF-8, cut between scalars.
    mutating func append(_ run: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) {
        var at = range.lowerBound
        while at < range.upperBound, !isFull {
            let byte = run[at]
            if byte > 0x20, byte < 0x7F {
                flushBlank()
                bytes.append(byte)
                at += 1
            } else if byte < 0x80 {
                if byte == 0x20 || (0x09...0x0D).contains(byte) { blankIsDue = true }
                at += 1
            } else {
                let width = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2
                let end = min(at + width, range.upperBound)
                appendWide(run, at..<end)
                at = end
            }
        }
    }

    private mutating func appendWide(_ run: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) {
        var value = UInt32(run[range.lowerBound]) & (range.count == 2 ? 0x1F : range.count == 3 ? 0x0F : 0x07)
        for at in range.dropFirst() { value = value << 6 | UInt32(run[at] & 0x3F) }
        switch value {
        case 0xA0, 0x1680, 0x2000...0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000: blankIsDue = true
        case 0x85: blankIsDue = true
        case 0x200B, 0x2060, 0xFEFF, 0x202A...0x202E, 0x2066...0x2069, 0xFFFE, 0xFFFF: break
        case 0x80...0x9F:
            // These are bytes of windows-1252 that were mistaken for Latin-1.
            flushBlank()
            bytes.append(contentsOf: String(Windows1252.scalar(UInt8(value))).utf8)
        default:
            flushBlank()
            bytes.append(contentsOf: run[range])
        }
    }

    private mutating func flushBlank() {
        if blankIsDue, !bytes.isEmpty { bytes.append(0x20) }
        blankIsDue = false
    }

    /// The collected text; `nil` if it is empty.
    var text: String? {
        let whole = String(decoding: bytes, as: UTF8.self)
        if whole.utf8.count <= limit { return whole.isEmpty ? nil : whole }
        var cut = whole.cut(toBytes: limit + Self.slack)
        while cut.utf8.count > limit { cut.removeLast() }
        // The first character is longer than the limit.
        if cut.isEmpty { cut = whole.cut(toBytes: limit) }
        let text = cut.trimmed
        return text.isEmpty ? nil : String(text)
    }
}
