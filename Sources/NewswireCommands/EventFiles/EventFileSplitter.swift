/// One event of a file, or one error in it.
package struct EventFileItem: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        /// A JSON text that should be an event; not decoded yet.
        case event([UInt8])
        /// An item that is not an event, with the reason.
        case bad(String)
        /// An error after which the file cannot be read on, with the reason. Events may be missing.
        case broken(String)
    }

    /// The line it starts on, from 1.
    package var line: Int
    package var content: Content

    package init(line: Int, content: Content) {
        self.line = line
        self.content = content
    }
}

/// Splits a file into events as its bytes arrive, in pieces of any size. Buffers one event at a time, never the file. The
/// exception is an XML document, which is buffered up to `FeedLimits.document` bytes.
package struct EventFileSplitter {
    /// Maximum length of an event, in bytes. A longer one is bad and skipped.
    package static let eventLengthMax = 2 << 20

    static let endsInEvent = "the file ends in the middle of this event"

    private var splitter: Splitter

    private enum Splitter {
        case lines(LineSplitter)
        case json(JSONSplitter)
        case csv(CSVSplitter)
        case newsML(NewsDocumentSplitter)
        /// A placeholder while another case is used, so that its value is not copied.
        case none
    }

    package init(_ format: EventFileFormat) {
        splitter =
            switch format {
            case .ndjson: .lines(LineSplitter())
            case .array: .json(JSONSplitter(isArray: true))
            case .document: .json(JSONSplitter(isArray: false))
            case .csv: .csv(CSVSplitter())
            case .newsML: .newsML(NewsDocumentSplitter())
            }
    }

    /// Reads the next bytes and appends the items that they complete.
    package mutating func feed(_ bytes: some Sequence<UInt8>, into items: inout [EventFileItem]) {
        switch splitter {
        case .lines(var lines):
            splitter = .none
            lines.feed(bytes, into: &items)
            splitter = .lines(lines)
        case .json(var json):
            splitter = .none
            json.feed(bytes, into: &items)
            splitter = .json(json)
        case .csv(var csv):
            splitter = .none
            csv.feed(bytes, into: &items)
            splitter = .csv(csv)
        case .newsML(var document):
            splitter = .none
            document.feed(bytes)
            splitter = .newsML(document)
        case .none: break
        }
    }

    /// Appends the unfinished item at the end of the file.
    package mutating func finish(into items: inout [EventFileItem]) {
        switch splitter {
        case .lines(var lines): lines.finish(into: &items)
        case .json(var json): json.finish(into: &items)
        case .csv(var csv): csv.finish(into: &items)
        case .newsML(let document): document.finish(into: &items)
        case .none: break
        }
    }
}

/// Splits NDJSON, in which every line that is not blank is an event.
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
        var scan = JSONScan()
        for byte in pending { scan.read(byte) }
        if scan.depth > 0 || scan.isInString, !isTooLong {
            items.append(EventFileItem(line: line, content: .broken(EventFileSplitter.endsInEvent)))
        } else {
            end(into: &items)
        }
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
        // Removes a byte order mark, and the carriage return of a Windows line break.
        if line == 1, pending.starts(with: [0xEF, 0xBB, 0xBF]) { pending.removeFirst(3) }
        guard pending.contains(where: { $0 > UInt8(ascii: " ") }) else { return }
        if pending.last == UInt8(ascii: "\r") { pending.removeLast() }
        items.append(EventFileItem(line: line, content: .event(pending)))
    }
}
