import NewsModel

/// Stories that the feeds of one group brought in the last hours, so that the same story in two feeds is one event.
struct GroupMemory: Sendable, Hashable {
    private var links: [UInt64: Brought] = [:]
    private var titles: [UInt64: Brought] = [:]
    /// Rows in order of arrival, so that the oldest are forgotten first.
    private var order: [Row] = []

    struct Brought: Sendable, Hashable {
        var feed: String
        var minute: UInt32
    }

    private struct Row: Sendable, Hashable {
        var link: UInt64
        var title: UInt64
        var minute: UInt32
    }

    static let minutes: UInt32 = 6 * 60
    static let rowsMax = 20_000

    /// Returns the other feed that brought the same link or headline.
    func feed(thatBrought link: UInt64, title: UInt64, besides name: String, at now: UInt32) -> String? {
        for brought in [link == 0 ? nil : links[link], title == 0 ? nil : titles[title]] {
            guard let brought, brought.feed != name, Minute.between(brought.minute, now) <= Self.minutes else {
                continue
            }
            return brought.feed
        }
        return nil
    }

    /// Notes a story. The first feed that brings it keeps it.
    mutating func note(link: UInt64, title: UInt64, feed: String, at minute: UInt32) {
        forget(at: minute)
        let brought = Brought(feed: feed, minute: minute)
        if link != 0, links[link] == nil { links[link] = brought }
        if title != 0, titles[title] == nil { titles[title] = brought }
        order.append(Row(link: link, title: title, minute: minute))
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
