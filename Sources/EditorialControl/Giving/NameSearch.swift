/// Finds out whether a name that a person gives is a story, or the id of an event of one.
///
/// A plain value: it is given events as results, the held topic and the lanes name them.
public struct NameSearch: Sendable {
    public let name: String
    private var isStory = false
    /// The stories of events with this id, other than the name itself; at most `storiesMax`.
    private var stories: [String] = []
    /// Ids and stories that were seen, for what may have been meant; at most `namesMax`.
    public private(set) var seen: Set<String> = []

    private static let storiesMax = 10
    private static let namesMax = 10_000

    public enum Meaning: Sendable, Hashable {
        /// Events are ordered by this name: it is a story, or an event without one.
        case story
        /// Events with this id belong to other stories: one, as a rule.
        case event(of: [String])
        case unseen
    }

    public init(_ name: String) { self.name = name }

    /// - Parameters:
    ///   - eventID: the id of the event, if it has one.
    ///   - story: the story that orders it; `nil` if that is its id.
    public mutating func take(eventID: String?, story: String?) {
        guard let key = story ?? eventID else { return }
        note(key)
        if let eventID, eventID != key { note(eventID) }
        if key == name { isStory = true }
        guard eventID == name, key != name, !stories.contains(key), stories.count < Self.storiesMax else { return }
        stories.append(key)
    }

    /// Remembers a name of which nothing else is known.
    public mutating func note(_ name: String) { if seen.count < Self.namesMax { seen.insert(name) } }

    public var meaning: Meaning { isStory ? .story : stories.isEmpty ? .unseen : .event(of: stories) }
}
