import NotificationHub

/// A tag expression made ready for an index.
///
/// An expression with anything but `||` has at most six tags, so all it can say fits a table of 64 bits: one for each
/// combination of tags that a registration may hold. From the table follows which tags' registrations need looking at.
struct TagQuery: Sendable {
    /// The different tags, in the order they are written.
    let tags: [Tag]
    /// Bit `m` is set when a registration that holds exactly the tags of mask `m` is meant; `nil` when any tag will do.
    private let table: UInt64?

    init(_ expression: TagExpression) {
        var seen: Set<Tag> = []
        tags = expression.tags.filter { seen.insert($0).inserted }
        guard tags.count <= TagExpression.tagsMax else {
            table = nil
            return
        }
        var table: UInt64 = 0
        for mask in 0..<(1 << tags.count) {
            let held = Set(tags.indices.lazy.filter { mask >> $0 & 1 == 1 }.map { [tags] in tags[$0] })
            if expression.matches(held) { table |= 1 << UInt64(mask) }
        }
        self.table = table
    }

    /// Whether a registration that holds the tags of this mask is meant.
    func matches(_ mask: UInt32) -> Bool {
        guard let table else { return mask != 0 }
        return table >> UInt64(mask & 63) & 1 == 1
    }

    /// The cheapest set of tags such that every registration meant holds one of them, as a mask.
    /// - Parameter counts: how many registrations hold each tag.
    /// - Returns: `nil` when a registration without any of the tags is meant, so that all must be looked at.
    func cover(counts: [Int]) -> UInt32? {
        let everyTag = UInt32(truncatingIfNeeded: (1 << tags.count) - 1)
        guard let table else { return everyTag }
        guard table & 1 == 0 else { return nil }
        // Where each tag is enough by itself, as it is with `||` alone, none can be left out.
        if tags.indices.allSatisfy({ matches(1 << UInt32($0)) }) { return everyTag }
        let cost = { (mask: UInt32) in
            counts.indices.reduce(0) { mask >> UInt32($1) & 1 == 1 ? $0 + counts[$1] : $0 }
        }
        var best = everyTag
        for candidate in 0..<everyTag {
            let covers = (0...everyTag).allSatisfy { !matches($0) || $0 & candidate != 0 }
            if covers, cost(candidate) < cost(best) { best = candidate }
        }
        return best
    }
}
