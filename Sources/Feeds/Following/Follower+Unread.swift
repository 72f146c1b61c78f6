import ByteText
import NewsModel

// New copies that cannot become events, of entries whose alert must not be sent before an embargo ends.

extension Follower {
    /// Withholds an alert that waits for the end of an embargo if a new copy of its entry cannot become an event, because that copy may
    /// correct the text or prolong the embargo. What is withheld stays so.
    /// - Returns: false if the copy can become an event, or if nothing waits.
    mutating func followUnread(
        _ keyed: EntryIdentity.Keyed, _ old: EntryState, _ meaning: EntryMeaning, _ prints: Prints
    ) -> Bool {
        let isHeldBack = log.heldBack[keyed.hash] != nil
        let isAlert = old.standing == .sent || isHeldBack
        let waits = old.standing.isHeld || isAlert && embargo(max(old.embargo, prints.embargo)) > 0
        guard waits || keyed.entry.fault != nil else { return false }
        let version = NewsEvent.Version(old.version)
        guard
            case .failure(let refusal) = maker.event(
                keyed, id: eventID(keyed), version: version, change: nil, meaning: meaning)
        else { return false }
        guard waits, !old.isNewer(than: keyed.entry) || versionAge(of: keyed.entry, old) == .newer else {
            decide(keyed, .unreadable, refusal.because, keeping: nil)
            return true
        }
        if isAlert { withheldUnread.append((keyed.entry.id ?? "", refusal.because)) }
        var meaning = meaning
        meaning.status = .withheld
        hold(keyed, old, meaning, unread: refusal)
        return true
    }

    mutating func noteUnread() {
        guard let first = withheldUnread.first else { return }
        let more = withheldUnread.count > 5 ? " and \(withheldUnread.count - 5) more" : ""
        let ids = withheldUnread.prefix(5).map { "`\($0.id.prefix(100))`" }.joined(separator: ", ") + more
        result.notes.append(
            "\(counted(withheldUnread.count, "alert")) under embargo withheld, because the feed's copy cannot become an event: "
                + "\(ids). Each is sent after its embargo, once the feed's copy can be read. The fault of the first: \(first.because)"
        )
    }
}
