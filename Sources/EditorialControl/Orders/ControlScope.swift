/// The subject of an order, and the key of its record on the control topic. A newer record of the same key replaces the older
/// one; a tombstone lifts the order.
public enum ControlScope: Sendable, Hashable {
    /// Identified by the key that orders a story's events: the story, or the id of an event without a story.
    case recall(story: String)
    case stop(Gate)

    /// The order key of a recall's story; `nil` for a stop.
    var recalledStory: String? { if case .recall(let story) = self { story } else { nil } }

    private static let recallPrefix = "recall/story/"
    private static let stopPrefix = "stop/"

    public var key: String {
        switch self {
        case .recall(let story): Self.recallPrefix + story
        case .stop(let gate): Self.stopPrefix + gate.path
        }
    }

    /// - Returns: `nil` for a key that is not an order's.
    public init?(key: String) {
        if key.hasPrefix(Self.recallPrefix) {
            let story = String(key.dropFirst(Self.recallPrefix.count))
            guard !story.isEmpty else { return nil }
            self = .recall(story: story)
        } else if key.hasPrefix(Self.stopPrefix), let gate = Gate(path: key.dropFirst(Self.stopPrefix.count)) {
            self = .stop(gate)
        } else {
            return nil
        }
    }
}

/// A part of the news that editors can stop. Nothing of it is sent until it is resumed, and nothing of it is lost.
public enum Gate: Sendable, Hashable {
    case hub
    case lane(String)
    /// Identified by the category's name in the settings, compared case-insensitively.
    case category(String)
    /// Identified as in events, `team:bvb`, compared case-insensitively.
    case interest(String)
    /// Identified by the feed's name in the settings, which the header `nw-feed` of its events contains.
    case feed(String)
    /// Identified by the run's id, which the header `nw-run` of its events contains.
    case run(String)

    /// Form used on the control topic, e.g. `lane/backfill`.
    public var path: String {
        guard let (kind, name) = kindAndName else { return "hub" }
        return "\(kind)/\(name)"
    }

    /// Form used on the command line, e.g. `lane:backfill`.
    public var word: String {
        guard let (kind, name) = kindAndName else { return "hub" }
        return "\(kind):\(name)"
    }

    public init?(path: some StringProtocol) { self.init(path, separator: "/") }

    public init?(word: some StringProtocol) { self.init(word, separator: ":") }

    private var kindAndName: (kind: String, name: String)? {
        switch self {
        case .hub: nil
        case .lane(let name): ("lane", name)
        case .category(let name): ("category", name)
        case .interest(let name): ("interest", name)
        case .feed(let name): ("feed", name)
        case .run(let id): ("run", id)
        }
    }

    private init?(_ text: some StringProtocol, separator: Character) {
        if text == "hub" {
            self = .hub
            return
        }
        guard let end = text.firstIndex(of: separator) else { return nil }
        let name = String(text[text.index(after: end)...])
        guard !name.isEmpty else { return nil }
        switch text[..<end] {
        case "lane": self = .lane(name)
        case "category": self = .category(name)
        case "interest": self = .interest(name)
        case "feed": self = .feed(name)
        case "run": self = .run(name)
        default: return nil
        }
    }
}
