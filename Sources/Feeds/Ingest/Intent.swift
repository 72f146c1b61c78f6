import NewsModel

/// An event that is to be written. It stays on the state topic until it is written, so that the feed's next owner
/// writes exactly the same bytes.
struct Intent: Sendable, Hashable {
    var lane: String
    /// The event's key: the story.
    var key: String
    /// The event as a `news-event` document.
    var event: [UInt8]
    /// Orders the intents of one feed.
    var order: Int64
}

extension Intent {
    init(_ event: NewsEvent, lane: String, order: Int64) {
        var bytes: [UInt8] = []
        event.encode(into: &bytes)
        self.init(lane: lane, key: event.orderKey, event: bytes, order: order)
    }
}

/// An entry as one record of the state topic describes it.
struct EntryRecord: Sendable, Hashable {
    var state: EntryState
    /// The event that is still to be written; `nil` if nothing is.
    var intent: Intent?
    /// The event that a limit holds back; `nil` if nothing is.
    var heldBack: HeldBack?
    /// `nil` unless an event of the entry was written or is held back.
    var name: EventName?
    /// The lane to which the entry's last alert went; `nil` if there was none. Records of former versions do not have it.
    var lane: String?
    /// The process that wrote the record, and the assignment of the partition in which it did.
    var writer: String
    /// Offset of the last record that the writer had read when it decided.
    var after: Int64?
    /// The entry that this one continues under another id. The same record marks that entry as moved, so that no crash
    /// can separate the two changes.
    var former: EntryHash?
    /// True if the writer knew no earlier reading of the feed.
    var isOfFirstReading = false

    /// True for an alert that is to be written, or that a limit holds back.
    var isAlert: Bool { state.standing == .waiting || state.standing == .sent && intent != nil }
}

/// The keys of the state topic.
enum StateKey: Hashable {
    case feed(String)
    case entry(feed: String, EntryHash)

    init?(_ text: String) {
        let bytes = text.utf8
        guard let start = bytes.firstIndex(of: UInt8(ascii: "/")).map(bytes.index(after:)) else { return nil }
        switch text[..<start] {
        case "feed/": self = .feed(String(text[start...]))
        case "entry/":
            // The name of a feed may contain a slash; a hash cannot.
            guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")), slash >= start,
                let hash = EntryHash(hexadecimal: text[bytes.index(after: slash)...])
            else { return nil }
            self = .entry(feed: String(text[start..<slash]), hash)
        default: return nil
        }
    }

    var text: String {
        switch self {
        case .feed(let name): "feed/\(name)"
        case .entry(let name, let hash): "entry/\(name)/\(hash)"
        }
    }

    var feed: String {
        switch self {
        case .feed(let name), .entry(let name, _): name
        }
    }
}
