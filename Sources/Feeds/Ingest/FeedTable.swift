/// The feeds of a process, by name. One feed at a time may be lent, so that it changes in place together with the process.
struct FeedTable: Sendable {
    private var places: [String: Int] = [:]
    /// One feed each, or none where it is lent or was removed. A feed has thousands of bytes, which an array moves as one pointer.
    private var slots: [[FollowedFeed]] = []
    private var freePlaces: [Int] = []

    var count: Int { places.count }
    var names: [String] { places.keys.sorted() }

    func contains(_ name: String) -> Bool { places[name] != nil }

    subscript(name: String) -> FollowedFeed? {
        _read {
            if let place = places[name] { yield slots[place].first } else { yield nil }
        }
    }

    /// Adds a feed whose name is not in the table.
    mutating func add(_ feed: FollowedFeed) {
        let place = freePlaces.popLast() ?? slots.count
        places[feed.name] = place
        if place == slots.count { slots.append([feed]) } else { slots[place] = [feed] }
    }

    mutating func remove(_ name: String) -> FollowedFeed? {
        guard let place = places.removeValue(forKey: name) else { return nil }
        freePlaces.append(place)
        return slots[place].popLast()
    }

    /// Moves a feed out of the table until `giveBack`.
    /// - Returns: the feed alone; nothing if it is not in the table, or lent.
    mutating func lend(_ name: String) -> [FollowedFeed] {
        guard let place = places[name] else { return [] }
        return exchange(&slots[place], with: [])
    }

    mutating func giveBack(_ lent: consuming [FollowedFeed]) {
        if let name = lent.first?.name, let place = places[name] { slots[place] = lent }
    }

    /// Sums a number over all feeds that are not lent.
    func sum(_ number: (FollowedFeed) -> Int) -> Int {
        slots.reduce(0) { $1.isEmpty ? $0 : $0 + number($1[0]) }
    }
}
