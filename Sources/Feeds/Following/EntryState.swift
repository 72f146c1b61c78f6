import NewsModel

/// The state of one entry between polls. It has about 110 bytes, because a process may keep a million entries.
public struct EntryState: Sendable, Hashable {
    /// The version last written, or the publisher's own version last seen. Empty before the first one.
    public var version = ""
    /// Hash of headline, categories and subjects.
    var headlinePrint: UInt64 = 0
    /// Hash of summary, link and image.
    var bodyPrint: UInt64 = 0
    var past = Past()
    /// Hash of the identity link; 0 without one.
    var link: UInt64 = 0
    /// Hash of the folded headline; 0 without one.
    var title: UInt64 = 0
    /// Minutes since 1970, as in `embargo`. 0 means absent, `Minute.never` means without an end.
    var expiry: UInt32 = 0
    var embargo: UInt32 = 0
    var firstSeen: UInt32 = 0
    /// Approximate: if nothing else changes, it is stored again only after a day.
    var lastSeen: UInt32 = 0
    /// The minute in which the current hour of `versionsThisHour` began.
    var hourBegan: UInt32 = 0
    var versionsThisHour: UInt8 = 0
    /// The amount by which `version` exceeds the publisher's own number: events were written of changes, such as of the status,
    /// for which the publisher made no new version.
    var versionsAhead: UInt8 = 0
    /// See `Prints`. Records of former versions do not have it.
    var embargoSecond: UInt8 = 0
    /// The place in `EntryLog.lanes`, from 1, of the lane to which the last alert went; 0 if it is not known. Set by `EntryLog`.
    var lanePlace: UInt8 = 0
    /// The significant print that readers have; 0 if unknown.
    var sentPrint: UInt32 = 0
    /// The publisher's latest date of a change, in seconds since 1970; 0 if it gives none.
    var updatedAt: UInt32 = 0
    /// The minute in which the text first returned to one that it had left less than a day earlier; 0 if it never did.
    var returnedAt: UInt32 = 0
    /// Number of such returns within the day after `returnedAt`.
    var returns: UInt8 = 0
    /// True if the last alert went to the backfill lane, or if the first one is to go there.
    var isLate = false
    public var standing = Standing.known

    /// The publisher's own version last seen; a placeholder, such as 0, before the first one.
    var publishersVersion: NewsEvent.Version {
        guard let number = Int64(version) else { return NewsEvent.Version(EntryVersion.publishers(in: version)) }
        return NewsEvent.Version(String(number.subtractingReportingOverflow(Int64(versionsAhead)).partialValue))
    }

    /// The version of the entry's next event: the publisher's own if that is newer than all events of the entry.
    func nextVersion(_ own: NewsEvent.Version?) -> NewsEvent.Version {
        if let own, version.isEmpty || NewsEvent.Version(version) < own { return own }
        return NewsEvent.Version(EntryVersion.next(after: version, publishers: (own ?? publishersVersion).text))
    }

    /// Stores the version of an event. A version never decreases.
    /// - Parameter own: the publisher's own; `nil` if it gives none, so that the one last seen remains.
    mutating func setVersion(_ new: NewsEvent.Version, publishers own: NewsEvent.Version?) {
        let own = own ?? publishersVersion
        if version.isEmpty || !(new < NewsEvent.Version(version)) { version = new.text }
        guard let own = Int64(own.text), let ours = Int64(version) else {
            versionsAhead = 0
            return
        }
        versionsAhead = UInt8(clamping: ours.subtractingReportingOverflow(own).partialValue)
    }

    /// Stores the publisher's own version without an event.
    mutating func learnVersion(_ own: NewsEvent.Version) {
        let isNumber = Int64(own.text) != nil && Int64(version) != nil
        setVersion(isNumber ? own : nextVersion(own), publishers: own)
    }

    /// Makes the next event's version later than those of a state that the topic may have lost, and the publisher's own version
    /// stay known. Such a state has counted events for which the publisher had made no version of its own.
    mutating func skipLostVersions(_ own: NewsEvent.Version?) {
        let number = own.map { Int64($0.text) } ?? 0
        if let number, number < .max - Int64(Self.lostVersionsMax) {
            version = String(number + Int64(Self.lostVersionsMax))
            versionsAhead = Self.lostVersionsMax
        } else {
            version = EntryVersion.counted(Int(Self.lostVersionsMax), publishers: own?.text ?? "")
        }
    }

