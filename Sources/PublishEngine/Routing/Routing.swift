public import NewsModel

/// The destination of an event.
public enum Routing: Sendable, Hashable {
    case tagged(Tagged)
    /// The event is not sent, and why: a send without a tag would reach every device.
    case unroutable(ResultRecord.Failure)

    /// The categories of one event; at least one, in the table's order.
    ///
    /// An object, because nearly all events share those of a few categories.
    public final class Tagged: Sendable, Hashable {
        /// Their names, e.g. `["World"]`.
        public let categories: [String]
        /// Their tags, each once; at most `TagExpression.tagsMaxJoinedByOr`.
        public let tags: [String]
        /// The tags as one printed expression, `World || Politics`, so that a reader of both gets one notification.
        public let expression: String
        /// The names as one text, `World, Politics`.
        public let label: String
        /// Categories left out because an expression has room for 20 tags only.
        public let leftOut: [String]

        public init(
            categories: [String], tags: [String], expression: String, label: String, leftOut: [String] = []
        ) {
            self.categories = categories
            self.tags = tags
            self.expression = expression
            self.label = label
            self.leftOut = leftOut
        }

        public static func == (lhs: Tagged, rhs: Tagged) -> Bool {
            (lhs.categories, lhs.tags, lhs.expression, lhs.label, lhs.leftOut)
                == (rhs.categories, rhs.tags, rhs.expression, rhs.label, rhs.leftOut)
        }

        public func hash(into hasher: inout Hasher) { hasher.combine(expression) }
    }
}

/// The handling of an event that belongs to no category.
public enum UnroutablePolicy: Sendable, Hashable {
    /// It ends as `unroutable`, with its original bytes on the dead-letter topic.
    case deadLetter
    /// It goes to this category.
    case category(String)
}
