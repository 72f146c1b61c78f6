import NewsModel

/// An event that is held back: by `maxPerHour`, for an alert or an update; by `maxVersionsPerHour`, for an update; or
/// because its text alternates. It is stored in its entry's record on the state topic, so that the feed's owner at the
/// due time writes it.
struct HeldBack: Sendable, Hashable {
    /// The event, ready to be written.
    var intent: Intent
    /// The entry's version once the event is written.
    var version: String
    /// The publisher's own version of the item; `nil` if it gives none.
    var own: String?
    /// The minute since 1970 from which the event is written, if `maxPerHour` allows.
    var due: UInt32
    /// The minute in which an alert becomes too old to be news; `Minute.never` for an update.
    var staleAt: UInt32
    /// True if the last complete document did not have the entry. An alert is not written while its entry is missing.
    var isMissing = false
}

extension HeldBack {
    init(_ event: NewsEvent, publishers own: NewsEvent.Version?, lane: String, due: UInt32, staleAt: UInt32) {
        self.init(
            intent: Intent(event, lane: lane, order: 0), version: event.version?.text ?? "", own: own?.text, due: due,
            staleAt: staleAt)
    }
}

/// The id under which an entry's events are written, and the entry that the id comes from.
struct EventName: Sendable, Hashable {
    var id: String
    /// The former key of an entry that came back under another id. Its events continue those of the former entry.
    var origin: EntryHash?
}
