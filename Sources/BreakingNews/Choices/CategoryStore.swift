public import NotificationHub

/// What a reader can subscribe to.
public struct NewsCategory: Sendable, Hashable, Identifiable {
    /// As it is shown.
    public var name: String
    /// What the newsroom sends to.
    public var tag: Tag

    public var id: Tag { tag }

    public init(name: String, tag: Tag) {
        self.name = name
        self.tag = tag
    }

    /// A category whose name is its tag.
    public init(_ name: String) throws(TagProblem) {
        self.init(name: name, tag: try Tag(name))
    }

    /// World, Politics, Business, Technology, Science and Sports.
    public static let standard: [NewsCategory] = [
        "World", "Politics", "Business", "Technology", "Science", "Sports",
    ].compactMap { try? NewsCategory($0) }
}

/// What the reader chose, kept on the device: shown at once at the next start, whatever the network does.
public struct CategoryStore: Sendable {
    /// What there is to choose from, in the order to show it.
    public let offer: [NewsCategory]
    private let store: any LocalStore

    private static let name = "categories"

    public init(_ store: any LocalStore, offer: [NewsCategory] = NewsCategory.standard) {
        self.store = store
        self.offer = offer
    }

    #if canImport(Darwin)
    /// In the app's user defaults.
    public init(offer: [NewsCategory] = NewsCategory.standard) {
        self.init(DefaultsStore(), offer: offer)
    }
    #endif

    /// What is chosen, in the order of the offer. A choice that is no longer on offer is left out, yet kept, should it
    /// come back.
    public var chosen: [NewsCategory] {
        let kept = kept
        return offer.filter { kept.contains($0.tag) }
    }

    /// Whether the reader has ever chosen: choosing nothing is a choice too.
    public var hasChosen: Bool { store.value([String].self, named: Self.name) != nil }

    /// Replaces the choice among what is on offer.
    public func choose(_ categories: [NewsCategory]) throws {
        let offered = Set(offer.map(\.tag))
        let others = kept.subtracting(offered)
        let tags = others.union(categories.map(\.tag)).sorted()
        try store.save(value: tags, named: Self.name)
    }

    /// Read one by one, so that a word which is no tag costs that word only.
    private var kept: Set<Tag> {
        Set((store.value([String].self, named: Self.name) ?? []).compactMap { try? Tag($0) })
    }
}
