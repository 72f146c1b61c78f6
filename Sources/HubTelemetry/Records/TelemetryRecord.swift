public import NewsModel
public import NotificationHub

/// What the hub said of one accepted send: the record on the telemetry topic. `schemas/news-telemetry.schema.json` has its
/// form.
///
/// A send has several: one for each time the hub said something new, the last with `isFinal`. The same poll may be written
/// again after a restart: two records with the same `identity` tell of the same poll, and the later one counts.
public struct TelemetryRecord: Sendable, Hashable {
    public typealias State = NotificationDetails.State

    public var eventID: String
    public var platform: Platform
    public var notificationID: String
    public var lane: String
    /// Which poll of its schedule this was, from 1.
    public var attempt: Int
    public var state: State
    /// Nothing more is asked. With `unknown`, the hub never said how it ended.
    public var isFinal: Bool
    public var polledAt: Instant
    /// From the acceptance to the poll, never negative.
    public var age: Duration
    public var acceptedAt: Instant
    public var enqueuedAt: Instant?
    public var startedAt: Instant?
    public var endedAt: Instant?
    /// Partial unless it is final.
    public var counts: [NotificationDetails.PlatformCounts]
    /// Why the hub's word is missing.
    public var error: ResultRecord.Failure?

    public init(
        eventID: String, platform: Platform, notificationID: String, lane: String, attempt: Int, state: State,
        isFinal: Bool, polledAt: Instant, age: Duration, acceptedAt: Instant, enqueuedAt: Instant? = nil,
        startedAt: Instant? = nil, endedAt: Instant? = nil, counts: [NotificationDetails.PlatformCounts] = [],
        error: ResultRecord.Failure? = nil
    ) {
        self.eventID = eventID
        self.platform = platform
        self.notificationID = notificationID
        self.lane = lane
        self.attempt = attempt
        self.state = state
        self.isFinal = isFinal
        self.polledAt = polledAt
        self.age = age
        self.acceptedAt = acceptedAt
        self.enqueuedAt = enqueuedAt
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.counts = counts
        self.error = error
    }
}

extension TelemetryRecord {
    /// Names one send: an event may be sent to several platforms, and after a crash twice to the same.
    public struct Send: Sendable, Hashable {
        public var eventID: String
        public var platform: Platform
        public var notificationID: String

        public init(eventID: String, platform: Platform, notificationID: String) {
            self.eventID = eventID
            self.platform = platform
            self.notificationID = notificationID
        }
    }

    public var send: Send { Send(eventID: eventID, platform: platform, notificationID: notificationID) }

    /// Names one poll of one send.
    public struct Identity: Sendable, Hashable {
        public var send: Send
        public var attempt: Int
    }

    public var identity: Identity { Identity(send: send, attempt: attempt) }

    /// The devices that the hub tried to reach. Without registrations that stand for the same device, and those it did not find.
    public var targets: Int64 {
        counts.reduce(0) { sum, platform in
            platform.outcomes.reduce(sum) { Self.isTarget($1.name) ? $0 + $1.count : $0 }
        }
    }

    /// Of the targets, those whose platform took the notification.
    public var successes: Int64 {
        counts.reduce(0) { sum, platform in
            platform.outcomes.reduce(sum) { $1.name == OutcomeName.success ? $0 + $1.count : $0 }
        }
    }

    private static func isTarget(_ outcome: String) -> Bool {
        outcome != OutcomeName.noTargets && outcome != OutcomeName.skipped
    }

    /// The hub itself said how it ended.
    public var isHubsLastWord: Bool { isFinal && state.isFinal }

    /// True if this tells more of a send than another record of it: what the hub said last outranks that it said nothing, as
    /// after a crash a send may be asked about when the hub has forgotten it.
    public func supersedes(_ other: TelemetryRecord) -> Bool {
        if isHubsLastWord != other.isHubsLastWord { return isHubsLastWord }
        if isFinal != other.isFinal { return isFinal }
        return attempt >= other.attempt
    }
}

/// The hub's names of outcomes that mean something to us.
public enum OutcomeName {
    public static let success = "Success"
    /// No registration matched.
    public static let noTargets = "NoTargets"
    /// A second registration of the same device.
    public static let skipped = "Skipped"
    /// The hub's own key for a platform is refused there: nobody on it gets anything.
    public static let invalidCredentials = "InvalidCredentials"

    /// All that documents name.
    public static let known = [
        success, noTargets, skipped, "Dropped", "BadChannel", "ExpiredChannel", "WrongToken", "ChannelDisconnected",
        "ChannelThrottled", "Throttled", invalidCredentials, "InvalidNotificationSize", "InvalidNotificationFormat",
        "PnsServerError", "PnsUnavailable", "PnsUnreachable", "PnsInterfaceError", "AbandonedNotificationMessages",
        "UnknownError",
    ]
}