    private static let lostVersionsMax: UInt8 = 100

    /// Records that another entry continues this one, or has replaced it.
    mutating func leave(at minute: UInt32) {
        standing = .moved
        lastSeen = minute
        versionsThisHour = 0
    }

    /// `nil` unless the entry has both.
    var linkAndTitle: LinkAndTitle? {
        link == 0 || title == 0 ? nil : LinkAndTitle(link: link, title: title)
    }

    /// The three previous significant prints, newest first, each with the minute in which the text changed.
    struct Past: Sendable, Hashable {
        var first = Left()
        var second = Left()
        var third = Left()

        struct Left: Sendable, Hashable {
            /// 0 if the place is empty.
            var print: UInt32 = 0
            var minute: UInt32 = 0
        }

        var all: [Left] { [first, second, third] }

        mutating func leave(_ print: UInt32, at minute: UInt32) {
            (first, second, third) = (Left(print: print, minute: minute), first, second)
        }
    }

    /// The raw value is stored in the state record.
    public enum Standing: String, Sendable, Hashable, CaseIterable {
        /// Nothing was written: the entry was there at first sight, was stale or beyond the limit.
        case known
        /// Nothing was written, because another feed of the group had brought the story.
        case duplicate
        /// Nothing was written, because the entry could not become an event. It is news once it can.
        case unreadable
        /// An alert of the entry is held back by `maxPerHour`.
        case waiting
        /// Another entry has the story, because the publisher changed its id.
        case moved
        /// An event of the entry was written.
        case sent
        /// Withheld before an event was written.
        case held
        /// Withheld after an event was written. `sentPrint` is 0 if that event has certainly not left.
        case heldAfterSent = "held-after-sent"
        /// Recalled by the publisher.
        case canceled

        /// True if the entry is known and nothing was written of it.
        var isUnwritten: Bool { self == .known || self == .duplicate || self == .unreadable }
        /// True if nothing was written of the entry, and nothing waits to be written.
        var isSilent: Bool { isUnwritten || self == .held }
        var wasSent: Bool { self == .sent || self == .heldAfterSent || self == .canceled }
        /// True if later events must keep the name of its events.
        var isNamed: Bool { wasSent || self == .waiting || self == .moved }
        var isHeld: Bool { self == .held || self == .heldAfterSent }
    }
}

/// Link and headline, which together identify a story under any id.
struct LinkAndTitle: Hashable {
    var link: UInt64
    var title: UInt64
}

/// Dates of changes in the state, in seconds since 1970, because an error is often corrected within a minute.
enum Second {
    static func of(_ instant: Instant?) -> UInt32 { UInt32(clamping: (instant?.nanoseconds ?? 0) / 1_000_000_000) }
}

/// Times in the state, in minutes since 1970: exact enough for days and hours, and half the size.
enum Minute {
    static let never = UInt32.max

    static func of(_ instant: Instant) -> UInt32 {
        UInt32(clamping: instant.nanoseconds / 60_000_000_000)
    }

    /// Rounds up, so that an embargo never ends early.
    static func after(_ instant: Instant) -> UInt32 {
        let (quotient, remainder) = instant.nanoseconds.quotientAndRemainder(dividingBy: 60_000_000_000)
        return UInt32(clamping: remainder > 0 ? quotient + 1 : quotient)
    }

    /// Years after the last time that an `Instant` can tell become that time.
    static func instant(_ minute: UInt32) -> Instant { Instant(milliseconds: Int64(minute) * 60_000) }

    /// An hour later, at most `never`.
    static func hourAfter(_ minute: UInt32) -> UInt32 { minute < never - 60 ? minute + 60 : never }

    /// Minutes from `earlier` to `later`, at least 0.
    static func between(_ earlier: UInt32, _ later: UInt32) -> UInt32 { later > earlier ? later - earlier : 0 }
}
