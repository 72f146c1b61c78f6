import ByteText

/// The topics of a configuration and the rules for them, in one place for the publisher's start, `newswire check` and
/// `newswire topics`.
public struct TopicRules: Sendable, Hashable {
    public var lanes: [Lane]
    public var resultsTopic: String
    public var deadLetterTopic: String
    /// The topic of the feeds' states; `nil` without feeds.
    public var feedStateTopic: String?
    /// The topics of editors' orders, of their audit, and of held events; `nil` if not used.
    public var controlTopic: String?
    public var auditTopic: String?
    public var heldTopic: String?
    /// Nothing is sent without a control topic.
    public var needsControl = false
    /// The topic of the hub's reports about accepted sends; `nil` without telemetry.
    public var telemetryTopic: String?

    public struct Lane: Sendable, Hashable {
        public var name: String
        public var topics: [String]
        /// The maximum age of a record to send; `nil` for no limit.
        public var maxAge: Duration?

        public init(name: String, topics: [String], maxAge: Duration? = nil) {
            self.name = name
            self.topics = topics
            self.maxAge = maxAge
        }
    }

    public init(lanes: [Lane], resultsTopic: String, deadLetterTopic: String, feedStateTopic: String? = nil) {
        self.feedStateTopic = feedStateTopic
        self.lanes = lanes
        self.resultsTopic = resultsTopic
        self.deadLetterTopic = deadLetterTopic
    }

    public enum Use: Sendable, Hashable, CustomStringConvertible {
        case source(lane: String)
        case results
        case deadLetters
        case feedState
        case control
        case audit
        case held
        case telemetry

        public var description: String {
            switch self {
            case .source(let lane): "lane \(lane)"
            case .results: "results"
            case .deadLetters: "dead letters"
            case .feedState: "feeds"
            case .control: "control"
            case .audit: "audit"
            case .held: "held events"
            case .telemetry: "telemetry"
            }
        }
    }

    /// Lanes by urgency, then results, dead letters, the state of feeds, editors' topics, and telemetry.
    public var topics: [(name: String, use: Use)] {
        lanes.flatMap { lane in lane.topics.map { ($0, .source(lane: lane.name)) } }
            + [(resultsTopic, .results), (deadLetterTopic, .deadLetters)]
            + [
                (feedStateTopic, .feedState), (controlTopic, .control), (auditTopic, .audit), (heldTopic, .held),
                (telemetryTopic, .telemetry),
            ].compactMap { name, use in name.map { ($0, use) } }
    }

    /// The longest time a record may lack its result; the ledger must keep later results for this long.
    public var longestOpen: Duration {
        lanes.map { max($0.maxAge ?? Self.longestWithoutMaxAge, .hours(24)) }.max() ?? .hours(24)
    }

    private static let longestWithoutMaxAge = Duration.days(7)
}

extension TopicRules.Use {
    /// The function that fails without the topic, if the others still work.
    fileprivate var withoutIt: String? {
        switch self {
        case .source, .results, .deadLetters, .feedState: nil
        case .control: "no order reaches this process, and a recall by an event reaches this one only; all else works"
        case .audit: "who has given an order, and where it was applied, is not recorded"
        case .held: "what is under embargo waits in memory, up to a bound, and then holds back its partition"
        case .telemetry: "how many phones a send has reached is not recorded"
        }
    }
}

// MARK: - Findings

extension TopicRules {
    /// Something about a topic that an operator should know.
    public struct Finding: Sendable, Hashable, CustomStringConvertible {
        public var topic: String
        public var use: Use
        public var problem: Problem
        public var severity: Severity
        /// The problem, as the end of a sentence that begins with the topic.
        public var sentence: String
        /// The step for a person to take.
        public var remedy: String

        public var description: String { "topic \(topic) (\(use)) \(sentence); \(remedy)" }
    }

    public enum Problem: Sendable, Hashable {
        case missing, compacted, notCompacted, tooFewPartitions, tooManyPartitions, unequalPartitions, shortRetention,
            unreadable, smallMessages
    }

    public enum Severity: Sendable, Hashable {
        /// A promise would be broken, so the service does not start.
        case refuse
        /// Some or all partitions wait; the others are served.
        case waits
        /// The service works, within limits.
        case warning
    }

    static let create = "newswire topics --create --config FILE"
    /// The end of a sentence that begins with a topic unknown to the brokers.
    public static let isMissing = "does not exist, or this user may not see it"
    public static let missingRemedy = "create it: \(create), or grant this user DESCRIBE on it"

