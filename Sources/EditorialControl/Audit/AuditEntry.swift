public import NewsModel

/// One line of the audit topic: an order was given or lifted, a process has applied it, a process has started, or a person has sent
/// a notification, released a lane, or put dead letters back.
public struct AuditEntry: Sendable, Hashable {
    public var at: Instant
    /// The key of the order's scope, `send/` and the event's id for a notification, `release/` and the lane, `redrive/` and the
    /// consumer group, or `process/` and the name of a process that has started.
    public var scope: String
    public var action: Action
    /// The order's id, or the event's id for a notification.
    public var order: String?
    public var by: String?
    public var reason: String?
    /// The order of the same scope that was in force when this line was written. This line replaces or ends it.
    public var former: FormerOrder?
    /// Text for readers: the notification, or the text that replaces a recalled story on phones. `nil` for a
    /// notification under embargo, because people read this line before its time.
    public var text: String?
    /// Keys of the orders that were in force against a notification and that its sender overrode.
    public var despite: [String] = []
    /// The requests that a notification was about to make; `nil` if it was scheduled, and in lines of older versions.
    public var requests: AnnouncedRequests?
    /// The process that applied the order; `nil` on the line that announces an order.
    public var replica: String?
    public var applied: AppliedOrder?

    /// The action, as the value of `do`.
    public enum Action: String, Sendable, Hashable, CaseIterable {
        case recall, stop
        /// A recall was lifted, or a stop ended.
        case lift, resume
        /// An order reached its end time.
        case lapse
        /// `newswire send` sent a notification without Kafka.
        case send
        /// `newswire release` has released a lane that the flood guard had stopped.
        case release
        /// `newswire redrive` begins to put dead letters back.
        case redrive
        /// A process has started. The line shows early whether the topic takes its records.
        case start
    }

    /// Makes the line about a notification. It is written before the notification is sent, or scheduled on a lane.
    ///
    /// - Parameters:
    ///   - despite: the orders that are in force against the notification.
    ///   - requests: `nil` if it is scheduled.
    public static func send(
        _ event: NewsEvent, at time: Instant, by: String, reason: String?, despite: [Order],
        requests: AnnouncedRequests? = nil
    ) -> AuditEntry {
        var entry = AuditEntry(
            at: time, scope: sendPrefix + event.id, action: .send, order: event.id, by: by, reason: reason)
        if event.embargoUntil == nil { entry.text = event.headline }
        entry.despite = despite.map(\.scope.key)
        entry.requests = requests
        return entry
    }

    package static let sendPrefix = "send/"

    /// Makes the line about a lane that a process has released.
    public static func release(lane: String, at time: Instant, by: String, reason: String?) -> AuditEntry {
        AuditEntry(at: time, scope: "release/\(lane)", action: .release, by: by, reason: reason)
    }

    /// Makes the line about dead letters that a consumer group puts back. It is written before the first of them.
    public static func redrive(group: String, at time: Instant, by: String, reason: String?) -> AuditEntry {
        AuditEntry(at: time, scope: "redrive/\(group)", action: .redrive, by: by, reason: reason)
    }

    /// Makes the line about a process that has started.
    static func start(_ replica: String, at time: Instant) -> AuditEntry {
        AuditEntry(at: time, scope: processPrefix + replica, action: .start, replica: replica)
    }

    /// Makes the line about an order in force that a process has written to the control topic again, because the topic had lost it.
    static func writtenAgain(_ order: Order, at time: Instant, replica: String?) -> AuditEntry {
        AuditEntry(
            at: time, scope: order.scope.key, action: order.scope.given, order: order.id,
            reason: "the control topic had lost it", replica: replica)
    }

    /// True if a process has written the order again.
    package var isWrittenAgain: Bool { replica != nil && applied == nil && [.recall, .stop].contains(action) }

    private static let processPrefix = "process/"

    public init(
        at: Instant, scope: String, action: Action, order: String? = nil, by: String? = nil, reason: String? = nil,
        former: FormerOrder? = nil, replica: String? = nil, applied: AppliedOrder? = nil
    ) {
        self.at = at
        self.scope = scope
        self.action = action
        self.order = order
        self.by = by
        self.reason = reason
        self.former = former
        self.replica = replica
        self.applied = applied
    }
}

/// The requests that `newswire send` was about to make when it wrote its line. Each has a result with the line's place as its source.
public struct AnnouncedRequests: Sendable, Hashable {
    /// The key of the notification's story, which a recall names.
    public var story: String
    /// The consumer group whose results topic gets the results.
    public var group: String
    /// One for each platform; at most `countMax`.
    public var count: Int

    static let countMax = 100

    public init(story: String, group: String, count: Int) {
        (self.story, self.group, self.count) = (story, group, min(max(count, 0), Self.countMax))
    }
}

/// An order that was ended, or replaced by a newer one of the same scope.
public struct FormerOrder: Sendable, Hashable {
    public var id: String
    public var at: Instant
    public var by: String
    public var reason: String?
}

extension FormerOrder {
    public init(_ order: Order) {
        self.init(id: order.id, at: order.at, by: order.by, reason: order.reason)
    }
}
