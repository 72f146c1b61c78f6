public import NewsModel

/// The condition of one feed, for people and for alerts. Times are by the wall clock.
public struct FeedStatus: Sendable, Hashable {
    public var name: String
    /// The address in the settings, without what may be a key.
    public var url: String
    public var state: State
    /// End of the last poll, successful or not.
    public var lastPollAt: Instant?
    /// Time of the last poll that the publisher answered with a feed or with "unchanged".
    public var lastSuccessAt: Instant?
    /// Time at which something new last came.
    public var lastNewAt: Instant?
    /// The median gap between entries; `nil` until it is known.
    public var usualGap: Duration?
    /// True if polls succeed, but nothing new has come for three times the usual gap and for at least an hour.
    public var isQuiet: Bool
    public var nextPollAt: Instant?
    /// True if a publisher's request to wait delays the next poll, even if that was the request of another feed at the same host.
    package var mustWait = false
    /// The reason for `nextPollAt`: one sentence without a full stop.
    public var because: String?
    /// The address of a proven permanent redirect, which should replace the one in the settings file.
    public var movedTo: String?
    /// Number of events held back until a limit has room or a text has lasted. `nil` if only the state topic is known.
    public var heldBack: Int?
    /// Counts since this process began to follow the feed; `nil` if only the state topic is known.
    public var counts: FeedCounts?
    public var push: PushStatus

    public enum State: Sendable, Hashable {
        /// The feed has not been read yet.
        case new
        /// The present entries are known, and new ones are news.
        case primed
        /// The feed had more events than `maxPerHour` allows within the hour; the excess is held back.
        case capped(since: Instant, perHour: Int)
        /// The publisher asked for no requests until this time.
        case waiting(until: Instant)
        /// Polls fail, and are retried less and less often, or Kafka does not take what they brought.
        case failing(since: Instant?, because: String)
        /// A bot check in front of the publisher demands a person.
        case blocked(since: Instant?, because: String)
        /// The publisher says that the feed is gone for good; it is not polled any more.
        case gone
        /// Editors have stopped the feed.
        case stopped

        /// A stable code for JSON and metrics.
        public var code: String {
            switch self {
            case .new: "new"
            case .primed: "primed"
            case .capped: "capped"
            case .waiting: "waiting"
            case .failing: "failing"
            case .blocked: "blocked"
            case .gone: "gone"
            case .stopped: "stopped"
            }
        }

        public static let codes = ["new", "primed", "capped", "waiting", "failing", "blocked", "gone", "stopped"]

        /// One sentence, for states that need more explanation than the code.
        public var detail: String? {
            switch self {
            case .failing(_, let because), .blocked(_, let because): because
            case .capped(_, let perHour):
                "more than maxPerHour (\(perHour)) events within an hour: the rest waits; look at the feed, then raise the limit or stop the feed"
            case .waiting: "the publisher asked to be left alone"
            case .gone: "the publisher removed the feed (410); take it out of ingest.feeds, or give its new address"
            default: nil
            }
        }
    }

    /// - Parameters:
    ///   - state: the stored state; `nil` if the feed was never read.
    ///   - isStopped: true if editors have stopped the feed.
    public init(_ rules: FeedRules, _ state: FeedState?, isStopped: Bool = false, at now: Instant) {
        name = rules.name
        url = rules.shown(rules.url) ?? ""
        lastSuccessAt = state?.lastSuccessAt
        lastNewAt = state?.lastNewAt
        usualGap = state?.medianGap
        movedTo = state?.move.flatMap { $0.isProven(at: now) ? rules.shown($0.move.to) : nil }
        push = PushStatus(state?.webSub ?? Subscription(), at: now)
        self.state = State(state, rules, isStopped: isStopped, at: now)
        isQuiet = self.state == .primed && state?.isQuiet(at: now) == true
    }

    /// True if somebody should look at the feed.
    public var isProblem: Bool {
        switch state {
        case .failing, .blocked, .gone, .capped: true
        case .new, .primed, .waiting, .stopped: false
        }
    }

