import NewsModel

/// Something that goes wrong in a life, and when.
public struct Fault: Sendable, Hashable {
    /// Since the life's beginning.
    public var at: Duration
    public var lasts: Duration
    public var kind: Kind

    public init(at: Duration, lasts: Duration, kind: Kind) {
        self.at = at
        self.lasts = lasts
        self.kind = kind
    }

    public enum Kind: Sendable, Hashable {
        /// The hub, or the way there, treats `share` percent of the requests so.
        case hub(HubTrouble, share: Int)
        /// Answers take that much longer.
        case slowHub(Duration)
        /// `kill -9`; `lasts` is how long the process is away.
        case crash(process: Int)
        /// An orderly shutdown, then a start.
        case drain(process: Int)
        /// A member joins or leaves: everyone gives everything up and shares anew.
        case rebalance(lane: Int)
        /// The broker drops a member, which notices after `lasts`.
        case expel(process: Int, lane: Int)
        /// SIGSTOP, then SIGCONT.
        case freeze(process: Int)
        /// The process's clock jumps ahead by `lasts`.
        case clockJump(process: Int)
        /// Nothing is appended to the results topic.
        case stalledResults
        /// Commits fail; when `applied`, only their answers do.
        case failingCommits(applied: Bool)
        case slowLedger
        case pausedLane(lane: Int)
        /// The dead-letter topic takes nothing.
        case refusedDeadLetters
    }

    public var end: Duration { at + lasts }
}

/// What can happen to one request.
public enum HubTrouble: Sendable, Hashable {
    /// Accepted; no answer ever comes.
    case replyLost
    case resetBefore
    /// Accepted, then the connection is reset.
    case resetAfter
    /// Not accepted; no answer ever comes.
    case hang
    /// An idle connection was closed before a byte was written.
    case connectionLost
    case throttled(retryAfter: Int?)
    /// 403 with Retry-After, as older API versions say it.
    case quota(retryAfter: Int)
    case busy(retryAfter: Int?)
    /// 500, 502 or 504; every second one was accepted all the same.
    case serverError(Int)
    /// Tokens minted before the trouble began are refused.
    case tokenExpired
    case keyRefused
    case rightMissing
    case hubMissing
    case unreachable
    case certificate

    /// Nobody's request passes, for a reason that is no event's fault: the stream must stop, and lose nothing.
    var concernsEveryone: Bool {
        switch self {
        case .keyRefused, .rightMissing, .hubMissing, .unreachable, .certificate: true
        default: false
        }
    }
}

extension Fault: CustomStringConvertible {
    public var description: String { "at \(at.short) for \(lasts.short): \(kind)" }
}

extension Duration {
    /// In seconds, to the millisecond.
    var short: String {
        let milliseconds = nanoseconds / 1_000_000
        let rest = String(milliseconds % 1000)
        return "\(milliseconds / 1000).\(String(repeating: "0", count: max(0, 3 - rest.count)))\(rest) s"
    }
}
