/// NDJSON: every line that is not blank is an event.
struct LineSplitter {
    private var line = 1
    private var pending: [UInt8] = []
    private var isTooLong = false

    mutating func feed(_ bytes: some Sequence<UInt8>, into items: inout [EventFileItem]) {
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                end(into: &items)
                line += 1
            } else if pending.count < EventFileSplitter.eventLengthMax {
                pending.append(byte)
            } else {
                isTooLong = true
            }
        }
    }

    mutating func finish(into items: inout [EventFileItem]) {
        end(into: &items)
    }

    private mutating func end(into items: inout [EventFileItem]) {
        defer {
            pending.removeAll(keepingCapacity: true)
            isTooLong = false
        }
        if isTooLong {
            items.append(
                EventFileItem(line: line, content: .bad("longer than \(EventFileSplitter.eventLengthMax >> 20) MiB")))
            return
        }
        // A byte order mark, and the other half of a Windows line break.
        if line == 1, pending.starts(with: [0xEF, 0xBB, 0xBF]) { pending.removeFirst(3) }
        guard pending.contains(where: { $0 > UInt8(ascii: " ") }) else { return }
        if pending.last == UInt8(ascii: "\r") { pending.removeLast() }
        items.append(EventFileItem(line: line, content: .event(pending)))
    }
}
