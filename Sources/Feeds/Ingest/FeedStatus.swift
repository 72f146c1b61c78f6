public import NewsModel

/// How one feed is doing, for people and for alerts. Times are of the wall clock.
public struct FeedStatus: Sendable, Hashable {
    public var name: String
    /// The configured address.
    public var url: String
    public var state: State
    /// The end of the last poll, whatever came of it.
    public var lastPollAt: Instant?
    /// The last poll that the publisher answered with a feed or with "unchanged".
    public var lastSuccessAt: Instant?
    /// When something new came last.
    public var lastNewAt: Instant?
    /// The median gap between entries, as far as known.
    public var usualGap: Duration?
    /// Nothing new for three times as long as is usual, and for an hour at least, although polls succeed.
    public var isQuiet: Bool
    public var nextPollAt: Instant?
    /// Why then, and not sooner or later: one sentence without a full stop.
    public var because: String?
    /// The address that the publisher has redirected to for good: the file should name it.
    public var movedTo: String?
    /// Events that limits hold back until there is room, or until a text has lasted; `nil` where only the state topic is
    /// known.
    public var heldBack: Int?
    /// Since this process began to follow the feed; `nil` where only the state topic is known.
    public var counts: FeedCounts?
    public var push: PushStatus

    public enum State: Sendable, Hashable {
        /// Not read yet.
        case new
        /// Its entries are known, and new ones are news.
        case primed
        /// It brings more than `maxPerHour` allows within the hour; the rest waits.
        case capped(since: Instant, perHour: Int)
        /// The publisher asked to be left alone.
        case waiting(until: Instant)
        /// Polls fail; they go on, ever more rarely.
        case failing(since: Instant?, because: String)
        /// A guard in front of the publisher wants to see a person.
        case blocked(since: Instant?, because: String)
        /// The publisher said that it is not coming back: it is polled no more.
        case gone
        /// Editors have stopped it.
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

        /// One sentence where there is more to say than the code.
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
    ///   - state: what is known of the feed; `nil` if it was never read.
    ///   - isStopped: by editors.
    public init(_ rules: FeedRules, _ state: FeedState?, isStopped: Bool = false, at now: Instant) {
        name = rules.name
        url = WebAddress(rules.url)?.shown ?? ""
        lastSuccessAt = state?.lastSuccessAt
        lastNewAt = state?.lastNewAt
        usualGap = state?.medianGap
        movedTo = state?.move.flatMap { $0.isProven(at: now) ? WebAddress($0.move.to)?.shown : nil }
        push = PushStatus(state?.webSub ?? Subscription(), at: now)
        self.state = State(state, rules, isStopped: isStopped, at: now)
        isQuiet = self.state == .primed && state?.isQuiet(at: now) == true
    }

    /// True for what somebody should look at.
    public var isProblem: Bool {
        switch state {
        case .failing, .blocked, .gone, .capped: true
        case .new, .primed, .waiting, .stopped: false
        }
    }

    /// The newest problem first, then the rest by name.
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
        } else if let until = state?.retryUntil, until > now {
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

/// What has happened to a feed since this process began to follow it.
public struct FeedCounts: Sendable, Hashable {
    public var polls = 0
    /// Polls answered with 304 or with the known body.
    public var unchanged = 0
    public var failures = 0
    /// Of bodies, after decompression.
    public var bytes: Int64 = 0
    /// Known entries that came back under new ids, and were not sent again for it.
    public var rekeyed = 0
    /// Dates that stand in documents but cannot be read.
    public var unreadableDates = 0
    /// Deliveries of a WebSub hub that were read.
    public var pushes = 0
    /// Deliveries that no hub had signed.
    public var forgedPushes = 0
    private var decisions: [Decision.Action: Int] = [:]

    public init() {}

    /// Entries that were decided so, each in each document that had it.
    public subscript(_ action: Decision.Action) -> Int {
        get { decisions[action] ?? 0 }
        set { decisions[action] = newValue }
    }

    public mutating func add(_ following: Following) {
        for decision in following.decisions { self[decision.action] += 1 }
        rekeyed += following.rekeyed
    }
}

/// A feed's WebSub subscription, without what must stay secret.
public struct PushStatus: Sendable, Hashable {
    public var phase: Phase
    public var hub: String?
    /// The end of the lease, or of the time for which the hub is left alone.
    public var until: Instant?
    /// Pushes come first, so polls are rare.
    public var isProven: Bool
    public var pushedFirst: Int
    public var polledFirst: Int

    /// The raw value is a stable code.
    public enum Phase: String, Sendable, Hashable, CaseIterable {
        case none, discovered, asked, active, denied, distrusted
    }

    public init(_ subscription: Subscription, at now: Instant) {
        hub = subscription.offered?.hub
        isProven = subscription.pollFactor(at: now) > 1
        pushedFirst = subscription.trust.pushedFirst
        polledFirst = subscription.trust.polledFirst
        switch subscription.state {
        case .idle: phase = subscription.offered == nil ? .none : .discovered
        case .asked: phase = .asked
        case .active(let lease): (phase, hub, until) = (.active, lease.source.hub, lease.until)
        case .denied(let source, let end): (phase, hub, until) = (.denied, source.hub, end)
        case .distrusted(let source, let end): (phase, hub, until) = (.distrusted, source.hub, end)
        }
    }
}
