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
