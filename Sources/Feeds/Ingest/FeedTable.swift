/// The feeds of a process, by name. One feed at a time may be lent, so that it changes in place together with the process.
struct FeedTable: Sendable {
    private var places: [String: Int] = [:]
    /// `nil` where a feed is lent, or was removed.
    private var slots: [FollowedFeed?] = []
    private var freePlaces: [Int] = []

    var count: Int { places.count }
    var names: [String] { places.keys.sorted() }

    func contains(_ name: String) -> Bool { places[name] != nil }

    subscript(name: String) -> FollowedFeed? {
        _read {
            if let place = places[name] { yield slots[place] } else { yield nil }
        }
    }

    /// Adds a feed whose name is not in the table.
    mutating func add(_ feed: FollowedFeed) {
        let place = freePlaces.popLast() ?? slots.count
        places[feed.name] = place
        if place == slots.count { slots.append(feed) } else { slots[place] = feed }
    }

    mutating func remove(_ name: String) -> FollowedFeed? {
        guard let place = places.removeValue(forKey: name) else { return nil }
        freePlaces.append(place)
        return slots[place].take()
    }

    /// Moves a feed out of the table until `giveBack`.
    mutating func lend(_ name: String) -> FollowedFeed? {
        places[name].flatMap { slots[$0].take() }
    }

    mutating func giveBack(_ feed: consuming FollowedFeed) {
        if let place = places[feed.name] { slots[place] = feed }
    }

    /// Sums a number over all feeds.
    func sum(_ number: (FollowedFeed?) -> Int?) -> Int {
        slots.indices.reduce(0) { $0 + (number(slots[$1]) ?? 0) }
    }
}
