public import NewsModel
public import NotificationHub

/// The hub's report about one accepted send: a record on the telemetry topic in the form of
/// `schemas/news-telemetry.schema.json`.
///
/// A send has a record for each time the hub reported a change; the last one has `isFinal` set. After a restart a poll
/// may be written again. Of two records with the same `send` and `attempt`,
/// the later one counts.
public struct TelemetryRecord: Sendable, Hashable {
    public typealias State = NotificationDetails.State

    public var eventID: String
    public var platform: Platform
    public var notificationID: String
    public var lane: String
    /// The number of this poll in its schedule, from 1.
    public var attempt: Int
    public var state: State
    /// True if polling has ended. With `unknown`, the hub never reported a final state.
    public var isFinal: Bool
    public var polledAt: Instant
    /// The time from the acceptance to the poll; never negative.
    public var age: Duration
    public var acceptedAt: Instant
    public var enqueuedAt: Instant?
    public var startedAt: Instant?
    public var endedAt: Instant?
    /// The devices by platform and outcome; partial unless the record is final.
    public var counts: [NotificationDetails.PlatformCounts] = []
    /// The reason why the hub's report is missing.
    public var error: ResultRecord.Failure?
}

extension TelemetryRecord {
    /// The identity of one send. An event may be sent to several platforms and, after a crash, twice to the same one.
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

    /// The devices that the hub tried to reach. Excludes repeated registrations of a device, and `noTargets`.
    public var targets: Int64 {
        counts.reduce(0) { sum, platform in
            platform.outcomes.reduce(sum) { Self.isTarget($1.name) ? $0 + $1.count : $0 }
        }
    }

    /// The targets whose platform accepted the notification.
    public var successes: Int64 {
        counts.reduce(0) { sum, platform in
            platform.outcomes.reduce(sum) { $1.name == OutcomeName.success ? $0 + $1.count : $0 }
        }
    }

    private static func isTarget(_ outcome: String) -> Bool {
        outcome != OutcomeName.noTargets && outcome != OutcomeName.skipped
    }

    /// True if the hub itself reported the final state.
    public var isHubsLastWord: Bool { isFinal && state.isFinal }

    /// True if this record replaces another one of the same send. A final state from the hub outranks a missing one,
    /// because after a crash the send may be polled again when the hub has forgotten it.
    public func supersedes(_ other: TelemetryRecord) -> Bool {
        if isHubsLastWord != other.isHubsLastWord { return isHubsLastWord }
        if isFinal != other.isFinal { return isFinal }
        return attempt >= other.attempt
    }
}

/// The hub's outcome names.
public enum OutcomeName {
    public static let success = "Success"
    /// The outcome of a send that matched no registration.
    public static let noTargets = "NoTargets"
    /// The outcome of a second registration of the same device.
    public static let skipped = "Skipped"
    /// The platform refuses the hub's own key, so that none of its devices receives a notification.
    public static let invalidCredentials = "InvalidCredentials"

    /// All names that documents mention.
    public static let known = [
        success, noTargets, skipped, "Dropped", "BadChannel", "ExpiredChannel", "WrongToken", "ChannelDisconnected",
        "ChannelThrottled", "Throttled", invalidCredentials, "InvalidNotificationSize", "InvalidNotificationFormat",
        "PnsServerError", "PnsUnavailable", "PnsUnreachable", "PnsInterfaceError", "AbandonedNotificationMessages",
        "UnknownError",
    ]
}
