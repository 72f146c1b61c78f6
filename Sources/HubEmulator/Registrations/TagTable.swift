import NotificationHub

/// The tags that registrations hold, each text stored once, and for each tag the registrations that hold it.
///
/// Tags match without regard to letter case but come back as they were written, so a text (`Spelling`) and what it
/// matches (`Group`) are numbered apart.
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

    /// Slots of the registrations that hold the tag, ascending.
    func slots(group: Int) -> [UInt32] { groups[group].slots.all }

    func count(group: Int) -> Int { groups[group].slots.count }

    /// Notes that the registration in `slot` holds the tags.
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
