/// The story that an order is about, if a person has named the story or one of its events.
public struct NamedStory: Sendable, Hashable {
    public let story: String
    public let found: Found
    /// Other stories, of events that have the name as their id. The order does not concern them.
    public let others: [String]

    /// The meaning that was found for the name.
    public enum Found: String, Sendable, Hashable {
        case story, event
        /// The name was found nowhere, or was not looked up.
        case unseen
    }

    /// - Parameters:
    ///   - search: everything that was found for the name. It is not needed if the name itself is recalled.
    ///   - isLift: true if the order ends a recall.
    public init(_ search: NameSearch, _ orders: StandingOrders, isLift: Bool) throws(NameProblem) {
        func isRecalled(_ story: String) -> Bool { orders[.recall(story: story)] != nil }
        switch search.meaning {
        case _ where isRecalled(search.name), .story: (story, found) = (search.story ?? search.name, .story)
        case .event(of: let stories):
            // A lift is about the story that is recalled.
            let recalled = stories.filter(isRecalled)
            let candidates = isLift && !recalled.isEmpty ? recalled : stories
            guard candidates.count == 1, let story = candidates.first else { throw .ambiguous(search.name, stories) }
            (self.story, found) = (story, .event)
        // The sender is told that there is nothing to lift.
        case .unseen where isLift: (story, found) = (search.name, .unseen)
        case .unseen: throw .unseen(search.name)
        }
        others = found == .story ? search.stories : []
    }
}

/// The reason why a name does not determine a story.
public enum NameProblem: Error, Sendable, Hashable {
    /// Events of several stories have the name as their id.
    case ambiguous(String, [String])
    case unseen(String)

    /// A description for the sender of the order.
    public var sentence: String {
        switch self {
        case .ambiguous(let name, let stories):
            "nothing was ordered: \(name) is the id of events of several stories; name one of them: "
                + stories.joined(separator: ", ")
        case .unseen(let name):
            "nothing was recalled: \(name) was not seen, as a story or as an event, in the results of the last 7 days, on "
                + "the held topic or on the lanes."
        }
    }
}
