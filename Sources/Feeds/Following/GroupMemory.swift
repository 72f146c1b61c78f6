import NewsModel

/// Stories that the feeds of one group brought in the last hours, so that the same story in two feeds is one event.
struct GroupMemory: Sendable, Hashable {
    private var links: [UInt64: Brought] = [:]
    private var titles: [UInt64: Brought] = [:]
    /// Rows in order of arrival, so that the oldest are forgotten first.
    private var order: [Row] = []

    struct Brought: Sendable, Hashable {
        var feed: String
        /// The minute in which the feed's event is due.
        var minute: UInt32
        /// True if the event went to the backfill lane, which may be busy for days: a live copy does not wait for it.
        var isLate: Bool
    }

    private struct Row: Sendable, Hashable {
        var link: UInt64
        var title: UInt64
        var minute: UInt32
    }

    static let minutes: UInt32 = 6 * 60
    static let rowsMax = 20_000

    /// Returns the other feed that brought the same link or headline.
    /// - Parameters:
    ///   - due: the minute by which that feed must have published the story.
    ///   - isLate: false for an event on a live lane, for which only those on a live lane count.
    func feed(
        thatBrought link: UInt64, title: UInt64, besides name: String, by due: UInt32, isLate: Bool = false,
        at now: UInt32
    ) -> String? {
        [link == 0 ? nil : links[link], title == 0 ? nil : titles[title]].lazy.compactMap(\.self).first {
            $0.feed != name && $0.minute <= due && (isLate || !$0.isLate)
                && Minute.between($0.minute, now) <= Self.minutes
        }?.feed
    }

    /// Returns the other feed that brought the link or the headline of an entry no later than the entry may be published.
    func feed(thatBrought entry: EntryState, besides name: String, at now: UInt32) -> String? {
        feed(
            thatBrought: entry.link, title: entry.title, besides: name, by: max(now, entry.embargo),
            isLate: entry.isLate, at: now)
    }

    /// Records a story as due at the end of its embargo, because another feed may publish it earlier.
    mutating func note(_ entry: EntryState, feed: String, at minute: UInt32) {
        note(
            link: entry.link, title: entry.title, feed: feed, due: max(minute, entry.embargo), isLate: entry.isLate,
            at: minute)
    }

    /// Records a story. The first feed that publishes it keeps it for some hours.
    /// - Parameter due: the minute in which the feed publishes it; by default `minute`.
    mutating func note(
        link: UInt64, title: UInt64, feed: String, due: UInt32? = nil, isLate: Bool = false, at minute: UInt32
    ) {
        forget(at: minute)
        let minute = due ?? minute
        let brought = Brought(feed: feed, minute: minute, isLate: isLate)
        func precedes(_ other: Brought?) -> Bool {
            guard let other, Minute.between(other.minute, minute) <= Self.minutes else { return true }
            return isLate == other.isLate ? minute < other.minute : other.isLate
        }
        if link != 0, precedes(links[link]) { links[link] = brought }
        if title != 0, precedes(titles[title]) { titles[title] = brought }
        order.append(Row(link: link, title: title, minute: minute))
    }

    /// Forgets a link that several entries of the feed share by now.
    mutating func forget(link: UInt64, of feed: String) {
        if links[link]?.feed == feed { links[link] = nil }
    }

    private mutating func forget(at now: UInt32) {
        let excess = max(order.count - Self.rowsMax + 1, 0)
        guard excess > 0 || (order.first.map { Minute.between($0.minute, now) > Self.minutes * 2 } ?? false) else {
            return
        }
        let old = order.prefix { Minute.between($0.minute, now) > Self.minutes }.count
        for row in order.prefix(max(old, excess)) {
            if links[row.link]?.minute == row.minute { links[row.link] = nil }
            if titles[row.title]?.minute == row.minute { titles[row.title] = nil }
        }
        order.removeFirst(max(old, excess))
    }
}
