public import NewsModel

/// The destination of an event.
public enum Routing: Sendable, Hashable {
    case tagged(Tagged)
    /// The event is not sent, and why: a send without a tag would reach every device.
    case unroutable(ResultRecord.Failure)

    /// The categories of one event, in the table's order: at least one, unless it is for single readers.
    ///
    /// An object, because nearly all events share those of a few categories.
    public final class Tagged: Sendable, Hashable {
        /// Their names, e.g. `["World"]`.
        public let categories: [String]
        /// Their tags, each once; at most `TagExpression.tagsMaxJoinedByOr`. Of a test only the testers' tag; of news for single
        /// readers none.
        public let tags: [String]
        /// The tags as one printed expression, `World || Politics`, so that a reader of both gets one notification.
        public let expression: String
        /// The same for a notification without a sound: where templates have names, the devices' quiet one.
        public let quietExpression: String
        /// The names as one text, `World, Politics`.
        public let label: String
        /// Categories left out because an expression has room for 20 tags only, and for 6 where it names a template.
        public let leftOut: [String]
        /// By which rule it belongs to each of the categories.
        public let reasons: [ResultRecord.Reason]
        /// The pseudonyms of the only readers that it is for; empty if it is for those of the categories. The expression names
        /// them in clear.
        public let users: [String]
        /// The code of the one language that it is for, where languages have tags.
        public let edition: String?
        /// The same for the readers for whom the expression has no room: another send of the event, after this one.
        public let rest: Tagged?

        /// What quiet hours go by: the categories, or none in particular.
        var topics: [String] { categories.isEmpty ? [""] : categories }

        public init(
            categories: [String], tags: [String], expression: String, quietExpression: String? = nil, label: String,
            leftOut: [String] = [], reasons: [ResultRecord.Reason] = [], users: [String] = [], edition: String? = nil,
            rest: Tagged? = nil
        ) {
            self.categories = categories
            self.tags = tags
            self.expression = expression
            self.quietExpression = quietExpression ?? expression
            self.label = label
            self.leftOut = leftOut
            self.reasons = reasons
            self.users = users
            self.edition = edition
            self.rest = rest
        }

        /// One of its sends, counted from 0; `nil` behind the last.
        func send(_ number: Int) -> Tagged? { number == 0 ? self : rest?.send(number - 1) }

        public static func == (lhs: Tagged, rhs: Tagged) -> Bool {
            (lhs.categories, lhs.tags, lhs.expression, lhs.quietExpression, lhs.label)
                == (rhs.categories, rhs.tags, rhs.expression, rhs.quietExpression, rhs.label)
                && (lhs.leftOut, lhs.reasons, lhs.users, lhs.edition, lhs.rest)
                    == (rhs.leftOut, rhs.reasons, rhs.users, rhs.edition, rhs.rest)
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
