public import NewsModel

/// The decision about one entry of a document, and the reason for it.
public struct Decision: Sendable, Hashable {
    /// The entry's index in the document.
    public var index: Int
    public var action: Action
    /// One sentence for people.
    public var because: String
    /// The id of the entry's events; empty for an entry without anything that identifies it.
    public var id: String
    /// The event that is written, or would be if the entry were new.
    public var event: NewsEvent?
    /// The lane of the event, if it is written.
    public var lane: String?

    /// The raw value is what `ingest --explain` shows.
    public enum Action: String, Sendable, Hashable, CaseIterable {
        /// New: an event is written.
        case alert
        /// A new version of what was written before: an event is written.
        case update
        /// Not news: an unimportant change, a picture or the like, or a story that is known under another id.
        case noise
        /// Held back by a limit of the feed: its event is written later.
        case limited
        /// New in this feed, but old.
        case stale
        /// Would be new, but was in the feed at first sight or is beyond a limit.
        case backlog
        /// Must not be published yet.
        case withheld
        /// Recalled: an event that says it is canceled is written.
        case canceled
        /// Cannot become an event.
        case unreadable
        /// Another feed of the group has already brought it.
        case duplicate
        /// The entry is known and has not changed.
        case unchanged
    }

    /// True when an event is written.
    public var isWritten: Bool { lane != nil }
}

/// The results of following one document.
public struct Following: Sendable, Hashable {
    /// One for each entry, in document order.
    public var decisions: [Decision] = []
    public var feed: FeedState
    /// The entry states to keep. Changes with events are in the order in which these are written.
    var changes: [Change] = []
    /// Known entries that came back under new ids.
    public var rekeyed = 0
    /// Entries that are known, under whichever id.
    var recognized = 0
    /// True if entries wait for another reading of the document, because their events cannot be held back, or because a hub pushed
    /// what may be former copies.
    var isIncomplete = false
    /// Messages for people about the feed as a whole. They contain no headline.
    public var notes: [String] = []

    struct Change: Sendable, Hashable {
        var hash: EntryHash
        /// `nil` forgets the entry.
        var state: EntryState?
        var event: Written?
        /// `nil` unless an event of the entry was written or is held back.
        var name: EventName?
        var heldBack = Held.kept
        /// The entry that this one continues under another id.
        var former: EntryHash?

        /// The entry's next record; `nil` forgets the entry.
        /// - Parameters:
        ///   - log: the entries before this change.
        ///   - order: the place of the event among the intents of the feed.
        func record(in log: EntryLog, writer: String, after readTo: Int64?, order: @autoclosure () -> Int64)
            -> EntryRecord?
        {
            guard let state else { return nil }
            var record = EntryRecord(state: state, name: name, writer: writer, after: readTo, former: former)
            switch heldBack {
            case .kept: record.heldBack = log.heldBack[hash]
            case .dropped: break
            case .replaced(let held): record.heldBack = held
            }
            if let event { record.intent = Intent(event.event, lane: event.lane, order: order()) }
            // A recall goes to the feed's own lane. If the publisher takes it back, the entry's next event follows its alert.
            let alertLane =
                event.flatMap { $0.event.status == .canceled ? nil : $0.lane } ?? record.heldBack?.intent.lane
            record.lane = state.standing.isNamed ? alertLane ?? log.lane(of: state) : nil
            return record
        }
    }

    /// The links of several changed entries with different headlines, which identify no story.
    var sharedLinks: Set<UInt64> {
        var titles: [UInt64: UInt64] = [:]
        var shared: Set<UInt64> = []
        for state in changes.compactMap(\.state) where state.link != 0 && state.standing != .moved {
            let other = titles.updateValue(state.title, forKey: state.link)
            if let other, other != state.title { shared.insert(state.link) }
        }
        return shared
    }

    /// The effect on the event that is held back for the entry. An event that is written now usually replaces it.
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
