import NewsModel

/// Fingerprints of an entry's content. Publication dates are left out, because they move without a cause.
struct Prints {
    /// Headline, categories and subjects, which readers are alerted of.
    var headline: UInt64
    /// Summary, link and image.
    var body: UInt64
    /// Minutes since 1970, as in `embargo`; 0 if absent.
    var expiry: UInt32
    var embargo: UInt32
    /// The second, from 1 to 60, of the minute that ends at `embargo`. 0 if the embargo has no end, or if it is not known.
    var embargoSecond: UInt8 = 0

    init(_ keyed: EntryIdentity.Keyed) {
        let entry = keyed.entry
        // Sorted, because another order of the same categories is not a change.
        let categories = Set(entry.categories.map { "c" + FoldedText.whitespace($0.name) }).sorted()
        let subjects = Set(entry.subjects.map { "s" + $0 }).sorted()
        headline = StableHash.of([FoldedText.whitespace(entry.headline ?? "")] + categories + subjects)
        body = StableHash.of([
            FoldedText.whitespace(entry.summary ?? ""), entry.link.map(LinkKey.of) ?? "", entry.image ?? "",
        ])
        expiry = entry.expiresAt.map(Minute.of) ?? 0
        switch entry.embargo {
        case .none: embargo = 0
        case .until(let end):
            embargo = Minute.after(end)
            let part = end.nanoseconds % 60_000_000_000
            embargoSecond = part == 0 ? 60 : UInt8(clamping: (part + 999_999_999) / 1_000_000_000)
        case .untilFurtherNotice: embargo = Minute.never
        }
    }

    /// The part of the prints that makes a new version under `policy`. It is small, because several of them are kept.
    func significant(for policy: FeedRules.UpdatePolicy) -> UInt32 {
        Self.significant(headline: headline, body: body, expiry: expiry, for: policy)
    }

    static func significant(
        headline: UInt64, body: UInt64, expiry: UInt32, for policy: FeedRules.UpdatePolicy
    ) -> UInt32 {
        let mixed: UInt64 =
            switch policy {
            case .headline: headline ^ UInt64(expiry) &* 0x9E37_79B9_7F4A_7C15
            case .any: headline ^ (body &* 0xBF58_476D_1CE4_E5B9) ^ UInt64(expiry) &* 0x9E37_79B9_7F4A_7C15
            case .never: UInt64(expiry) &* 0x9E37_79B9_7F4A_7C15
            }
        return max(UInt32(truncatingIfNeeded: mixed ^ mixed >> 32), 1)
    }
}

extension EntryState {
    /// Stores the prints, link and headline that the entry has now.
    mutating func learn(_ prints: Prints, of keyed: EntryIdentity.Keyed) {
        headlinePrint = prints.headline
        bodyPrint = prints.body
        expiry = prints.expiry
        embargo = prints.embargo
        embargoSecond = prints.embargoSecond
        link = keyed.link
        title = keyed.title
        see(keyed.entry, at: lastSeen)
    }

    /// Records that the entry was in the feed.
    mutating func see(_ entry: FeedEntry, at minute: UInt32) {
        lastSeen = minute
        updatedAt = max(updatedAt, Second.of(entry.updatedAt))
    }

    /// True if the publisher has dated a change of the entry later than this copy of it.
    func isNewer(than entry: FeedEntry) -> Bool { entry.updatedAt.map { Second.of($0) < updatedAt } ?? false }

    func significant(for policy: FeedRules.UpdatePolicy) -> UInt32 {
        Prints.significant(headline: headlinePrint, body: bodyPrint, expiry: expiry, for: policy)
    }

    /// Returns true if the entry had `print` before and changed it less than 24 hours ago.
    func hasLeft(_ print: UInt32, at now: UInt32) -> Bool {
        past.all.contains { $0.print == print && Minute.between($0.minute, now) < 24 * 60 }
    }

    /// Records that the current text has become an event.
    mutating func wasWritten(
        _ version: NewsEvent.Version, publishers own: NewsEvent.Version?, at now: UInt32,
        for policy: FeedRules.UpdatePolicy
    ) {
        setVersion(version, publishers: own)
        standing = .sent
        sentPrint = significant(for: policy)
        countVersion(at: now)
    }

    /// Counts a version in the current hour.
    mutating func countVersion(at now: UInt32) {
        if Minute.between(hourBegan, now) >= 60 {
            hourBegan = now
            versionsThisHour = 0
        }
        versionsThisHour = versionsThisHour == .max ? .max : versionsThisHour + 1
    }

    func versions(inHourOf now: UInt32) -> Int {
        Minute.between(hourBegan, now) >= 60 ? 0 : Int(versionsThisHour)
    }
}
