public import NotificationHub

/// A category of news that a reader can subscribe to.
public struct NewsCategory: Sendable, Hashable, Identifiable {
    /// The name shown to the reader.
    public var name: String
    /// The tag to which the newsroom sends.
    public var tag: Tag
    /// The tag without the reader's language, e.g. `World` for `World_fr`, by which the choice is kept; `nil` if `tag` is
    /// the same in every language.
    public var baseTag: Tag?

    public var id: Tag { tag }

    public init(name: String, tag: Tag, baseTag: Tag? = nil) {
        self.name = name
        self.tag = tag
        self.baseTag = baseTag
    }

    /// A category whose name is its tag.
    public init(_ name: String) throws(TagProblem) { self.init(name: name, tag: try Tag(name)) }

    /// World, Politics, Business, Technology, Science and Sports.
    public static let standard: [NewsCategory] = [
        "World", "Politics", "Business", "Technology", "Science", "Sports",
    ].compactMap { try? NewsCategory($0) }
}

extension NewsCategory {
    /// The tag by which a choice of this category is kept.
    fileprivate var keptTag: Tag { baseTag ?? tag }

    /// The tags by which a choice of this category may have been kept. An app without base tags has kept `tag`.
    fileprivate var keptTags: [Tag] { [keptTag, tag] }
}

/// The reader's choices, kept on the device, so that the app can show them at the next start without a network.
public struct CategoryStore: Sendable {
    /// The categories on offer, in display order.
    public let offer: [NewsCategory]
    private let store: any LocalStore

    private static let name = "categories"

    public init(_ store: any LocalStore, offer: [NewsCategory] = NewsCategory.standard) {
        self.store = store
        self.offer = offer
    }

    #if canImport(Darwin)
    /// Keeps the choices in the app's user defaults.
    public init(offer: [NewsCategory] = NewsCategory.standard) {
        self.init(DefaultsStore(), offer: offer)
    }
    #endif

    /// The chosen categories, in the order of the offer. A choice that is no longer on offer is stored but not
    /// returned, in case the offer includes it again.
    public var chosen: [NewsCategory] {
        let kept = kept
        return offer.filter { !kept.isDisjoint(with: $0.keptTags) }
    }

    /// True once the reader has chosen; choosing nothing counts.
    public var hasChosen: Bool { store.value([String].self, named: Self.name) != nil }

    /// Replaces the choices among the categories on offer.
    public func choose(_ categories: [NewsCategory]) throws {
        let others = kept.subtracting(offer.flatMap(\.keptTags))
        let tags = others.union(categories.map(\.keptTag)).sorted()
        try store.save(value: tags, named: Self.name)
    }

    /// The stored tags. Each is read separately, so that an invalid tag does not affect the others.
    private var kept: Set<Tag> {
        Set((store.value([String].self, named: Self.name) ?? []).compactMap { try? Tag($0) })
    }
}
