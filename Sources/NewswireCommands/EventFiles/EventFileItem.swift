/// One piece of an event file.
struct EventFileItem: Hashable, Sendable {
    enum Content: Hashable, Sendable {
        /// A JSON text that should be an event; not yet believed.
        case event([UInt8])
        /// Nothing that could be one, and why.
        case bad(String)
    }

    /// Where it begins, from 1.
    var line: Int
    var content: Content
}

/// Cuts a file into events as its bytes come, in whatever pieces. Holds one event at a time, never the file.
struct EventFileSplitter {
    /// The longest event taken, in bytes; a longer one is bad and is passed over.
    static let eventLengthMax = 2 << 20

    private var splitter: Splitter

    private enum Splitter {
        case lines(LineSplitter)
        case json(JSONSplitter)
        case csv(CSVSplitter)
        /// While one of the others is worked on, so that it is not copied.
        case none
    }

    init(_ format: EventFileFormat) {
        splitter =
            switch format {
            case .ndjson: .lines(LineSplitter())
            case .array: .json(JSONSplitter(isArray: true))
            case .document: .json(JSONSplitter(isArray: false))
            case .csv: .csv(CSVSplitter())
            }
    }

    /// Takes the next bytes and appends what they complete.
    mutating func feed(_ bytes: some Sequence<UInt8>, into items: inout [EventFileItem]) {
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
        case .none: break
        }
    }

    /// The file has ended: appends what was still open.
    mutating func finish(into items: inout [EventFileItem]) {
        switch splitter {
        case .lines(var lines): lines.finish(into: &items)
        case .json(var json): json.finish(into: &items)
        case .csv(var csv): csv.finish(into: &items)
        case .none: break
        }
    }
}
