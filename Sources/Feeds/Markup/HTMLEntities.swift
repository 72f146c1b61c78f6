import ByteText

/// The named characters of HTML.
enum HTMLEntities {
    struct Characters {
        fileprivate let codes: Range<Int>
        /// True if HTML also accepts the name without its `;`.
        let isLegacy: Bool

        func append(to text: inout [UInt8]) {
            let table = HTMLEntities.bytes
            var value: UInt32 = 0
            // The loop includes one more place, where a blank ends the last number.
            for at in codes.lowerBound...codes.upperBound {
                if let digit = table[at].hexDigitValue {
                    value = value << 4 | UInt32(digit)
                } else if let scalar = Unicode.Scalar(value), let encoded = UTF8.encode(scalar) {
                    text.append(contentsOf: encoded)
                    value = 0
                }
            }
        }
    }

    /// - Parameter name: without `&` and `;`. Case matters: `&Eacute;` is not `&eacute;`.
    static func characters(named name: UnsafeBufferPointer<UInt8>) -> Characters? {
        var low = 0
        var high = starts.count
        while low < high {
            let middle = (low + high) / 2
            switch compare(name, entryAt: Int(starts[middle])) {
            case .found(let codes, let isLegacy): return Characters(codes: codes, isLegacy: isLegacy)
            case .before: high = middle
            case .after: low = middle + 1
            }
        }
        return nil
    }

    private enum Comparison {
        case before, after
        case found(Range<Int>, isLegacy: Bool)
    }

    private static func compare(_ name: UnsafeBufferPointer<UInt8>, entryAt start: Int) -> Comparison {
        var at = start
        for byte in name {
            let other = bytes[at]
            if other == UInt8(ascii: "=") || other == UInt8(ascii: "*") { return .after }
            if byte != other { return byte < other ? .before : .after }
            at += 1
        }
        let mark = bytes[at]
        guard mark == UInt8(ascii: "=") || mark == UInt8(ascii: "*") else { return .before }
        let codes = at + 1
        let end = bytes.index(of: UInt8(ascii: " "), from: codes, to: bytes.count) ?? bytes.count - 1
        return .found(codes..<end, isLegacy: mark == UInt8(ascii: "*"))
    }

    fileprivate static var bytes: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: table.utf8Start, count: table.utf8CodeUnitCount)
    }

    /// The start of each entry in the table.
    private static let starts: [UInt16] = {
        var starts: [UInt16] = []
        var at = 0
        while at < bytes.count {
            starts.append(UInt16(at))
            at = (bytes.index(of: UInt8(ascii: " "), from: at, to: bytes.count) ?? bytes.count) + 1
        }
        return starts
    }()
}
