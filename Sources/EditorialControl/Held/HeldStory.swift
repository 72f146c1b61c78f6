public import NewsModel

/// A story that has an event on the held topic, or has none any more.
public struct HeldStory: Sendable, Hashable {
    public var story: String
    /// The highest version that is held; `nil` for an event without one.
    public var version: NewsEvent.Version?
    public var isHeld: Bool

    public init(story: String, version: NewsEvent.Version? = nil, isHeld: Bool) {
        self.story = story
        self.version = version
        self.isHeld = isHeld
    }
}
