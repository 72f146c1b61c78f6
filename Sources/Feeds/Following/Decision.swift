public import NewsModel

/// What becomes of one entry of a document, and why.
public struct Decision: Sendable, Hashable {
    /// The entry's place in the document.
    public var index: Int
    public var action: Action
    /// One sentence for people.
    public var because: String
    /// The id of the entry's events; empty for one that has nothing to be known by.
    public var id: String
    /// The event that is written, or would be if the entry were new.
    public var event: NewsEvent?
    /// Where it goes, if it is written.
    public var lane: String?

    /// The raw value is what `ingest --explain` shows.
    public enum Action: String, Sendable, Hashable, CaseIterable {
        /// New: an event is written.
        case alert
        /// A new version of what was written before: an event is written.
        case update
        /// Known, and changed in a way that is no news.
        case noise
        /// Held back by a limit of the feed: its event is written later.
        case limited
        /// New here but old.
        case stale
        /// Would have been new, but stood there at first sight or is beyond a limit.
        case backlog
        /// Must not be published yet.
        case withheld
        /// Recalled: an event that says so is written.
        case canceled
        /// Cannot become an event.
        case unreadable
        /// Another feed of the group has brought it.
        case duplicate
        /// Known and unchanged.
        case unchanged
    }

    /// True when an event is written.
    public var isWritten: Bool { lane != nil }
}

/// What follows from one document.
public struct Following: Sendable, Hashable {
    /// One for each entry, in document order.
    public var decisions: [Decision] = []
    public var feed: FeedState
    /// The entry states to keep, events in the order in which they are to be written.
    var changes: [Change] = []
    /// Known entries that came back under new ids.
    public var rekeyed = 0
    /// For people: what happened to the feed as a whole. No headline stands in it.
    public var notes: [String] = []

    struct Change: Sendable, Hashable {
        var hash: EntryHash
        /// `nil` when the entry is forgotten.
        var state: EntryState?
        var event: Written?
        /// `nil` for an entry of which nothing was written.
        var name: EventName?
        var heldBack = Held.kept
    }

    /// What becomes of the event that is held back for the entry; one that is written now replaces it.
    enum Held: Sendable, Hashable {
        case kept
        case dropped
        case replaced(HeldBack)
    }

    struct Written: Sendable, Hashable {
        var lane: String
        var event: NewsEvent
    }

    public func count(_ action: Decision.Action) -> Int { decisions.count { $0.action == action } }
}
