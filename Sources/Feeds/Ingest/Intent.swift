import NewsModel

/// An event that is to be written, as it stands on the state topic until that is done: whoever takes the feed over writes
/// exactly this.
struct Intent: Sendable, Hashable {
    var lane: String
    /// The event's key: the story.
    var key: String
    /// The `news-event` document.
    var event: [UInt8]
    /// Orders the intents of one feed.
    var order: Int64
}

/// An entry as one record of the state topic says it.
struct EntryRecord: Sendable, Hashable {
    var state: EntryState
    /// What is still to be written; `nil` when nothing is.
    var intent: Intent?
    /// What a limit holds back; `nil` when nothing is.
    var heldBack: HeldBack?
    /// `nil` for an entry of which nothing was written.
    var name: EventName?
    /// The process that wrote the record.
    var writer: String
}

/// The keys of the state topic.
enum StateKey: Hashable {
    case feed(String)
    case entry(feed: String, EntryHash)

    init?(_ text: String) {
        if text.hasPrefix("feed/") {
            self = .feed(String(text.dropFirst(5)))
        } else if text.hasPrefix("entry/"), let slash = text.lastIndex(of: "/"),
            let hash = EntryHash(hexadecimal: text[text.index(after: slash)...]),
            let start = text.firstIndex(of: "/"), start < slash
        {
            // The name of a feed may have a slash, a hash has none.
            self = .entry(feed: String(text[text.index(after: start)..<slash]), hash)
        } else {
            return nil
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
