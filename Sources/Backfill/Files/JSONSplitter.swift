/// Splits one JSON array into its elements, or a sequence of JSON values into single ones. The decoder decides later
/// which of them are events.
struct JSONSplitter: ItemSplitter {
    let isArray: Bool
    private var scan = JSONScan()
    private var line = 1
    private var startLine = 1
    private var pending: [UInt8] = []
    private var isTooLong = false
    private var hasOpened = false
    private var hasClosed = false
    private var hasComplained = false

    init(isArray: Bool) { self.isArray = isArray }

    private var baseDepth: Int { isArray ? 1 : 0 }

    mutating func feed(_ bytes: ArraySlice<UInt8>, into items: inout [EventFileItem]) {
        for byte in bytes {
            read(byte, into: &items)
            if byte == UInt8(ascii: "\n") { line += 1 }
        }
    }

    mutating func finish(into items: inout [EventFileItem]) {
        if scan.depth > baseDepth || scan.isInString {
            items.append(EventFileItem(line: startLine, content: .broken(EventFileSplitter.endsInEvent)))
        } else {
            end(into: &items)
            if isArray, !hasClosed {
                items.append(EventFileItem(line: line, content: .broken("the array has no end: ']' is missing")))
            }
        }
    }

    private mutating func read(_ byte: UInt8, into items: inout [EventFileItem]) {
        let isBlank = byte <= UInt8(ascii: " ")
        let isAtBase = scan.depth == baseDepth && !scan.isInString
        if isArray, !hasOpened {
            guard byte == UInt8(ascii: "[") else { return }
            hasOpened = true
            scan.read(byte)
        } else if hasClosed {
            if !isBlank, !hasComplained {
                hasComplained = true
                items.append(EventFileItem(line: line, content: .broken("text after the array's end")))
            }
        } else if isAtBase, isArray, byte == UInt8(ascii: "]") {
            end(into: &items)
            scan.read(byte)
            hasClosed = true
        } else if isAtBase, isBlank || byte == UInt8(ascii: ",") && isArray {
            end(into: &items)
        } else {
            if isAtBase, byte == UInt8(ascii: "{") { end(into: &items) }
            if pending.isEmpty { startLine = line }
            scan.read(byte)
            if pending.count < EventFileSplitter.eventLengthMax { pending.append(byte) } else { isTooLong = true }
            if scan.depth == baseDepth, !scan.isInString, byte == UInt8(ascii: "}") { end(into: &items) }
        }
    }

    private mutating func end(into items: inout [EventFileItem]) {
        defer {
            pending.removeAll(keepingCapacity: true)
            isTooLong = false
        }
        if pending.starts(with: [0xEF, 0xBB, 0xBF]) { pending.removeFirst(3) }
        guard !pending.isEmpty else { return }
        items.append(EventFileItem(line: startLine, content: isTooLong ? EventFileSplitter.tooLong : .event(pending)))
    }
}

/// Follows JSON text byte by byte, just closely enough to find where values begin and end.
struct JSONScan {
    private(set) var depth = 0
    private(set) var isInString = false
    private var isEscaped = false

    mutating func read(_ byte: UInt8) {
        if isInString {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isInString = false
            }
            return
        }
        switch byte {
        case UInt8(ascii: "\""): isInString = true
        case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"): depth = max(0, depth - 1)
        default: break
        }
    }
}
