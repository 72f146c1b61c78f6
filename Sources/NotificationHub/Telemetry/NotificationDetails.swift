import ByteText

/// The hub's report about one send: the answer to `GET /{hub}/messages/{id}`.
///
/// Omits the notification's text, and everything that grants access, such as the address of the error details.
public struct NotificationDetails: Sendable, Hashable {
    /// The longest answer that is read, in bytes. A body of 64 KiB may grow sixfold when it is escaped.
    public static let readMax = 512 * 1024

    public enum State: String, Sendable, Hashable, CaseIterable {
        case enqueued = "Enqueued"
        case processing = "Processing"
        case completed = "Completed"
        case scheduled = "Scheduled"
        case canceled = "Canceled"
        /// The hub did not process the send within its window, by default 30 minutes.
        case abandoned = "Abandoned"
        /// No registration matched the tags.
        case noTargetFound = "NoTargetFound"
        /// The hub's own state `Unknown`, also used for undocumented states.
        case unknown = "Unknown"

        /// True if the hub will not change the state again.
        public var isFinal: Bool {
            switch self {
            case .completed, .canceled, .abandoned, .noTargetFound: true
            case .enqueued, .processing, .scheduled, .unknown: false
            }
        }

        /// Reads a state without regard to case. .NET writes `Cancelled`.
        init(reading text: some StringProtocol) {
            if text.equalsIgnoringASCIICase("Cancelled") {
                self = .canceled
            } else {
                self = Self.allCases.first { $0.rawValue.equalsIgnoringASCIICase(text) } ?? .unknown
            }
        }
    }

    /// The number of one platform's devices with one outcome.
    public struct OutcomeCount: Sendable, Hashable {
        /// The outcome's name, e.g. `Success` or `ExpiredChannel`.
        public var name: String
        /// The number of devices, at most 10¹².
        public var count: Int64

        public init(name: String, count: Int64) {
            self.name = name
            self.count = count
        }
    }

    public struct PlatformCounts: Sendable, Hashable {
        /// The platform in lower case, e.g. `apns` or `fcmv1`: the element's name without `OutcomeCounts`.
        public var platform: String
        /// The outcomes in the order of the answer, each name once.
        public var outcomes: [OutcomeCount]

        public init(platform: String, outcomes: [OutcomeCount]) {
            self.platform = platform
            self.outcomes = outcomes
        }
    }

    public var state: State
    /// Milliseconds since 1970, like the next two times.
    public var enqueuedAt: Int64?
    public var startedAt: Int64?
    public var endedAt: Int64?
    /// The counts by platform; partial while the hub is still working.
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

/// The reason why bytes are not `NotificationDetails`. It never contains a part of them.
public enum NotificationDetailsProblem: String, Error, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    case tooLong = "the answer is longer than 512 KiB"
    case notDetails = "the answer is not a NotificationDetails document"
    case malformed = "the answer is not well-formed XML"
    case badCount = "a count is not a whole number"
    case badOutcome = "an outcome has no proper name"
    case tooMany = "the answer has more platforms or outcomes than there are"

    public var description: String { rawValue }
}
