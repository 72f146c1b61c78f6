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
