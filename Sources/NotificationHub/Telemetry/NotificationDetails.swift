import ByteText

/// The hub's own word on one send: the answer to `GET /{hub}/messages/{id}`.
///
/// Everything that could open something, such as the address of the error details, is passed over, and so is the
/// notification's text.
public struct NotificationDetails: Sendable, Hashable {
    /// Bytes of an answer that are read: a body of 64 KiB may grow six times when it is escaped.
    public static let readMax = 512 * 1024

    public enum State: String, Sendable, Hashable, CaseIterable {
        case enqueued = "Enqueued"
        case processing = "Processing"
        case completed = "Completed"
        case scheduled = "Scheduled"
        case canceled = "Canceled"
        /// Not processed within the hub's window, by default 30 minutes.
        case abandoned = "Abandoned"
        /// No registration matched.
        case noTargetFound = "NoTargetFound"
        /// The hub's own word, and ours for a state that no document names.
        case unknown = "Unknown"

        /// Nothing more will change.
        public var isFinal: Bool {
            switch self {
            case .completed, .canceled, .abandoned, .noTargetFound: true
            case .enqueued, .processing, .scheduled, .unknown: false
            }
        }

        /// Letter case is free, and .NET writes `Cancelled`.
        init(reading text: some StringProtocol) {
            if text.equalsIgnoringASCIICase("Cancelled") {
                self = .canceled
            } else {
                self = Self.allCases.first { $0.rawValue.equalsIgnoringASCIICase(text) } ?? .unknown
            }
        }
    }

    /// How many devices of one platform had one outcome.
    public struct OutcomeCount: Sendable, Hashable {
        /// E.g. `Success` or `ExpiredChannel`.
        public var name: String
        /// At most 10¹².
        public var count: Int64

        public init(name: String, count: Int64) {
            self.name = name
            self.count = count
        }
    }

    public struct PlatformCounts: Sendable, Hashable {
        /// E.g. `apns` or `fcmv1`: the name of the element without `OutcomeCounts`, in small letters.
        public var platform: String
        /// In the order of the answer, each name once.
        public var outcomes: [OutcomeCount]

        public init(platform: String, outcomes: [OutcomeCount]) {
            self.platform = platform
            self.outcomes = outcomes
        }
    }

    public var state: State
    /// Milliseconds since 1970, as the next two.
    public var enqueuedAt: Int64?
    public var startedAt: Int64?
    public var endedAt: Int64?
    /// Partial while the hub is still at work.
    public var counts: [PlatformCounts]

    public init(
        state: State, enqueuedAt: Int64? = nil, startedAt: Int64? = nil, endedAt: Int64? = nil,
        counts: [PlatformCounts] = []
    ) {
        self.state = state
        self.enqueuedAt = enqueuedAt
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.counts = counts
    }
}

/// Why bytes are not `NotificationDetails`. Never holds a part of them.
public enum NotificationDetailsProblem: String, Error, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    case tooLong = "the answer is longer than 512 KiB"
    case notDetails = "the answer is not a NotificationDetails document"
    case malformed = "the answer is not well-formed XML"
    case badCount = "a count is not a whole number"
    case badOutcome = "an outcome has no proper name"
    case tooMany = "the answer has more platforms or outcomes than there are"

    public var description: String { rawValue }
}
