public import NewsModel
public import NotificationHub

/// What the settings say about events apart from their categories: whose environment they are for, who gets tests, and when
/// readers sleep.
public struct ContentPolicy: Sendable, Hashable {
    /// Events stamped otherwise are withheld. `nil`: this process has no name; it counts as production and takes what bears no
    /// stamp.
    public var environment: String?
    /// Events without a stamp are taken.
    public var acceptsUnstamped: Bool
    /// The only tag that test events go to; `nil`: they are withheld.
    public var testTag: String?
    public var quietHours: [QuietHours]
    /// How single readers are reached.
    public var users: UserTags

    public init(
        environment: String? = nil, acceptsUnstamped: Bool = true, testTag: String? = nil,
        quietHours: [QuietHours] = [],
        users: UserTags = .reserved()
    ) {
        self.environment = environment
        self.acceptsUnstamped = acceptsUnstamped
        self.testTag = testTag
        self.quietHours = quietHours
        self.users = users
    }

    /// The environment of a process that is not told another.
    public static let production = "production"

    /// Why the event may not leave here at any time; `nil` if it may.
    public func refusal(of event: borrowing NewsEvent) -> ResultRecord.Failure? {
        // Nearly every event; without a look at the texts of the settings.
        if acceptsUnstamped, event.environment == nil, !event.isTest { return nil }
        if event.isTest, testTag == nil {
            return .init(.test, "it is a test, and test.tag names nobody to send it to")
        }
        let ours = environment ?? Self.production
        guard let stamp = event.environment else {
            if acceptsUnstamped { return nil }
            return .init(.environment, "it does not say for which environment it is; this one is \(ours)")
        }
        if stamp == ours || stamp.lowercased() == ours.lowercased() { return nil }
        guard !stamp.isEmpty else {
            return .init(.environment, "its stamp for an environment is empty; this one is \(ours)")
        }
        return .init(.environment, "it is for the environment \(TextCut.excerpt(stamp)); this one is \(ours)")
    }
}

/// What becomes of an event that may leave, at a time by the clock on the wall.
public enum Treatment: Sendable, Hashable {
    case send
    case sendSilently
    /// It waits until then, because of quiet hours.
    case hold(until: Instant)
    /// It never leaves: quiet hours, for whose events later is too late.
    case withhold(ResultRecord.Failure)
}