    /// True if the last poll failed, or Kafka does not take what it brought. A feed that has reached its limit is a problem, but no failure.
    public var hasFailed: Bool { if case .capped = state { false } else { isProblem } }

    /// Puts feeds with a problem first, the newest problem first of all, then all others by name.
    public static func sorted(_ statuses: [FeedStatus]) -> [FeedStatus] {
        statuses.sorted { first, second in
            guard first.isProblem == second.isProblem else { return first.isProblem }
            let (since, other) = (first.problemSince, second.problemSince)
            return since == other ? first.name < second.name : since > other
        }
    }

    private var problemSince: Instant {
        switch state {
        case .failing(let since, _), .blocked(let since, _): since ?? .distantPast
        case .capped(let since, _): since
        default: .distantPast
        }
    }
}

extension FeedStatus.State {
    fileprivate init(_ state: FeedState?, _ rules: FeedRules, isStopped: Bool, at now: Instant) {
        if isStopped {
            self = .stopped
        } else if state?.isGone == true {
            self = .gone
        } else if let until = state?.retryUntil, until > now,
            // After several refusals in a row, somebody should look at the feed.
            state?.failures ?? 0 < Ingester.failuresUntilAlarm
        {
            self = .waiting(until: until)
        } else if let state, state.failures > 0 {
            self = .failing(since: state.failingSince, because: state.failure ?? "the last poll failed")
        } else if let since = state?.cappedAt, now - since < .seconds(3_600) {
            self = .capped(since: since, perHour: rules.maxPerHour)
        } else {
            self = state?.isPrimed == true ? .primed : .new
        }
    }
}

/// Counts for a feed since this process began to follow it.
public struct FeedCounts: Sendable, Hashable {
    public var polls = 0
    /// Polls answered with 304 or with a body that was seen before.
    public var unchanged = 0
    public var failures = 0
    /// Bytes of bodies, after decompression.
    public var bytes: Int64 = 0
    /// Events that Kafka refused, and that are therefore lost.
    public var refused = 0
    /// Known entries that came back under new ids and were not sent again for that.
    public var rekeyed = 0
    /// Dates in documents that cannot be read.
    public var unreadableDates = 0
    /// WebSub deliveries that were read.
    public var pushes = 0
    /// WebSub deliveries without a valid signature.
    public var forgedPushes = 0
    private var decisions: [Decision.Action: Int] = [:]

    public init() {}

    /// Number of entries with this decision. An entry counts once for each document that has it.
    public subscript(_ action: Decision.Action) -> Int {
        get { decisions[action] ?? 0 }
        set { decisions[action] = newValue }
    }

    public mutating func add(_ following: Following) {
        for decision in following.decisions { self[decision.action] += 1 }
        rekeyed += following.rekeyed
    }
}

/// A feed's WebSub subscription, without its secrets.
public struct PushStatus: Sendable, Hashable {
    public var phase: Phase
    public var hub: String?
    /// The end of the lease, or of the time during which the hub is not asked.
    public var until: Instant?
    /// True if pushes usually arrive before polls, so that polls are rare.
    public var isProven: Bool
    public var pushedFirst: Int
    public var polledFirst: Int

    /// The raw value is a stable code.
    public enum Phase: String, Sendable, Hashable, CaseIterable {
        case none, discovered, asked, active, denied, distrusted
    }

    public init(_ subscription: Subscription, at now: Instant) {
        hub = subscription.offered?.shownHub
        isProven = subscription.pollFactor(at: now) > 1
        pushedFirst = subscription.trust.pushedFirst
        polledFirst = subscription.trust.polledFirst
        switch subscription.state {
        case .idle: phase = subscription.offered == nil ? .none : .discovered
        case .asked: phase = .asked
        case .active(let lease): (phase, hub, until) = (.active, lease.source.shownHub, lease.until)
        case .denied(let source, let end): (phase, hub, until) = (.denied, source.shownHub, end)
        case .distrusted(let source, let end): (phase, hub, until) = (.distrusted, source.shownHub, end)
        }
    }
}
