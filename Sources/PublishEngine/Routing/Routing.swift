import KafkaModel
public import NewsModel

/// The destination of an event.
public enum Routing: Sendable, Hashable {
    case tagged(Tagged)
    /// The event is not sent, for this reason: a send without a tag would reach every device.
    case unroutable(ResultRecord.Failure)

    /// The categories of one event, in the table's order. At least one, unless the event is for single readers or for
    /// followers of its interests.
    ///
    /// An object, because nearly all events share those of a few categories.
    public final class Tagged: Sendable, Hashable {
        /// The names of the categories, e.g. `["World"]`.
        public let categories: [String]
        /// The distinct tags of all sends. Only the testers' tag for a test; empty for news for single readers.
        public let tags: [String]
        /// The tags as one printed expression, `World || Politics`, so that a reader of both gets one notification.
        public let expression: String
        /// The expression of a notification without a sound; if templates have names, it has the devices' quiet one.
        public let quietExpression: String
        /// The names as one text, `World, Politics`.
        public let label: String
        /// Categories left out because an expression has room for 20 tags only, and for 6 where it names a template.
        public let leftOut: [String]
        /// The reason for each category.
        public let reasons: [ResultRecord.Reason]
        /// The pseudonyms of the single readers; empty for news for categories. The expression has their real ids.
        public let users: [String]
        /// The interests whose followers get the event, e.g. `team:bvb`.
        public let interests: [String]
        /// The event's other interests, each with the reason why no reader can follow it.
        public let unknownInterests: [String]
        /// The code of the event's only language, if languages have tags.
        public let edition: String?
        /// The next send of the event, for the readers that did not fit into this expression.
        public let rest: Tagged?

        /// The categories that quiet hours check; one empty name if the event has no category.
        var topics: [String] { categories.isEmpty ? [""] : categories }

        public init(
            categories: [String], tags: [String], expression: String, quietExpression: String? = nil, label: String,
            leftOut: [String] = [], reasons: [ResultRecord.Reason] = [], users: [String] = [],
            interests: [String] = [], unknownInterests: [String] = [], edition: String? = nil, rest: Tagged? = nil
        ) {
            self.categories = categories
            self.tags = tags
            self.expression = expression
            self.quietExpression = quietExpression ?? expression
            self.label = label
            self.leftOut = leftOut
            self.reasons = reasons
            self.users = users
            self.interests = interests
            self.unknownInterests = unknownInterests
            self.edition = edition
            self.rest = rest
        }

        /// One of the event's sends, counted from 0; `nil` after the last.
        func send(_ number: Int) -> Tagged? { number == 0 ? self : rest?.send(number - 1) }

        public static func == (lhs: Tagged, rhs: Tagged) -> Bool {
            (lhs.categories, lhs.tags, lhs.expression, lhs.quietExpression, lhs.label)
                == (rhs.categories, rhs.tags, rhs.expression, rhs.quietExpression, rhs.label)
                && (lhs.leftOut, lhs.reasons, lhs.users, lhs.edition, lhs.rest)
                    == (rhs.leftOut, rhs.reasons, rhs.users, rhs.edition, rhs.rest)
                && (lhs.interests, lhs.unknownInterests) == (rhs.interests, rhs.unknownInterests)
        }

        public func hash(into hasher: inout Hasher) { hasher.combine(expression) }
    }
}

/// The handling of an event that belongs to no category.
public enum UnroutablePolicy: Sendable, Hashable {
    /// It ends as `unroutable`, with its original bytes on the dead-letter topic.
    case deadLetter
    case category(String)
}