    /// - Parameter states: the existing topics; others may be included.
    /// - Returns: the findings in the order of `topics`.
    public func findings(_ states: [String: TopicState]) -> [Finding] {
        topics.flatMap { name, use -> [Finding] in
            guard let state = states[name] else { return [missing(name, use)] }
            return [partitions(name, use, state, states)].compactMap { $0 } + configuration(name, use, state, states)
        }
    }

    private func missing(_ name: String, _ use: Use) -> Finding {
        // Without a dead-letter topic all deliverable events are delivered, and many brokers create it on the first
        // write. A lane waits for its missing topic; other lanes continue.
        let holdsAll = use == .control && needsControl
        let severity: Severity =
            switch use {
            case .source: .waits
            case .control where holdsAll: .waits
            case .results, .feedState: .refuse
            case .deadLetters, .control, .audit, .held, .telemetry: .warning
            }
        let withoutIt = holdsAll ? "nothing is sent before it is there and read (control.onStale: stop)" : use.withoutIt
        let consequence = withoutIt.map { ": \($0)" } ?? ""
        return Finding(
            topic: name, use: use, problem: .missing, severity: severity,
            sentence: Self.isMissing + consequence, remedy: Self.missingRemedy)
    }

    private func partitions(
        _ name: String, _ use: Use, _ state: TopicState, _ states: [String: TopicState]
    ) -> Finding? {
        func finding(_ problem: Problem, _ sentence: String) -> Finding {
            Finding(
                topic: name, use: use, problem: problem, severity: .waits, sentence: sentence,
                remedy: "widen it: \(Self.create)")
        }
        /// Each source partition needs a partition of its own here.
        func narrow(_ consequence: String) -> Finding? {
            guard let widest = widest(of: lanes.flatMap(\.topics), states), state.partitions < widest.partitions else {
                return nil
            }
            return finding(
                .tooFewPartitions,
                "has \(counted(state.partitions, "partition")), but \(widest.name) has \(widest.partitions): \(consequence)"
            )
        }
        switch use {
        case .source(let lane):
            // Partition p of all topics of a lane is read by one process, which keeps their shared ledger.
            guard let widest = widest(of: lanes.first { $0.name == lane }?.topics ?? [], states),
                state.partitions < widest.partitions
            else { return nil }
            return finding(
                .unequalPartitions,
                "has \(counted(state.partitions, "partition")), but \(widest.name) of the same lane has \(widest.partitions)"
            )
        // The result of a record from partition p is written to partition p.
        case .results: return narrow("records from partition \(state.partitions) on wait")
        // The owner of an event's source partition returns the held event to it.
        case .held:
            return narrow(
                "events from partition \(state.partitions) on go to other partitions of it, after an error of each")
        // A telemetry record is written to the partition of its result.
        case .telemetry: return narrow("newswire telemetry does not start")
        case .control:
            guard state.partitions > 1 else { return nil }
            return Finding(
                topic: name, use: use, problem: .tooManyPartitions, severity: .warning,
                sentence:
                    "has \(state.partitions) partitions, which have no common order: a process that is just starting may "
                    + "send before it knows an order that others have applied",
                remedy: "delete it and create it with one: \(Self.create); processes write standing orders again")
        case .deadLetters, .feedState, .audit: return nil
        }
    }

    func widest(of topics: [String], _ states: [String: TopicState]) -> (name: String, partitions: Int)? {
        var widest: (name: String, partitions: Int)?
        for name in topics {
            guard let partitions = states[name]?.partitions else { continue }
            if partitions > widest?.partitions ?? 0 { widest = (name, partitions) }
        }
        return widest
    }

