/// The reason why a poll brought nothing.
public enum PollFailure: Sendable, Hashable {
    case noAnswer(FetchFailure)
    /// The publisher answered with a status that brings no document.
    case status(Int)
    /// A bot check in front of the publisher demands a person.
    case botWall(Int)
    case notAFeed(NotAFeed)
    /// The publisher answered 304 to a request without validators.
    case unaskedNotModified
    /// Another host answered with a feed of which nothing is known.
    case foreignFeed(host: String)

    /// A stable code, for metrics and `--status`.
    public var code: String {
        switch self {
        case .noAnswer(let failure): failure.reason.rawValue
        case .status(let status): "http-\(status)"
        case .botWall: "bot-wall"
        case .notAFeed(let problem): "not-a-feed-\(problem.reason.rawValue)"
        case .unaskedNotModified: "unasked-304"
        case .foreignFeed: "foreign-feed"
        }
    }

    /// One sentence, with the remedy if one exists.
    public var detail: String {
        switch self {
        case .noAnswer(let failure): failure.detail
        case .notAFeed(let problem): problem.detail
        case .unaskedNotModified: "the publisher answered 304 although the whole document was asked for"
        case .foreignFeed(let host):
            "its address now leads to \(host), where nothing of it is known, so nothing is sent; set url if the feed has moved there"
        case .botWall(let status):
            "a bot wall answered \(status) in place of the publisher; ask the publisher to let the feed's readers pass"
        case .status(401): "the publisher asks for credentials (401); set headers: {Authorization: …} for this feed"
        case .status(403): "the publisher refuses this reader (403); ask what it wants, or for another address"
        case .status(404): "nothing is at this address (404); check url"
        case .status(429): "the publisher asks for fewer requests (429)"
        case .status(let status) where status >= 500: "the publisher has a fault of its own (\(status))"
        case .status(let status): "the publisher answered \(status), which is no feed"
        }
    }
}
