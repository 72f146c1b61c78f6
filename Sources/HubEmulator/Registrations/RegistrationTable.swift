import NotificationHub

/// All registrations of a hub, indexed by id, handle, installation and tag.
///
/// The cost of a send to a tag depends only on that tag's registrations.
struct RegistrationTable: Sendable {
    /// A registration whose tags are kept in the tag table.
    private struct Stored: Sendable {
        var registration: Registration
        var tags: [TagTable.Spelling]
    }

    private var slots: [Stored?] = []
    private var free: [UInt32] = []
    private var byID: [RegistrationID: UInt32] = [:]
    private var byHandle: [String: SlotList] = [:]
    /// The registrations that would show the same notification, of handles that have several registrations. Most
    /// handles have one, which is not listed to save memory.
    private var byRival: [Rival: SlotList] = [:]
    private var byInstallation: [String: SlotList] = [:]
    private var byKind: [Kind: SlotList] = [:]
    private var tagTable = TagTable()

    /// Registrations of one device that are equal in this would show the same notification.
    private struct Rival: Hashable {
        let handle: String
        let platform: Platform
        let templateName: String?

        init(_ registration: Registration) {
            (handle, platform, templateName) = (registration.handle, registration.platform, registration.templateName)
        }
    }

    /// The registrations that a send addresses: a platform's native ones, or all that have a template.
    enum Kind: Hashable, Sendable {
        case native(Platform)
        case template

        init(_ format: Platform) { self = format == .template ? .template : .native(format) }

        fileprivate init(_ registration: Registration) {
            self = registration.template == nil ? .native(registration.platform) : .template
        }
    }

    var count: Int { slots.count - free.count }

    /// The number of devices. Registrations of one handle belong to one device.
    var deviceCount: Int { byHandle.count }

    // MARK: Reading

    subscript(slot: UInt32) -> Registration? {
        guard Int(slot) < slots.count, let stored = slots[Int(slot)] else { return nil }
        var registration = stored.registration
        registration.tags = stored.tags.map(tagTable.text)
        return registration
    }

    /// The registration without its tags, which take time to collect.
    func withoutTags(_ slot: UInt32) -> Registration? {
        Int(slot) < slots.count ? slots[Int(slot)]?.registration : nil
    }

    func slot(_ id: RegistrationID) -> UInt32? { byID[id] }

    /// The registrations of a device whose platform is not named, ascending.
    func slots(handle: String) -> [UInt32] {
        let exact = byHandle[handle]?.all ?? []
        guard let upper = DeviceHandle.spellings(of: handle).dropFirst().first, let folded = byHandle[upper]?.all else {
            return exact
        }
        return (exact + folded.filter { withoutTags($0)?.platform == .apple }).sorted()
    }

    func slots(installation: String) -> [UInt32] { byInstallation[installation]?.all ?? [] }

    func slots(tag: String) -> [UInt32] { tagTable.group(of: tag).map { tagTable.slots(group: $0) } ?? [] }

    /// The occupied slots from `start` on, at most `limit`.
    func slots(from start: UInt32, limit: Int) -> [UInt32] {
        var found: [UInt32] = []
        var slot = Int(start)
        while slot < slots.count, found.count < limit {
            if slots[slot] != nil { found.append(UInt32(truncatingIfNeeded: slot)) }
            slot += 1
        }
        return found
    }

    // MARK: Routing

    /// A query with resolved tags. It becomes invalid when a registration changes.
    struct Plan: Sendable {
        fileprivate let query: TagQuery?
        fileprivate let groups: [Int?]
        fileprivate let kind: Kind
    }

    func plan(_ query: TagQuery?, _ kind: Kind) -> Plan {
        Plan(query: query, groups: query?.tags.map { tagTable.group(of: $0.text) } ?? [], kind: kind)
    }