    private func configuration(
        _ name: String, _ use: Use, _ state: TopicState, _ states: [String: TopicState]
    ) -> [Finding] {
        if case .source = use { return [] }
        var findings: [Finding] = []
        func add(_ problem: Problem, _ severity: Severity, _ sentence: String, _ remedy: String) {
            findings.append(
                Finding(
                    topic: name, use: use, problem: problem, severity: severity, sentence: sentence, remedy: remedy))
        }
        if case .unreadable(let why) = state.configuration {
            add(
                .unreadable, .warning,
                "has a configuration that could not be read, so it was not checked: "
                    + KafkaWords(code: why, text: why).clause,
                "grant this user DESCRIBE_CONFIGS on it")
        }
        let policies =
            state.configuration["cleanup.policy"]?.split(separator: ",").map { $0.filter { $0 != " " } } ?? []
        let isKept = use == .feedState || use == .control || use == .held
        if isKept, case .known(let values) = state.configuration, !values.isEmpty, policies.isEmpty {
            add(
                .unreadable, .warning, "does not show its cleanup.policy, so it is not known if it is kept for good",
                "make sure that the broker compacts it; not every broker can (deploy/SECURITY.md)")
        }
        if use == .feedState {
            // With `compact,delete`, states that are not rewritten vanish, so a quiet feed's news is sent again.
            if !policies.isEmpty, policies != ["compact"] {
                add(
                    .notCompacted, .refuse,
                    "is not kept for good (cleanup.policy=\(policies.joined(separator: ","))): what feeds have already said "
                        + "vanishes from it, and would be sent again",
                    "set cleanup.policy=compact on it")
            }
        } else if use == .control || use == .held {
            if !policies.isEmpty, policies != ["compact"] {
                add(
                    .notCompacted, .warning,
                    "is not kept for good (cleanup.policy=\(policies.joined(separator: ","))): "
                        + (use == .control
                            ? "orders are forgotten although nobody has lifted them"
                            : "events vanish from it before their time"),
                    "set cleanup.policy=compact on it")
            }
        } else if policies.contains("compact") {
            if use == .audit {
                add(
                    .compacted, .warning, "is compacted: of what was done only the last line on each subject is kept",
                    "set cleanup.policy=delete on it")
            } else if use == .results {
                add(
                    .compacted, .refuse,
                    "is compacted (cleanup.policy=\(policies.joined(separator: ","))): results that the ledger needs vanish "
                        + "from it, and events would be sent twice",
                    "set cleanup.policy=delete on it")
            } else if use == .telemetry {
                add(
                    .compacted, .warning, "is compacted: of an event sent to several platforms only one is kept",
                    "set cleanup.policy=delete on it")
            } else {
                add(
                    .compacted, .warning, "is compacted: of dead letters with the same key only the last is kept",
                    "set cleanup.policy=delete on it")
            }
        }
        if use == .results, let kept = Self.retention(state.configuration), kept < longestOpen {
            add(
                .shortRetention, .warning,
                "keeps results for \(kept.inWords), but a record may stay open for \(longestOpen.inWords): after a restart, "
                    + "events could be sent twice",
                "set retention.ms on it to \(longestOpen.wholeMilliseconds) or more")
        }
        if use == .audit || use == .control, let limit = state.configuration.messageBytes, limit < Self.orderBytes {
            add(
                .smallMessages, .warning,
                "takes records of \(limit) bytes: an order with a long reason or replacement may be refused",
                "set max.message.bytes on it to \(Self.orderBytes) or more")
        }
        if use == .deadLetters, let limit = state.configuration.messageBytes {
            let larger = lanes.flatMap(\.topics).compactMap { name in
                states[name].flatMap(\.configuration.messageBytes).map { (name, $0) }
            }.first { $0.1 > limit }
            if let larger {
                add(
                    .smallMessages, .warning,
                    "takes records of \(limit) bytes, but \(larger.0) of \(larger.1): larger dead letters lose their original",
                    "set max.message.bytes on it to \(larger.1) or more")
            }
        }
        return findings
    }

    /// Size of the longest order or audit line, whose texts are bounded, with room for the batch around it.
    private static let orderBytes = 16 << 10

    /// The retention; `nil` if it is unknown or unlimited.
    private static func retention(_ configuration: TopicConfiguration) -> Duration? {
        guard let milliseconds = configuration["retention.ms"].flatMap({ Int64($0) }), milliseconds >= 0 else {
            return nil
        }
        return .milliseconds(milliseconds)
    }
}

extension Duration {
    static func hours(_ count: Int64) -> Duration { .seconds(count * 3_600) }
    static func days(_ count: Int64) -> Duration { .hours(count * 24) }

    /// Rounded up, and saturating.
    var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        guard seconds < .max / 1_000 else { return .max }
        return seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    }

    /// `7 days`, `36 hours`, `90 seconds`: the largest unit that is exact.
    fileprivate var inWords: String {
        for (unit, name) in [(86_400, "day"), (3_600, "hour"), (60, "minute")] as [(Int64, String)] {
            let (count, rest) = components.seconds.quotientAndRemainder(dividingBy: unit)
            if count > 0, rest == 0 { return counted(count, name) }
        }
        return components.attoseconds == 0 ? counted(components.seconds, "second") : "\(wholeMilliseconds) ms"
    }
}
