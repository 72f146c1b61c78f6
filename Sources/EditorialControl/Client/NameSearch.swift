/// Determines whether a name given by a person is a story, or the id of an event in a story.
///
/// A plain value. Its inputs are events as named by results, the held topic and the lanes.
public struct NameSearch: Sendable {
    public let name: String
    /// The story as its events spell it; `nil` if no event has shown that the name is one. Unicode has several spellings of "é", and
    /// processes find what waits of a story by its bytes.
    public private(set) var story: String?
    /// Stories of events whose id is the name, except the name itself; at most `storiesMax`.
    public private(set) var stories: [String] = []
    /// Ids and stories that were seen, for suggestions; at most `namesMax`.
    public private(set) var seen: Set<String> = []

    private static let storiesMax = 10
    private static let namesMax = 10_000

    public enum Meaning: Sendable, Hashable {
        /// The name orders events: it is a story, or an event without a story.
        case story
        /// Events with this id belong to other stories, usually one.
        case event(of: [String])
        case unseen
    }

    public init(_ name: String) { self.name = name }

    /// - Parameters:
    ///   - eventID: the id of the event, if it has one.
    ///   - story: the story that orders the event; `nil` if the event's id orders it.
    public mutating func note(eventID: String?, story: String?) {
        guard let key = story ?? eventID else { return }
        note(key)
        if let eventID, eventID != key { note(eventID) }
        if key == name, self.story == nil || key.utf8.elementsEqual(name.utf8) { self.story = key }
        guard eventID == name, key != name, !stories.contains(key), stories.count < Self.storiesMax else { return }
        stories.append(key)
    }

    /// Remembers a name without further information about it.
    public mutating func note(_ name: String) { if seen.count < Self.namesMax { seen.insert(name) } }

    public var meaning: Meaning { story != nil ? .story : stories.isEmpty ? .unseen : .event(of: stories) }
}