    /// The slots that a send may address, ascending. The caller must check each with `matches`.
    func candidates(_ plan: Plan) -> [UInt32] {
        guard let query = plan.query else { return byKind[plan.kind]?.all ?? [] }
        let counts = plan.groups.map { $0.map { tagTable.count(group: $0) } ?? 0 }
        guard let cover = query.cover(counts: counts) else { return byKind[plan.kind]?.all ?? [] }
        let covering = plan.groups.indices.filter { cover >> UInt32($0) & 1 == 1 }.compactMap { plan.groups[$0] }
        guard covering.count > 1 else { return covering.first.map { tagTable.slots(group: $0) } ?? [] }
        var merged = covering.flatMap { tagTable.slots(group: $0) }
        merged.sort()
        var unique: [UInt32] = []
        unique.reserveCapacity(merged.count)
        for slot in merged where unique.last != slot { unique.append(slot) }
        return unique
    }

    /// True when the registration in `slot` is of the right kind and its tags match.
    func matches(_ slot: UInt32, _ plan: Plan) -> Bool {
        guard Int(slot) < slots.count, let stored = slots[Int(slot)], Kind(stored.registration) == plan.kind else {
            return false
        }
        guard let query = plan.query else { return true }
        var mask: UInt32 = 0
        for (index, group) in plan.groups.enumerated() {
            guard let group else { continue }
            if stored.tags.contains(where: { tagTable.group($0) == group }) { mask |= 1 << UInt32(index) }
        }
        return query.matches(mask)
    }

    /// True if an earlier registration of the same handle receives the same notification from this send. This one is
    /// then skipped.
    func isRepeat(_ slot: UInt32, _ plan: Plan) -> Bool {
        guard let registration = withoutTags(slot), let rivals = byRival[Rival(registration)], rivals.count > 1 else {
            return false
        }
        return rivals.all.lazy.prefix { $0 < slot }.contains { matches($0, plan) }
    }

    // MARK: Writing

    /// Adds a registration, or replaces the one with its id.
    mutating func put(_ registration: Registration) {
        let slot: UInt32
        if let known = byID[registration.id] {
            unlink(known)
            slot = known
        } else if let reused = free.popLast() {
            slot = reused
        } else {
            slot = UInt32(truncatingIfNeeded: slots.count)
            slots.append(nil)
        }
        var registration = registration
        let tags = tagTable.add(registration.tags, slot: slot)
        registration.tags = []
        byID[registration.id] = slot
        byHandle[registration.handle, default: SlotList()].insert(slot)
        if let installation = registration.installation {
            byInstallation[installation, default: SlotList()].insert(slot)
        }
        byKind[Kind(registration), default: SlotList()].insert(slot)
        slots[Int(slot)] = Stored(registration: registration, tags: tags)
        guard let sharing = byHandle[registration.handle], sharing.count > 1 else { return }
        // The second registration of a handle makes the first one a rival too.
        for slot in sharing.count == 2 ? sharing.all : [slot] {
            guard let registration = withoutTags(slot) else { continue }
            byRival[Rival(registration), default: SlotList()].insert(slot)
        }
    }

    mutating func remove(_ slot: UInt32) {
        guard let stored = unlink(slot) else { return }
        byID[stored.id] = nil
        free.append(slot)
    }

    /// Removes the registration from all lists except `byID`.
    @discardableResult
    private mutating func unlink(_ slot: UInt32) -> Registration? {
        guard Int(slot) < slots.count, let stored = slots[Int(slot)] else { return nil }
        let registration = stored.registration
        tagTable.remove(stored.tags, slot: slot)
        Self.drop(slot, registration.handle, from: &byHandle)
        Self.drop(slot, Rival(registration), from: &byRival)
        if let installation = registration.installation { Self.drop(slot, installation, from: &byInstallation) }
        Self.drop(slot, Kind(registration), from: &byKind)
        slots[Int(slot)] = nil
        return registration
    }

    private static func drop<Key: Hashable>(_ slot: UInt32, _ key: Key, from lists: inout [Key: SlotList]) {
        guard let index = lists.index(forKey: key) else { return }
        lists.values[index].remove(slot)
        if lists.values[index].isEmpty { lists.remove(at: index) }
    }
}
