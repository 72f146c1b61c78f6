public import NewsModel
public import NotificationHub

/// A process's telemetry counters. They start at zero with each process.
public struct TelemetryFigures: Sendable, Hashable {
    /// The lane and the format of a send.
    public struct Kind: Sendable, Hashable, Comparable {
        public var lane: String
        public var platform: Platform

        public static func < (lhs: Kind, rhs: Kind) -> Bool {
            (lhs.lane, lhs.platform.rawValue) < (rhs.lane, rhs.platform.rawValue)
        }
    }

    public struct Sends: Sendable, Hashable {
        /// The number of sends by final state, in the order of `TelemetryRecord.State.allCases`.
        var ended = [Int](repeating: 0, count: TelemetryRecord.State.allCases.count)
        /// The number of devices of ended sends.
        public var targets: Int64 = 0
        public var successes: Int64 = 0
        /// A histogram of the times from acceptance to the end of the hub's work. It has one bucket more than `bounds`.
        public var seconds = [UInt64](repeating: 0, count: TelemetryFigures.bounds.count + 1)
        public var secondsTotal: Double = 0

        /// The time within which the given percentage of sends was completed, rounded up to the next of `bounds`. `nil`
        /// if no time is known, or if it exceeds the last bound.
        public func secondsWithin(percent: UInt64) -> Double? {
            let total = seconds.reduce(0, +)
            guard total > 0 else { return nil }
            var sum: UInt64 = 0
            for (bound, count) in zip(TelemetryFigures.bounds, seconds) {
                sum += count
                if Double(sum) * 100 >= Double(total) * Double(percent) { return bound }
            }
            return nil
        }

        /// Sends for which the hub reported an end time.
        public var timed: UInt64 { seconds.reduce(0, +) }

        /// The number of ended sends for each state.
        public var endedByState: [(state: String, count: Int)] {
            zip(TelemetryRecord.State.allCases, ended).map { ($0.rawValue, $1) }
        }
    }

    /// The devices of one push platform with one outcome.
    public struct Outcome: Sendable, Hashable, Comparable {
        public var lane: String
        /// The platform's name in records, e.g. `apns`.
        public var platform: String
        public var outcome: String

        public static func < (lhs: Outcome, rhs: Outcome) -> Bool {
            (lhs.lane, lhs.platform, lhs.outcome) < (rhs.lane, rhs.platform, rhs.outcome)
        }
    }

    /// A count, and the time of the latest poll that contributed to it.
    public struct Sighting: Sendable, Hashable {
        public var count: Int64 = 0
        public var last: Instant

        init(_ last: Instant) { self.last = last }

        mutating func add(_ count: Int64, at time: Instant) {
            self.count += count
            last = max(last, time)
        }
    }

    public enum Answer: String, Sendable, Hashable, CaseIterable {
        case details, nothing, refused, wait, notAllowed = "not-allowed", tokenRefused = "token-refused", unreadable,
            failed
    }

    /// The reason why an accepted send is not polled.
    public enum Skip: String, Sendable, Hashable, CaseIterable {
        case notSampled = "not-sampled"
        /// Accepted more than two hours before its result was read.
        case tooOld = "too-old"
        /// The hub returned no id for the send, as below the Standard tier.
        case withoutID = "without-id"
    }

    /// The upper bounds of the histogram, in seconds.
    public static let bounds: [Double] = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1_800]

    public internal(set) var answers: [Answer: Int] = [:]
    public internal(set) var skipped: [Skip: Int] = [:]
    public internal(set) var sends: [Kind: Sends] = [:]
    /// Device counts by outcome.
    public internal(set) var outcomes: [Outcome: Sighting] = [:]
    /// Sends that matched no device, by tag, since a send to this tag alone matched one. Tags beyond the limit are counted as
    /// `other`.
    public internal(set) var withoutTarget: [String: Sighting] = [:]
    /// Records that the broker has stored.
    public internal(set) var stored = 0
    /// Records that the broker permanently refused.
    public internal(set) var refused = 0
    /// Records of the results topic that cannot be decoded.
    public internal(set) var unreadable = 0

    static let tagsMax = 200
    static let other = "other"
    /// `fcm` is an older name of `gcm`.
    private static let platforms = Set(Platform.native.map(\.facts.installation) + ["fcm"])
    private static let outcomeNames = Set(OutcomeName.known)

    public init() {}

    /// The sums over all lanes.
    public var targets: Int64 { sends.values.reduce(0) { $0 + $1.targets } }
    public var successes: Int64 { sends.values.reduce(0) { $0 + $1.successes } }
    public var ended: Int { sends.values.reduce(0) { $0 + $1.ended.reduce(0, +) } }

    mutating func count(_ answer: Answer) { answers[answer, default: 0] += 1 }
    mutating func count(_ skip: Skip) { skipped[skip, default: 0] += 1 }

    /// Counts a send's last record.
    mutating func count(_ record: TelemetryRecord, tags: [String]) {
        let kind = Kind(lane: record.lane, platform: record.platform)
        var sums = sends[kind] ?? Sends()
        if let state = TelemetryRecord.State.allCases.firstIndex(of: record.state) { sums.ended[state] += 1 }
        sums.targets += record.targets
        sums.successes += record.successes
        if record.isHubsLastWord, let end = record.endedAt {
            // The clocks of two machines differ, so the difference may be negative.
            let seconds = Double(max(end - record.acceptedAt, .zero).nanoseconds) / 1e9
            sums.seconds[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
            sums.secondsTotal += seconds
        }
        sends[kind] = sums
        for platform in record.counts {
            let name = Self.platforms.contains(platform.platform) ? platform.platform : Self.other
            for outcome in platform.outcomes where outcome.count > 0 {
                let known = Self.outcomeNames.contains(outcome.name) ? outcome.name : Self.other
                let key = Outcome(lane: record.lane, platform: name, outcome: known)
                outcomes[key, default: Sighting(record.polledAt)].add(outcome.count, at: record.polledAt)
            }
        }
        // Native payloads are one send for each platform, and a tag may have devices of only some.
        if record.targets > 0, tags.count == 1 { withoutTarget[tags[0]] = nil }
        if record.state == .noTargetFound {
            for tag in tags {
                let isKnown = withoutTarget[tag] != nil || withoutTarget.count < Self.tagsMax
                withoutTarget[isKnown ? tag : Self.other, default: Sighting(record.polledAt)]
                    .add(1, at: record.polledAt)
            }
        }
    }
}
