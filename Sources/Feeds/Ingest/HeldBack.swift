import NewsModel

/// An event that a limit of its feed holds back: an alert or an update beyond `maxPerHour`, an update beyond
/// `maxVersionsPerHour`, or a text that goes to and fro. It stands in its entry's record on the state topic, so that whoever
/// follows the feed when it is due writes it.
struct HeldBack: Sendable, Hashable {
    /// The event, ready to be written.
    var intent: Intent
    /// The version that the entry has once the event is written.
    var version: String
    /// The minute since 1970 from which on it is written, if `maxPerHour` allows.
    var due: UInt32
    /// The minute in which an alert becomes too old to be news; `Minute.never` for an update.
    var staleAt: UInt32
}

/// The id under which an entry's events are written, and the entry that gave it.
struct EventName: Sendable, Hashable {
    var id: String
    /// The entry's former key, for an entry that came back under another id: its events continue those of the former.
    var origin: EntryHash?
}
