import NotificationHub

/// The tags that registrations hold. Each text is stored once, with the registrations that hold it.
///
/// Tags match without regard to letter case but are returned as written. Texts (`Spelling`) and the sets of equal tags
/// (`Group`) therefore have separate numbers.
struct TagTable: Sendable {
    typealias Spelling = UInt32

    private struct Entry: Sendable {
        var text: String
        var group: Int
        var uses: Int
    }

    private struct Group: Sendable {
        /// Slots of registrations, ascending.
        var slots = SlotList()
        var spellings = 0
    }

    private var entries: [Entry?] = []
    private var freeEntries: [Spelling] = []
    private var spellings: [String: Spelling] = [:]
    private var groups: [Group] = []
    private var freeGroups: [Int] = []
    private var groupOf: [String: Int] = [:]

    func text(_ spelling: Spelling) -> String { entries[Int(spelling)]?.text ?? "" }

    func group(_ spelling: Spelling) -> Int { entries[Int(spelling)]?.group ?? -1 }

    /// The group of a tag in a query; `nil` when no registration holds it.
    func group(of text: String) -> Int? { groupOf[text.lowercased()] }

    /// Slots of the group's registrations, ascending.
    func slots(group: Int) -> [UInt32] { groups[group].slots.all }

    func count(group: Int) -> Int { groups[group].slots.count }

    /// Adds the tags of the registration in `slot`.
    mutating func add(_ tags: [String], slot: UInt32) -> [Spelling] {
        tags.map { tag in
            let spelling = intern(tag)
            let group = self.group(spelling)
            groups[group].slots.insert(slot)
            return spelling
        }
    }

    mutating func remove(_ tags: [Spelling], slot: UInt32) {
        for spelling in tags {
            guard var entry = entries[Int(spelling)] else { continue }
            groups[entry.group].slots.remove(slot)
            entry.uses -= 1
            entries[Int(spelling)] = entry
            if entry.uses == 0 { forget(spelling, entry) }
        }
    }

    private mutating func intern(_ text: String) -> Spelling {
        if let known = spellings[text] {
            entries[Int(known)]?.uses += 1
            return known
        }
        let folded = text.lowercased()
        let group = groupOf[folded] ?? newGroup()
        groupOf[folded] = group
        groups[group].spellings += 1
        let entry = Entry(text: text, group: group, uses: 1)
        let spelling: Spelling
        if let free = freeEntries.popLast() {
            spelling = free
            entries[Int(free)] = entry
        } else {
            spelling = Spelling(truncatingIfNeeded: entries.count)
            entries.append(entry)
        }
        spellings[text] = spelling
        return spelling
    }

    private mutating func newGroup() -> Int {
        if let free = freeGroups.popLast() { return free }
        groups.append(Group())
        return groups.count - 1
    }

    private mutating func forget(_ spelling: Spelling, _ entry: Entry) {
        entries[Int(spelling)] = nil
        freeEntries.append(spelling)
        spellings[entry.text] = nil
        groups[entry.group].spellings -= 1
        if groups[entry.group].spellings == 0 {
            groups[entry.group] = Group()
            freeGroups.append(entry.group)
            groupOf[entry.text.lowercased()] = nil
        }
    }
}

/// A tag expression, prepared for lookup in the index.
///
/// An expression with operators other than `||` has at most six tags. A table of 64 bits describes it completely, with
/// one bit for each combination of tags that a registration may hold. The table also determines the tags whose
/// registrations must be examined.
struct TagQuery: Sendable {
    /// The distinct tags, in the order they are written.
    let tags: [Tag]
    /// Bit `m` is set if a registration with exactly the tags of mask `m` matches; `nil` if any single tag suffices.
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

    /// True when a registration with the tags of this mask matches.
    func matches(_ mask: UInt32) -> Bool {
        guard let table else { return mask != 0 }
        return table >> UInt64(mask & 63) & 1 == 1
    }

    /// The cheapest set of tags, as a mask, of which every matching registration holds at least one.
    /// - Parameter counts: the number of registrations for each tag.
    /// - Returns: `nil` when registrations without any of the tags match too, so that all must be examined.
    func cover(counts: [Int]) -> UInt32? {
        let everyTag = UInt32(truncatingIfNeeded: (1 << tags.count) - 1)
        guard let table else { return everyTag }
        guard table & 1 == 0 else { return nil }
        // Each tag suffices, as with `||` alone, so all tags are needed.
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
