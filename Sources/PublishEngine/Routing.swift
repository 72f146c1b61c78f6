public import NewsModel

/// Where an event goes.
public enum Routing: Sendable, Hashable {
    case tagged(Tagged)
    /// To nobody, and why: no tag, no send, for a send without a tag reaches every device.
    case unroutable(ResultRecord.Failure)

    /// The categories of one event; at least one, in the table's order.
    public struct Tagged: Sendable, Hashable {
        /// Their names, e.g. `["World"]`.
        public var categories: [String]
        /// Their tags, each once; at most `TagExpression.tagsMaxJoinedByOr`.
        public var tags: [String]
        /// The tags as one printed expression, `World || Politics`, so that a reader of both is told once.
        public var expression: String
        /// The names as one text, `World, Politics`.
        public var label: String
        /// Categories left out because an expression has room for 20 tags only.
        public var leftOut: [String] = []
    }
}

/// What becomes of an event that belongs to no category.
public enum UnroutablePolicy: Sendable, Hashable {
    /// It ends as `unroutable`, with its original bytes on the dead-letter topic.
    case deadLetter
    /// It goes to this category.
    case category(String)
}
