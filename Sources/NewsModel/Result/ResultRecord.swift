public import NotificationHub

/// The result of one delivery: the record on the results topic.
public struct ResultRecord: Sendable, Hashable {
    /// `nil` only when decoding failed before it was known.
    public var eventID: String?
    /// The key that orders the events of its story; `nil` if it is the event's id, or not known.
    public var story: String?
    public var platform: Platform
    public var outcome: Outcome
    public var categories: [String]
    public var tags: [String]
    public var lane: String
    /// Requests sent for this delivery.
    public var attempts: Int
    public var httpStatus: Int?
    public var notificationID: String?
    public var trackingID: String?
    public var source: Source
    public var publishedAt: Instant?
    public var settledAt: Instant
    public var latency: Latency
    public var error: Failure?
    /// The hub accepted the request although the story was recalled meanwhile: the request was already sent.
    public var afterRecall: Bool
    /// The parts of the notification that were shortened or left out to fit, e.g. `["summary", "message"]`, and the
    /// interests that no reader can follow, e.g. `interest player:9: unknown kind`.
    public var cut: [String]
    /// Categories that the event was not sent to, because one expression has room for 20 tags only.
    public var leftOut: [String]
    /// The reasons for its categories.
    public var routing: [Reason]
    /// The notification was silent, because of quiet hours.
    public var isQuiet: Bool
    /// The notification went to the testers only.
    public var isTest: Bool
    /// Pseudonyms of the only readers; empty if the event was for its categories and interests.
    public var users: [String]
    /// The run of `publish` that wrote the event.
    public var run: String?
    /// The newsroom's own format that the event had; `nil` for a built-in one.
    public var format: String?
    /// The interests whose followers the event was for, e.g. `team:bvb`.
    public var interests: [String] = []
    /// The requests that the hub accepted for an event whose readers need several; 0 if one is enough.
    public var sends = 0
    /// Languages without a headline of the event; their readers got the fallback's.
    public var filled: [String] = []
    /// The language whose readers the event was for; `nil` if the hub's tags do not tell languages apart.
    public var language: String?

    /// The reason why an event belongs to a category.
    public struct Reason: Sendable, Hashable {
        public var category: String
        /// The rule, e.g. `category name`, or `subject medtop:20000574 under medtop:11000000`.
        public var because: String

        public init(category: String, because: String) {
            self.category = category
            self.because = because
        }
    }

    /// The event's position on its topic.
    public struct Source: Sendable, Hashable {
        public var partition: TopicPartition
        public var offset: Int64

        public init(partition: TopicPartition, offset: Int64) {
            self.partition = partition
            self.offset = offset
        }
    }

    /// The durations of a delivery's stages.
    public struct Latency: Sendable, Hashable {
        /// The time from reading the event to its first request.
        public var queue: Duration?
        /// The time from the last request to its reply.
        public var hub: Duration?
        /// The time from reading the event to its final outcome.
        public var total: Duration?

        public init(queue: Duration? = nil, hub: Duration? = nil, total: Duration? = nil) {
            self.queue = queue
            self.hub = hub
            self.total = total
        }
    }

    /// The reason for any outcome but `accepted`.
    public struct Failure: Sendable, Hashable {
        /// A stable word for programs, e.g. `missing-id`.
        public var code: String
        /// A sentence; never contains a secret or a payload.
        public var detail: String

        public init(code: String, detail: String) {
            self.code = code
            self.detail = detail
        }
    }
}

extension ResultRecord {
    /// Calls the memberwise initializer, because assigning the properties one by one would copy the whole result.
    public init(
        eventID: String?, story: String? = nil, platform: Platform, outcome: Outcome, categories: [String] = [],
        tags: [String] = [], lane: String, attempts: Int = 0, httpStatus: Int? = nil, notificationID: String? = nil,
        trackingID: String? = nil, source: Source, publishedAt: Instant? = nil, settledAt: Instant,
        latency: Latency = Latency(), afterRecall: Bool = false, cut: [String] = [], leftOut: [String] = [],
        routing: [Reason] = [], isQuiet: Bool = false, isTest: Bool = false, users: [String] = [],
        interests: [String] = [], sends: Int = 0, run: String? = nil, format: String? = nil, filled: [String] = [],
        language: String? = nil, error: Failure? = nil
    ) {
        self.init(
            eventID: eventID, story: story, platform: platform, outcome: outcome, categories: categories, tags: tags,
            lane: lane,
            attempts: attempts, httpStatus: httpStatus, notificationID: notificationID, trackingID: trackingID,
            source: source, publishedAt: publishedAt, settledAt: settledAt, latency: latency, error: error,
            afterRecall: afterRecall, cut: cut, leftOut: leftOut, routing: routing, isQuiet: isQuiet, isTest: isTest,
            users: users, run: run, format: format, interests: interests, sends: sends, filled: filled,
            language: language)
    }

    /// The names of the categories and interests whose readers it was for.
    package var audience: [String] { categories + interests }
}
