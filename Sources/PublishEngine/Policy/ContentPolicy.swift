public import NewsModel
public import NotificationHub

/// Settings about events apart from their categories: environments, tests, quiet hours, single readers and interests.
public struct ContentPolicy: Sendable, Hashable {
    /// Events with another stamp are withheld. `nil`: this process has no name; it counts as production.
    public var environment: String?
    /// Events without a stamp are taken.
    public var acceptsUnstamped: Bool
    /// The only tag that test events go to; `nil`: test events are withheld.
    public var testTag: String?
    public var quietHours: [QuietHours]
    /// The tags of single readers.
    public var users: UserTags
    /// The kinds of interests that readers follow beside categories.
    public var interests: InterestTable

    public init(
        environment: String? = nil, acceptsUnstamped: Bool = true, testTag: String? = nil,
        quietHours: [QuietHours] = [], users: UserTags = .reserved(), interests: InterestTable = InterestTable()
    ) {
        self.environment = environment
        self.acceptsUnstamped = acceptsUnstamped
        self.testTag = testTag
        self.quietHours = quietHours
        self.users = users
        self.interests = interests
    }

    /// The environment of a process without a name.
    public static let production = "production"

    /// The reason why the event may never leave here; `nil` if it may.
    public func refusal(of event: borrowing NewsEvent) -> ResultRecord.Failure? {
        // Fast path for nearly every event, without comparing texts of the settings.
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

/// The treatment of an event that may leave, at a wall clock time.
public enum Treatment: Sendable, Hashable {
    case send
    case sendSilently
    /// The event waits until this time, because of quiet hours.
    case hold(until: Instant)
    /// The event never leaves: quiet hours drop it.
    case withhold(ResultRecord.Failure)
}
