import NewsModel

/// What is kept of one entry between polls. About 110 bytes: a process may keep a million of them.
public struct EntryState: Sendable, Hashable {
    /// The version last written, or the format's own version last seen. Empty until there is one.
    public var version = ""
    /// Headline, categories and subjects.
    var headlinePrint: UInt64 = 0
    /// Summary, link and image.
    var bodyPrint: UInt64 = 0
    var past = Past()
    /// Of the identity link; 0 without one.
    var link: UInt64 = 0
    /// Of the folded headline; 0 without one.
    var title: UInt64 = 0
    /// Minutes since 1970; 0 is none, `Minute.never` is without an end.
    var expiry: UInt32 = 0
    var embargo: UInt32 = 0
    var firstSeen: UInt32 = 0
    /// Coarse: written again only after some hours.
    var lastSeen: UInt32 = 0
    /// The minute in which the present hour of `versionsThisHour` began.
    var hourBegan: UInt32 = 0
    var versionsThisHour: UInt8 = 0
    /// The significant print that readers have; 0 if it is not known.
    var sentPrint: UInt32 = 0
    /// The minute in which the text last returned to one that it had left within a day before; 0 if it never did.
    var returnedAt: UInt32 = 0
    public var standing = Standing.known

    /// `nil` unless it has both.
    var linkAndTitle: LinkAndTitle? {
        link == 0 || title == 0 ? nil : LinkAndTitle(link: link, title: title)
    }

    /// The three significant prints before the present one, newest first, each with the minute in which it was left.
    struct Past: Sendable, Hashable {
        var first = Left()
        var second = Left()
        var third = Left()

        struct Left: Sendable, Hashable {
            /// 0 is none.
            var print: UInt32 = 0
            var minute: UInt32 = 0
        }

        var all: [Left] { [first, second, third] }

        mutating func leave(_ print: UInt32, at minute: UInt32) {
            (first, second, third) = (Left(print: print, minute: minute), first, second)
        }
    }

    /// The raw value stands in the state record.
    public enum Standing: String, Sendable, Hashable, CaseIterable {
        /// Stood there at first sight, was stale, a duplicate or beyond the limit: nothing was written.
        case known
        /// An alert of it is held back by `maxPerHour`.
        case waiting
        /// It came back under another id: another entry continues it.
        case moved
        /// Has been written as an event.
        case sent
        /// Withheld before anything was written.
        case held
        /// Withheld after it had been written.
        case heldAfterSent = "held-after-sent"
        /// Recalled.
        case canceled

        var wasSent: Bool { self == .sent || self == .heldAfterSent || self == .canceled }
        /// Its events have a name that later ones must keep.
        var isNamed: Bool { wasSent || self == .waiting || self == .moved }
        var isHeld: Bool { self == .held || self == .heldAfterSent }
    }
}

/// Together they tell a story whatever its id.
struct LinkAndTitle: Hashable {
    var link: UInt64
    var title: UInt64
}

/// Times in the state, in minutes since 1970: exact enough for days and hours, and half the size.
enum Minute {
    static let never = UInt32.max

    static func of(_ instant: Instant) -> UInt32 {
        UInt32(clamping: instant.nanoseconds / 60_000_000_000)
    }

    /// Rounded up, so that an embargo never ends early.
    static func after(_ instant: Instant) -> UInt32 {
        let (quotient, remainder) = instant.nanoseconds.quotientAndRemainder(dividingBy: 60_000_000_000)
        return UInt32(clamping: remainder > 0 ? quotient + 1 : quotient)
    }

    static func instant(_ minute: UInt32) -> Instant { Instant(nanoseconds: Int64(minute) * 60_000_000_000) }

    /// From `earlier` to `later`, at least 0.
    static func between(_ earlier: UInt32, _ later: UInt32) -> UInt32 { later > earlier ? later - earlier : 0 }
}
